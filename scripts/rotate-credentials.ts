/**
 * `npm run rotate-credentials -- [--tenant ID]… [--url URL]`: has the running server re-encrypt tenants' credentials
 * with the first of its CREDENTIALS_KEYS. Exit code 1: some are still encrypted with an older key, which must be kept.
 */
import { z } from "zod";
import { askAdmin, readTenant } from "./support/admin.ts";
import type { Connection } from "./support/api-client.ts";
import { readCommandLine } from "./support/command-line.ts";
import { readConnection } from "./support/connection.ts";
import { Failure, print, runScript, say } from "./support/output.ts";
import { SECRETS } from "./support/paths.ts";
import { readAdminKey } from "./support/secrets.ts";

const USAGE = `Usage: npm run rotate-credentials -- [--tenant ID]… [--url URL]
  --tenant ID  a tenant (ten_…), as often as there are some; by default that of the key in .longhand/dev.json
  --url URL    the server, with its ADMIN_KEY in the environment; by default the local one, with that of .dev.vars
First put a new key in front: CREDENTIALS_KEYS=new:…,old:… and start the server with it. Once every tenant was rotated, take the old one away.`;

const report = z.object({
  key_id: z.string(),
  total: z.number(),
  current: z.number(),
  resealed: z.number(),
  changed: z.number(),
  unreadable: z.array(z.string()),
});
type Report = z.infer<typeof report>;

function readOptions() {
  return readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: { tenant: { type: "string", multiple: true }, url: { type: "string" } },
    schema: z.object({
      files: z.array(z.string()).length(0, "Name tenants by --tenant."),
      tenant: z.array(z.string()).default([]),
      url: z.url().optional(),
    }),
  });
}

/** The address of the admin routes, and the selected tenants. */
function readTarget(): { readonly admin: Connection; readonly tenants: readonly string[] } {
  const { url, tenant: tenants } = readOptions();
  if (url !== undefined) {
    const key = process.env.ADMIN_KEY;
    if (!key) throw new Failure("ADMIN_KEY is not in the environment: with --url it must be that server's.");
    if (tenants.length === 0) throw new Failure(`Name the tenants of that server by --tenant.\n\n${USAGE}`);
    return { admin: { url: url.replace(/\/+$/, ""), key }, tenants };
  }
  const local = readConnection();
  if (!local) throw new Failure("No server is known: start one with npm start, which writes .longhand/dev.json, or give --url URL.");
  return { admin: { url: local.url, key: readAdminKey(SECRETS) }, tenants: tenants.length > 0 ? tenants : [readTenant(local.key)] };
}

const isDone = ({ changed, unreadable }: Report): boolean => changed === 0 && unreadable.length === 0;

function printReport(tenant: string, { key_id, total, current, resealed, changed, unreadable }: Report): void {
  const counts = [total, current, resealed, changed, unreadable.length].map((count) => String(count).padStart(12)).join("");
  print(`${tenant.padEnd(32)}${counts}  ${key_id}`);
  for (const name of unreadable) print(`    ${name}: no known key opens it; its tenant must put it again`);
}

async function main(): Promise<number> {
  const { admin, tenants } = readTarget();
  const heads = ["total", "current", "resealed", "changed", "unreadable"].map((head) => head.padStart(12)).join("");
  print(`${"tenant".padEnd(32)}${heads}  key`);
  let undone = 0;
  for (const tenant of tenants) {
    const path = `/v1/admin/tenants/${encodeURIComponent(tenant)}/credentials/rotate`;
    const rotated = report.parse(await askAdmin(admin, "POST", path));
    printReport(tenant, rotated);
    if (!isDone(rotated)) undone += 1;
  }
  if (undone > 0)
    say(`${undone} ${undone === 1 ? "tenant has" : "tenants have"} credentials that are not under the current key: keep the older ones.`);
  return undone === 0 ? 0 : 1;
}

await runScript(main);
