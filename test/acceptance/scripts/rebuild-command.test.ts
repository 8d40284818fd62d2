/** `npm start` and `npm run rebuild` as a person runs them, in a separate checkout: one server, one conversation, one wrong row. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { z } from "zod";
import { type Connection, callApi } from "../../../scripts/support/api-client";
import { readConnection } from "../../../scripts/support/connection";
import { findFreePort } from "../../../scripts/support/port";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const PARTS = ["assets", "scripts", "src", "migrations", "package.json", "package-lock.json", "tsconfig.json", "wrangler.toml"];
/** Three commands, each of which starts a process: far more than they take on a machine that does nothing else. */
const LIMIT_MS = 180_000;

/** Scripts find the server, its secrets and its data relative to their own path. */
function createCheckout(): string {
  const checkout = mkdtempSync(join(tmpdir(), "longhand-checkout-"));
  for (const name of PARTS) cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(checkout, "node_modules"));
  return checkout;
}

interface Run {
  readonly child: ChildProcess;
  out: string;
  said: string;
  /** Its exit code. */
  readonly ended: Promise<unknown>;
}

function run(checkout: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Run {
  const options = { cwd: checkout, env: { ...process.env, ...env } };
  const child = spawn(process.execPath, [join("scripts", "run.mjs"), ...args], { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const started: Run = { child, out: "", said: "", ended: once(child, "close").then(([code]) => code) };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    started.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    started.said += text;
  });
  return started;
}

async function rebuild(checkout: string, ...args: readonly string[]) {
  const done = run(checkout, ["rebuild", ...args]);
  const code = await done.ended;
  // The rows after the table's head. The columns have variable widths.
  const lines = done.out.trimEnd().split("\n").slice(1);
  return { code, said: done.said, lines: lines.map((line) => line.trim().replace(/ +/g, " ")) };
}

/** Resolves with the greeting. */
async function untilReady(server: Run): Promise<string> {
  const early = server.ended.then(() => Promise.reject(new Error(`npm start ended: ${server.said}`)));
  early.catch(() => undefined);
  const { stdout } = server.child;
  while (stdout && !server.out.includes("Stop it with Ctrl-C")) await Promise.race([once(stdout, "data"), early]);
  return server.out;
}

async function talk(connection: Connection): Promise<{ readonly session: string; readonly tenant: string }> {
  const post = (path: string, body: unknown) => callApi(connection, { method: "POST", path, body });
  const { id: session } = z.object({ id: z.string() }).parse(await post("/v1/sessions", {}));
  await post(`/v1/sessions/${session}/messages`, { content: "hello" });
  return { session, tenant: `ten_${connection.key.split("_")[2]}` };
}

async function listSessions(connection: Connection): Promise<readonly string[]> {
  const page = z.object({ data: z.array(z.object({ id: z.string() })) });
  return page.parse(await callApi(connection, { method: "GET", path: "/v1/sessions" })).data.map(({ id }) => id);
}

function findDatabase(checkout: string): string {
  const directory = join(checkout, ".wrangler", "state", "v3", "d1");
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) => /[0-9a-f]{64}\.sqlite$/.test(name));
  return join(directory, files[0] ?? "");
}

/** The file alone: what SQLite and the note of the migrations left beside it stays. */
const removeDatabase = (checkout: string): void => rmSync(findDatabase(checkout));

/** A row that the session never had. */
function addRow(checkout: string, { session, tenant }: { readonly session: string; readonly tenant: string }): void {
  const database = new DatabaseSync(findDatabase(checkout), { timeout: 5_000 });
  const columns = "tenant_id, session_id, position, id, kind, role, content, content_state, tokens, created_at, last_seq";
  const query = `INSERT INTO messages (${columns}) VALUES (?, ?, 99, 'msg_nobody', 'user', 'user', '[]', 'whole', 1, 1, 1)`;
  database.prepare(query).run(tenant, session);
  database.close();
}

test(
  "a rebuild names every row that is wrong, mends it, and finds all of it equal the next time; of a database whose file was deleted it brings all rows back",
  async () => {
    const checkout = createCheckout();
    let server = run(checkout, ["start"], { PORT: String(await findFreePort()) });
    try {
      const greeting = await untilReady(server);
      const connection = readConnection(join(checkout, ".longhand", "dev.json"));
      if (!connection) throw new Error("npm start wrote no .longhand/dev.json");
      expect(greeting).toContain(`ready at ${connection.url}`);
      expect(greeting).toContain(connection.key);
      const { session, tenant } = await talk(connection);
      await rebuild(checkout, "--tenant", tenant); // all rows are there, however far the projection is
      addRow(checkout, { session, tenant });

      const first = await rebuild(checkout, "--session", session);
      const second = await rebuild(checkout, "--tenant", tenant);

      const wrong = ['messages[99]: "row" → nothing', expect.stringMatching(`^${session} \\d+ 1 repaired$`)];
      expect(first).toEqual({ code: 0, said: "", lines: wrong });
      const equal = [expect.stringMatching(`^${tenant} \\d+ 0 equal$`), expect.stringMatching(`^${session} \\d+ 0 equal$`)];
      expect(second).toEqual({ code: 0, said: "", lines: equal });
      expect(await rebuild(checkout, "--tenants")).toEqual({ code: 0, said: "", lines: ["1 0 0"] });
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);

      removeDatabase(checkout);
      server = run(checkout, ["start"], { PORT: String(await findFreePort()) });
      await untilReady(server);
      expect(server.said).toContain("The database of the lists was missing and is made anew");
      const again = readConnection(join(checkout, ".longhand", "dev.json"));
      if (!again) throw new Error("npm start wrote no .longhand/dev.json");
      expect(again.key).toBe(connection.key);
      expect(await listSessions(again)).toEqual([]);
      const refilled = await rebuild(checkout, "--tenant", tenant);
      expect([refilled.code, refilled.said]).toEqual([0, ""]);
      expect(await listSessions(again)).toEqual([session]);
    } finally {
      server.child.kill("SIGTERM");
      await server.ended;
      rmSync(checkout, { recursive: true, force: true, maxRetries: 3 });
    }
  },
  LIMIT_MS,
);

test("a rebuild without a target names the missing option, shows the usage, and sends no request", async () => {
  const { code, lines, said } = await rebuild(ROOT);

  expect({ code, lines }).toEqual({ code: 1, lines: [] });
  expect(said).toMatch(
    /^Name a session or a tenant, or give --tenants\.\n\nUsage: npm run rebuild -- --session ID \| --tenant ID \| --tenants\n/,
  );
});
