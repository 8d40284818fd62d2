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
import type { TenantLimitsApi } from "../../src/app/tenant-limits-api.ts";
import type { Budget, LimitSet } from "../../src/contract/limits.ts";
import { COUNTED_ENTRY } from "./counted.ts";
import { type CpuMeter, createCpuMeter } from "./cpu.ts";
import { profileWorker } from "./profile.ts";
import { type FastProvider, startFastProvider } from "./provider.ts";

/** A Worker of a rig: what one checkout of Longhand builds. */
export interface Build {
  /** Its name in Miniflare. */
  readonly name: string;
  /** The directory of the checkout, with its `node_modules`. */
  readonly root: string;
  /** With the module in front of it that counts rows, a second database and a bucket. */
  readonly isCounted?: true;
}

const OURS: Build = { name: "longhand", root: ROOT };
export const COUNTED: Build = { ...OURS, isCounted: true };

export interface Rig {
  readonly connection: Connection;
  /** A connection to each build of the rig by its name. `connection` is the first. */
  readonly connections: ReadonlyMap<string, Connection>;
  /** The bare proxy: passes the response of the request's `x-upstream` through unchanged. */
  readonly proxyUrl: string;
  /** A Worker that reads the same stream in a loop, as any Worker must that inspects it, and drops it. */
  readonly readerUrl: string;
  readonly provider: FastProvider;
  readonly cpu: CpuMeter;
  /** Milliseconds of JavaScript in a build's Worker and objects while `work` runs. */
  profile(build: string, work: () => Promise<void>): Promise<number>;
  /** The first build's read model. */
  database(): Promise<D1Database>;
  /** A new tenant of the first build, with a key. */
  newTenant(): Promise<Connection>;
  /** Tells the object of the connection's tenant its limits and budgets, as the deployment does. */
  setLimits(connection: Connection, limits: LimitSet, budgets: readonly Budget[]): Promise<void>;
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
/** Seals the secrets of webhook endpoints. */
const CREDENTIALS_KEYS = `bench:${Buffer.alloc(32, 7).toString("base64")}`;
export const ADMIN_KEY = "bench-admin-key-0123456789";

interface Script extends Build {
  readonly script: string;
}

function buildOptions(directory: string, scripts: readonly Script[]): V4MiniflareOptions {
  const direct = { unsafeDirectSockets: [{ host: HOST, port: 0 }], compatibilityDate: COMPATIBILITY_DATE, stripCfConnectingIp: false };
  return {
    log: new Log(LogLevel.NONE),
    // Reads and drops the Worker's log, which is no part of the benchmark's output.
    handleStructuredLogs: () => undefined,
    resourcePersistencePath: directory,
    cf: false,
    // It costs nothing until a client asks for a profile.
    inspectorPort: 0,
    workers: [
      ...scripts.map((build) => ({
        ...direct,
        name: build.name,
        modules: [
          ...(build.isCounted ? [{ type: "ESModule" as const, path: "counted.js", contents: COUNTED_ENTRY }] : []),
          { type: "ESModule" as const, path: "index.js", contents: build.script },
        ],
        bindings: {
          KEY_PEPPER: "bench-pepper-0123456789",
          ADMIN_KEY,
          ENVIRONMENT: "dev",
          ALLOW_PRIVATE_MODEL_URLS: "true",
          ALLOW_PRIVATE_TOOL_URLS: "true",
          CREDENTIALS_KEYS,
        },
        durableObjects: {
          SESSIONS: { className: "SessionObject", useSQLite: true },
          TENANTS: { className: "TenantObject", useSQLite: true },
          // Older builds have none.
          ...(build.script.includes("ChatObject") && { CHATS: { className: "ChatObject", useSQLite: true } }),
          ...(build.script.includes("DeploymentObject") && { DEPLOYMENT: { className: "DeploymentObject", useSQLite: true } }),
        },
        d1Databases: { DB: build.name, ...(build.isCounted && { DB_2: `${build.name}-2` }) },
        ...(build.isCounted && { r2Buckets: { FILES: "files" } }),
        queueProducers: { COMPACTIONS: `${build.name}-compactions` },
        queueConsumers: { [`${build.name}-compactions`]: { maxBatchSize: 10, maxBatchTimeout: 0, maxRetries: 5 } },
      })),
      { ...direct, name: "proxy", modules: [{ type: "ESModule", path: "proxy.js", contents: PROXY }] },
      { ...direct, name: "reader", modules: [{ type: "ESModule", path: "reader.js", contents: READER }] },
    ],
  };
}

async function buildWorker(root: string, directory: string): Promise<string> {
  const { code, output } = await runWrangler(["deploy", "--dry-run", "--outdir", directory], root);
  if (code !== 0) throw new Failure(`The Worker of ${root} could not be built:\n${output}`);
  return readFileSync(join(directory, "index.js"), "utf8");
}

async function applyMigrations(db: D1Database, { root }: Build): Promise<void> {
  const directory = join(root, "migrations");
  for (const name of readdirSync(directory).sort()) {
    if (!name.endsWith(".sql")) continue;
    const text = readFileSync(join(directory, name), "utf8").replace(/--.*$/gm, "");
    const statements = text.split(/;\s*$/m).filter((statement) => statement.trim() !== "");
    await db.batch(statements.map((statement) => db.prepare(statement)));
  }
}

/** Starts all builds in one workerd process, each with its own objects, database and queue. */
export async function createRig(builds: readonly [Build, ...Build[]] = [OURS]): Promise<Rig> {
  const directory = mkdtempSync(join(tmpdir(), "longhand-bench-"));
  const provider = await startFastProvider();
  const scripts: Script[] = [];
  for (const build of builds) scripts.push({ ...build, script: await buildWorker(build.root, join(directory, build.name)) });
  const miniflare = new Miniflare(convertV4MiniflareOptions(buildOptions(join(directory, "state"), scripts)));
  const close = async (): Promise<void> => {
    await miniflare.dispose();
    provider.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    await miniflare.ready;
    for (const build of builds)
      for (const database of build.isCounted ? ["DB", "DB_2"] : ["DB"])
        await applyMigrations(await miniflare.getD1Database(database, build.name), build);
    const readUrl = async (worker: string): Promise<string> => (await miniflare.unsafeGetDirectURL(worker)).origin;
    const connections = new Map<string, Connection>();
    for (const { name } of builds) connections.set(name, await createTenant(await readUrl(name), ADMIN_KEY));
    const [{ name }] = builds;
    const connection = connections.get(name);
    if (!connection) throw new TypeError(`no connection to ${name}`);
    const toTenant = ({ key }: Connection): string => `ten_${key.split("_")[2] ?? ""}`;
    const tenants = await miniflare.getDurableObjectNamespace("TENANTS", name);
    return {
      connection,
      connections,
      proxyUrl: await readUrl("proxy"),
      readerUrl: await readUrl("reader"),
      provider,
      cpu: await createCpuMeter(),
      profile: async (build, work) => profileWorker(await miniflare.getInspectorURL(), build, work),
      evictSession: (session) =>
        miniflare.unsafeEvictDurableObject(name, "SessionObject", { name: `v1:any:${toTenant(connection)}:${session}` }),
      database: () => miniflare.getD1Database("DB", name),
      newTenant: async () => createTenant(await readUrl(name), ADMIN_KEY),
      setLimits: async (of, limits, budgets) => {
        // Miniflare gives the stub of a Worker that it does not know.
        const stub = tenants.getByName(`v1:any:${toTenant(of)}`) as unknown as TenantLimitsApi;
        await stub.setLimits({ limits, revision: 1, budgets });
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
