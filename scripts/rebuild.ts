/**
 * `npm run rebuild -- --session ID | --tenant ID`: compares the read model's rows with the sessions' logs through the
 * running server, repairs differences and reports them. Exit code 1: something is still wrong.
 */
import { z } from "zod";
import { askAdmin, readTenant } from "./support/admin.ts";
import { readCommandLine } from "./support/command-line.ts";
import { readConnection } from "./support/connection.ts";
import { Failure, print, runScript, say } from "./support/output.ts";
import { SECRETS } from "./support/paths.ts";
import { compareSession, type Differences, differences, type Target, toAdminPath } from "./support/read-model.ts";
import { readAdminKey } from "./support/secrets.ts";

const USAGE = `Usage: npm run rebuild -- --session ID | --tenant ID
  --session ID  this session's rows (ses_…)
  --tenant ID   all of a tenant's (ten_…); with --session: the tenant that it belongs to, if not the key's in .longhand/dev.json`;

const tenantReport = z.object({ tenant_id: z.string(), rows: z.number(), repaired: z.boolean(), differences });

const sessionPage = z.object({
  data: z.array(z.object({ id: z.string() })),
  has_more: z.boolean(),
  next_cursor: z.string().nullable(),
});

function readOptions() {
  return readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: { session: { type: "string" }, tenant: { type: "string" } },
    schema: z
      .object({
        files: z.array(z.string()).length(0, "Name it by --session or --tenant."),
        session: z.string().optional(),
        tenant: z.string().optional(),
      })
      .refine(({ session, tenant }) => session !== undefined || tenant !== undefined, "Name a session or a tenant."),
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

async function main(): Promise<number> {
  const options = readOptions();
  const connection = readConnection();
  if (!connection) throw new Failure("No server is known: start one with npm start, which writes .longhand/dev.json.");
  const admin = { url: connection.url, key: readAdminKey(SECRETS) };
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
