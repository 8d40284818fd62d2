/**
 * `npm run move-tenant -- --tenant ID --to DATABASE [--cancel] [--url URL]`: moves a tenant's rows to another database of the running server,
 * step by step. Cut off, it goes on where it was when it is run again. Exit code 1: the move was not finished.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { askAdmin } from "./support/admin.ts";
import { ApiError, type Connection, callApi } from "./support/api-client.ts";
import { readCommandLine } from "./support/command-line.ts";
import { readConnection } from "./support/connection.ts";
import { Failure, print, runScript } from "./support/output.ts";
import { SECRETS } from "./support/paths.ts";
import { readAdminKey } from "./support/secrets.ts";

const USAGE = `Usage: npm run move-tenant -- --tenant ID --to DATABASE [--url URL]
       npm run move-tenant -- --tenant ID --cancel [--url URL]
  --tenant ID     the tenant (ten_…)
  --to DATABASE   the name of a binding: DB, DB_2, DB_3 …
  --cancel        ends a move before its switch: the tenant stays where it was
  --url URL       the server, with its ADMIN_KEY in the environment; by default the local one, with that of .dev.vars
The same command, run again, goes on with a move that was cut off.`;

const placement = z.object({
  database: z.string(),
  move: z.object({ from: z.string(), to: z.string(), phase: z.string(), sessions: z.number(), differences: z.number() }).nullable(),
  wait_ms: z.number(),
});
type Placement = z.infer<typeof placement>;

/** A database may be away for a moment. After so many refusals in a row it is not a moment. */
const PATIENCE = 10;
const RETRY_MS = 2_000;

function readOptions() {
  return readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: { tenant: { type: "string" }, to: { type: "string" }, cancel: { type: "boolean", default: false }, url: { type: "string" } },
    schema: z
      .object({
        files: z.array(z.string()).length(0, "Name the tenant by --tenant."),
        tenant: z.string({ error: "Name the tenant by --tenant." }),
        to: z.string().optional(),
        cancel: z.boolean(),
        url: z.url().optional(),
      })
      .refine(({ to, cancel }) => (to !== undefined) !== cancel, "Give --to DATABASE or --cancel."),
  });
}

function readAdmin(url: string | undefined): Connection {
  if (url !== undefined) {
    const key = process.env.ADMIN_KEY;
    if (!key) throw new Failure("ADMIN_KEY is not in the environment: with --url it must be that server's.");
    return { url: url.replace(/\/+$/, ""), key };
  }
  const local = readConnection();
  if (!local) throw new Failure("No server is known: start one with npm start, which writes .longhand/dev.json, or give --url URL.");
  return { url: local.url, key: readAdminKey(SECRETS) };
}

function describe({ database, move, wait_ms }: Placement): string {
  if (!move) return `in ${database}`;
  const counts = move.phase === "copy" || move.phase === "verify" ? `, ${move.sessions} sessions, ${move.differences} rows corrected` : "";
  const wait = wait_ms > 0 ? `, waits ${Math.ceil(wait_ms / 1_000)} s` : "";
  return `${move.from} → ${move.to}: ${move.phase}${counts}${wait} (read from ${database})`;
}

async function main(): Promise<number> {
  const { tenant, to, cancel, url } = readOptions();
  const admin = readAdmin(url);
  const path = `/v1/admin/tenants/${encodeURIComponent(tenant)}/move`;
  let at = placement.parse(await askAdmin(admin, cancel ? "DELETE" : "GET", path));
  const target = to ?? at.database;
  print(describe(at));
  if (at.move === null && at.database === target) return 0;
  do {
    await sleep(at.wait_ms);
    at = await step(admin, { path, to: target });
    print(describe(at));
  } while (at.move !== null);
  return 0;
}

/** One step, sent again while a database or an object is out of reach. */
async function step(admin: Connection, { path, to }: { readonly path: string; readonly to: string }): Promise<Placement> {
  for (let refusals = 0; ; refusals++) {
    try {
      return placement.parse(await callApi(admin, { method: "POST", path, body: { to } }));
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 503) || refusals >= PATIENCE) throw error;
      await sleep(RETRY_MS);
    }
  }
}

await runScript(main);
