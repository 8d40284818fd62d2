/** Removes old usage of a tenant from one database. */
import type { TenantId } from "../domain/ids";
import { toScratchName } from "./store";

/** Rows removed from each table in one transaction. */
const REMOVED_ROWS = 500;

const RAISE = `INSERT INTO usage_bounds (tenant_id, complete_from) VALUES (?1, ?2)
  ON CONFLICT (tenant_id) DO UPDATE SET complete_from = max(complete_from, excluded.complete_from)`;

const KEYS = { usage: "tenant_id, session_id, seq", erased_usage: "tenant_id, session_id, at, model, purpose, key_id, end_user" } as const;

/** Raises the bound, and removes a part of the rows from before it. Returns true when none is left. */
export async function removeUsage(
  db: D1Database,
  { tenant, before }: { readonly tenant: TenantId; readonly before: number },
): Promise<boolean> {
  const results = await db.batch([
    db.prepare(RAISE).bind(tenant, before),
    ...Object.entries(KEYS).flatMap(([table, key]) =>
      [tenant, toScratchName(tenant)].map((owner) => {
        const old = `SELECT ${key} FROM ${table} WHERE tenant_id = ?1 AND at < ?2 LIMIT ${REMOVED_ROWS}`;
        return db.prepare(`DELETE FROM ${table} WHERE (${key}) IN (${old})`).bind(owner, before);
      }),
    ),
  ]);
  return results.slice(1).every(({ meta }) => meta.changes < REMOVED_ROWS);
}
