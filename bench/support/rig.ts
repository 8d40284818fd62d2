/**
 * Longhand as it would be deployed, in workerd through Miniflare, beside a bare proxy Worker in the same process. Both
 * are reached on their own sockets, because Miniflare's entry Worker and the development proxy cost more than the
 * measured work.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4MiniflareOptions } from "miniflare";
import type { Connection } from "../../scripts/support/api-client.ts";
import { createTenant } from "../../scripts/support/connection.ts";
import { Failure } from "../../scripts/support/output.ts";
import { ROOT } from "../../scripts/support/paths.ts";
import { HOST } from "../../scripts/support/port.ts";
import { runWrangler } from "../../scripts/support/wrangler.ts";
import { type CpuMeter, createCpuMeter } from "./cpu.ts";
import { type FastProvider, startFastProvider } from "./provider.ts";

export interface Rig {
  readonly connection: Connection;
  /** The bare proxy: passes the response of the request's `x-upstream` through unchanged. */
  readonly proxyUrl: string;
  /** A Worker that reads the same stream in a loop, as any Worker must that inspects it, and drops it. */
  readonly readerUrl: string;
  readonly provider: FastProvider;
  readonly cpu: CpuMeter;
  /** Ends the object's life in memory, so that its next call is a cold wake. */
  evictSession(session: string): Promise<void>;
  close(): Promise<void>;
}

const PROXY = `export default {
  fetch(request) {
    const headers = { "content-type": "application/json" };
    return fetch(request.headers.get("x-upstream"), { method: "POST", headers, body: request.body });
  }
}`;

const READER = `export default {
  async fetch(request) {
    const headers = { "content-type": "application/json" };
    const response = await fetch(request.headers.get("x-upstream"), { method: "POST", headers, body: request.body });
    const reader = response.body.getReader();
    while (!(await reader.read()).done);
    return new Response("read");
  }
}`;

const COMPATIBILITY_DATE = "2026-10-23";
const ADMIN_KEY = "bench-admin-key-0123456789";

function buildOptions(directory: string, script: string): V4MiniflareOptions {
  const direct = { unsafeDirectSockets: [{ host: HOST, port: 0 }], compatibilityDate: COMPATIBILITY_DATE, stripCfConnectingIp: false };
  const inspector = process.env.BENCH_INSPECTOR_PORT;
  return {
    log: new Log(LogLevel.NONE),
    // Reads and drops the Worker's log, which is no part of the benchmark's output.
    handleStructuredLogs: () => undefined,
    resourcePersistencePath: directory,
    cf: false,
    ...(inspector ? { inspectorPort: Number(inspector) } : {}),
    workers: [
      {
        ...direct,
        name: "longhand",
        modules: [{ type: "ESModule", path: "index.js", contents: script }],
        bindings: { KEY_PEPPER: "bench-pepper-0123456789", ADMIN_KEY, ENVIRONMENT: "dev", ALLOW_PRIVATE_MODEL_URLS: "true" },
        durableObjects: {
          SESSIONS: { className: "SessionObject", useSQLite: true },
          TENANTS: { className: "TenantObject", useSQLite: true },
        },
        d1Databases: { DB: "longhand" },
        queueProducers: { COMPACTIONS: "longhand-compactions" },
        queueConsumers: { "longhand-compactions": { maxBatchSize: 10, maxBatchTimeout: 0, maxRetries: 5 } },
      },
      { ...direct, name: "proxy", modules: [{ type: "ESModule", path: "proxy.js", contents: PROXY }] },
      { ...direct, name: "reader", modules: [{ type: "ESModule", path: "reader.js", contents: READER }] },
    ],
  };
}

async function buildWorker(directory: string): Promise<string> {
  const { code, output } = await runWrangler(["deploy", "--dry-run", "--outdir", directory]);
  if (code !== 0) throw new Failure(`The Worker could not be built:\n${output}`);
  return readFileSync(join(directory, "index.js"), "utf8");
}

async function applyMigrations(miniflare: Miniflare): Promise<void> {
  const db = await miniflare.getD1Database("DB", "longhand");
  const directory = join(ROOT, "migrations");
  for (const name of readdirSync(directory).sort()) {
    if (!name.endsWith(".sql")) continue;
    const text = readFileSync(join(directory, name), "utf8").replace(/--.*$/gm, "");
    const statements = text.split(/;\s*$/m).filter((statement) => statement.trim() !== "");
    await db.batch(statements.map((statement) => db.prepare(statement)));
  }
}

export async function createRig(): Promise<Rig> {
  const directory = mkdtempSync(join(tmpdir(), "longhand-bench-"));
  const provider = await startFastProvider();
  const script = await buildWorker(join(directory, "bundle"));
  const miniflare = new Miniflare(convertV4MiniflareOptions(buildOptions(join(directory, "state"), script)));
  const close = async (): Promise<void> => {
    await miniflare.dispose();
    provider.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    await miniflare.ready;
    await applyMigrations(miniflare);
    const readUrl = async (worker: string): Promise<string> => (await miniflare.unsafeGetDirectURL(worker)).origin;
    const connection = await createTenant(await readUrl("longhand"), ADMIN_KEY);
    const tenant = connection.key.split("_")[2] ?? "";
    return {
      connection,
      proxyUrl: await readUrl("proxy"),
      readerUrl: await readUrl("reader"),
      provider,
      cpu: await createCpuMeter(),
      evictSession: (session) =>
        miniflare.unsafeEvictDurableObject("longhand", "SessionObject", { name: `v1:any:ten_${tenant}:${session}` }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
