/**
 * `npm run rebuild -- --session ID | --tenant ID`: compares the read model's rows with the sessions' logs through the
 * running server, writes what differs again, and says what it was. Exit code 1: something is still wrong.
 */
import { parseArgs } from "node:util";
import { z } from "zod";
import { ApiError, type Connection, callApi, type Method } from "./support/api-client.ts";
import { readConnection } from "./support/connection.ts";
import { Failure, print, runScript, say } from "./support/output.ts";
import { SECRETS } from "./support/paths.ts";
import { readAdminKey } from "./support/secrets.ts";

const USAGE = "Usage: npm run rebuild -- --session ses_… | --tenant ten_…";

const cell = z.union([z.string(), z.number(), z.null()]);
const report = z.object({
  session: z.string(),
  rows: z.number(),
  repaired: z.boolean(),
  differences: z.array(z.object({ table: z.string(), key: z.string(), column: z.string().nullable(), before: cell, after: cell })),
});
type Report = z.infer<typeof report>;

const sessionPage = z.object({
  data: z.array(z.object({ id: z.string() })),
  has_more: z.boolean(),
  next_cursor: z.string().nullable(),
});

interface Target {
  /** The server, with the key of its admin routes. */
  readonly admin: Connection;
  readonly tenant: string;
}

interface Options {
  readonly session?: string;
  readonly tenant?: string;
}

function parseOptions(): Options {
  try {
    const { values } = parseArgs({ options: { session: { type: "string" }, tenant: { type: "string" } } });
    if (values.session !== undefined || values.tenant !== undefined) return values;
  } catch {
    // An option that does not exist is explained by those that do.
  }
  throw new Failure(USAGE);
}

async function ask(admin: Connection, method: Method, path: string): Promise<unknown> {
  try {
    return await callApi(admin, { method, path });
  } catch (error) {
    throw new Failure(error instanceof ApiError ? error.message : `The server at ${admin.url} does not answer. Is it running (npm start)?`);
  }
}

/** A key names its tenant: `lh_<env>_<tenant>_<secret>`. */
function tenantOf(key: string): string {
  const [, ulid] = /^lh_[^_]+_([0-9A-Z]{26})_/.exec(key) ?? [];
  if (ulid === undefined) throw new Failure("The key in .longhand/dev.json names no tenant: give --tenant ID too.");
  return `ten_${ulid}`;
}

async function* listSessions({ admin, tenant }: Target): AsyncGenerator<string> {
  for (let after: string | null = ""; after !== null; ) {
    const query: string = after === "" ? "?limit=100" : `?limit=100&after=${encodeURIComponent(after)}`;
    const path = `/v1/admin/tenants/${encodeURIComponent(tenant)}/sessions${query}`;
    const page = sessionPage.parse(await ask(admin, "GET", path));
    for (const { id } of page.data) yield id;
    after = page.has_more ? page.next_cursor : null;
  }
}

async function rebuild({ admin, tenant }: Target, session: string): Promise<Report> {
  const path = `/v1/admin/tenants/${encodeURIComponent(tenant)}/sessions/${encodeURIComponent(session)}/rebuild`;
  return report.parse(await ask(admin, "POST", path));
}

const verdictOf = ({ differences, repaired }: Report): string => {
  if (differences.length === 0) return "equal";
  return repaired ? "repaired" : "NOT REPAIRED";
};

const show = (value: z.infer<typeof cell>): string => (value === null ? "nothing" : JSON.stringify(value));

function printReport(result: Report): void {
  print(
    `${result.session.padEnd(32)}${String(result.rows).padStart(8)}${String(result.differences.length).padStart(13)}  ${verdictOf(result)}`,
  );
  for (const { table, key, column, before, after } of result.differences) {
    const where = column === null ? `${table}[${key}]` : `${table}[${key}].${column}`;
    print(`    ${where}: ${show(before)} → ${show(after)}`);
  }
}

async function main(): Promise<number> {
  const options = parseOptions();
  const connection = readConnection();
  if (!connection) throw new Failure("No server is known: start one with npm start, which writes .longhand/dev.json.");
  const admin = { url: connection.url, key: readAdminKey(SECRETS) };
  const target = { admin, tenant: options.tenant ?? tenantOf(connection.key) };
  print(`${"session".padEnd(32)}${"rows".padStart(8)}${"differences".padStart(13)}  result`);
  let unrepaired = 0;
  for await (const session of options.session === undefined ? listSessions(target) : [options.session]) {
    const result = await rebuild(target, session);
    printReport(result);
    if (!result.repaired) unrepaired += 1;
  }
  if (unrepaired > 0) say(`${unrepaired} of the sessions could not be brought in line with their logs.`);
  return unrepaired === 0 ? 0 : 1;
}

await runScript(main);
