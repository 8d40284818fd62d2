/**
 * `npm run rebuild -- --session ID | --tenant ID | --tenants`: compares the read model's rows with the sessions' logs through the
 * running server, repairs differences and reports them. Exit code 1: something is still wrong.
 */
import { z } from "zod";
import { askAdmin, readTenant } from "./support/admin.ts";
import type { Connection } from "./support/api-client.ts";
import { readCommandLine } from "./support/command-line.ts";
import { readConnection } from "./support/connection.ts";
import { Failure, print, runScript, say } from "./support/output.ts";
import { SECRETS } from "./support/paths.ts";
import { compareSession, type Differences, differences, type Target, toAdminPath } from "./support/read-model.ts";
import { readAdminKey } from "./support/secrets.ts";

const USAGE = `Usage: npm run rebuild -- --session ID | --tenant ID | --tenants
  --session ID  this session's rows (ses_…)
  --tenant ID   all of a tenant's (ten_…); with --session: the tenant that it belongs to, if not the key's in .longhand/dev.json
  --tenants     the list of tenants: enters those that have rows and are missing in it`;

const tenantReport = z.object({ tenant_id: z.string(), rows: z.number(), repaired: z.boolean(), differences });

const listReport = z.object({
  tenants: z.number(),
  added: z.number(),
  unknown: z.array(z.string()),
  next_cursor: z.string().nullable(),
});

const sessionPage = z.object({
  data: z.array(z.object({ id: z.string() })),
  has_more: z.boolean(),
  next_cursor: z.string().nullable(),
});

function readOptions() {
  return readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: { session: { type: "string" }, tenant: { type: "string" }, tenants: { type: "boolean", default: false } },
    schema: z
      .object({
        files: z.array(z.string()).length(0, "Name it by --session or --tenant."),
        session: z.string().optional(),
        tenant: z.string().optional(),
        tenants: z.boolean(),
      })
      .refine(
        ({ session, tenant, tenants }) => (session !== undefined || tenant !== undefined) !== tenants,
        "Name a session or a tenant, or give --tenants.",
      ),
  });
}

/** Newest first. */
async function* listSessions(target: Target, source: "directory" | "rows"): AsyncGenerator<string> {
  for (let after: string | null = ""; after !== null; ) {
    const query: string = after === "" ? "" : `&after=${encodeURIComponent(after)}`;
    const page = sessionPage.parse(
      await askAdmin(target.admin, "GET", toAdminPath(target, `/sessions?limit=100&source=${source}${query}`)),
    );
    for (const { id } of page.data) yield id;
    after = page.has_more ? page.next_cursor : null;
  }
}

/** The sessions in the tenant's directory and those with rows, each once. Both lists have the same order, so neither is held completely. */
async function* allSessions(target: Target): AsyncGenerator<string> {
  const known = listSessions(target, "directory");
  const shown = listSessions(target, "rows");
  let [one, other] = [await known.next(), await shown.next()];
  while (!one.done || !other.done) {
    const a: string = one.done ? "" : one.value;
    const b: string = other.done ? "" : other.value;
    yield a > b ? a : b;
    if (a >= b) one = await known.next();
    if (b >= a) other = await shown.next();
  }
}

async function rebuildTenant(target: Target): Promise<boolean> {
  const { tenant_id, ...report } = tenantReport.parse(await askAdmin(target.admin, "POST", toAdminPath(target, "/rebuild")));
  printDifferences(report.differences);
  printResult(tenant_id, { ...report, count: report.differences.length });
  return report.repaired;
}

async function rebuildSession(target: Target, session: string): Promise<boolean> {
  const { rows, repaired, differences: found } = await compareSession(target, session, printDifferences);
  printResult(session, { rows, repaired, count: found });
  return repaired;
}

const show = (value: Differences[number]["before"]): string => (value === null ? "nothing" : JSON.stringify(value));

function printDifferences(found: Differences): void {
  for (const { table, key, column, before, after } of found) {
    const where = column === null ? `${table}[${key}]` : `${table}[${key}].${column}`;
    print(`    ${where}: ${show(before)} → ${show(after)}`);
  }
}

function printResult(name: string, result: { readonly rows: number; readonly repaired: boolean; readonly count: number }): void {
  const verdict = !result.repaired ? "NOT REPAIRED" : result.count === 0 ? "equal" : "repaired";
  print(`${name.padEnd(32)}${String(result.rows).padStart(8)}${String(result.count).padStart(13)}  ${verdict}`);
}

/** True when every tenant with a row is in the list. */
async function rebuildTenantList(admin: Connection): Promise<boolean> {
  print(["with rows", "entered", "unknown"].map((head) => head.padStart(12)).join(""));
  const total = { tenants: 0, added: 0, unknown: 0 };
  for (let cursor: string | null = ""; cursor !== null; ) {
    const path: string = `/v1/admin/tenants/rebuild${cursor === "" ? "" : `?after=${cursor}`}`;
    const step: z.infer<typeof listReport> = listReport.parse(await askAdmin(admin, "POST", path));
    for (const tenant of step.unknown) print(`    ${tenant}: has rows, but no object knows it`);
    total.tenants += step.tenants;
    total.added += step.added;
    total.unknown += step.unknown.length;
    cursor = step.next_cursor;
  }
  print([total.tenants, total.added, total.unknown].map((count) => String(count).padStart(12)).join(""));
  return total.unknown === 0;
}

async function main(): Promise<number> {
  const options = readOptions();
  const connection = readConnection();
  if (!connection) throw new Failure("No server is known: start one with npm start, which writes .longhand/dev.json.");
  const admin = { url: connection.url, key: readAdminKey(SECRETS) };
  if (options.tenants) return (await rebuildTenantList(admin)) ? 0 : 1;
  const target = { admin, tenant: options.tenant ?? readTenant(connection.key) };
  print(`${"tenant or session".padEnd(32)}${"rows".padStart(8)}${"differences".padStart(13)}  result (after its differences)`);
  let unrepaired = 0;
  const count = (repaired: boolean): void => {
    if (!repaired) unrepaired += 1;
  };
  if (options.session !== undefined) count(await rebuildSession(target, options.session));
  else {
    count(await rebuildTenant(target));
    for await (const session of allSessions(target)) count(await rebuildSession(target, session));
  }
  if (unrepaired > 0) say(`${unrepaired} could not be brought in line with what their objects say.`);
  return unrepaired === 0 ? 0 : 1;
}

await runScript(main);
