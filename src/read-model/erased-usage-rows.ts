/**
 * The rows that keep the sums of erased sessions' ledgers. They are written when a session is erased, and repaired by a
 * rebuild of the tenant.
 */
import { getTableColumns } from "drizzle-orm";
import { diffRows, type Row } from "../app/diff-rows";
import type { ErasedSessionUsage } from "../app/tenant-api";
import type { TenantRows } from "../app/tenant-rows";
import type { RowDifference } from "../contract/rebuild";
import type { SessionId, TenantId } from "../domain/ids";
import { erasedUsage } from "./schema";
import { toUsageBound } from "./usage-tables";

const TABLE = "erased_usage";
const COLUMNS = Object.values(getTableColumns(erasedUsage)).map(({ name }) => name);

const toRows = (tenant: TenantId, all: readonly ErasedSessionUsage[]): readonly Row[] =>
  all.flatMap(({ session, usage }) =>
    usage.map((sums) => ({ tenant_id: tenant, session_id: session, ...sums, revision: sums.revision ?? 0 })),
  );

/** One JSON parameter carries many rows, and stays far below D1's limit of 2 MB. */
const ROWS_PER_STATEMENT = 2_000;

/** Statements for one batch. They leave rows alone whose sums have forgotten more names than the given ones. */
export function erasedUsageInserts(db: D1Database, tenant: TenantId, all: readonly ErasedSessionUsage[]): D1PreparedStatement[] {
  const list = (row: string): string => COLUMNS.map((name) => `${row}.${name}`).join(", ");
  const values = COLUMNS.map((name) => `json_extract(value, '$.${name}')`).join(", ");
  // Sums only grow. A write that was held up must not take back what a later one has written. A row that is there already is not written again.
  const sums = COLUMNS.map((name) => `${name} = excluded.${name}`).join(", ");
  const sql = `INSERT INTO ${TABLE} (${COLUMNS.join(", ")}) SELECT ${values} FROM json_each(?1) WHERE NOT EXISTS (${NEWER})
    AND json_extract(value, '$.at') >= ${toUsageBound("json_extract(value, '$.tenant_id')")}
    ON CONFLICT (tenant_id, session_id, at, model, purpose, key_id, end_user) DO UPDATE SET ${sums}
    WHERE excluded.calls >= ${TABLE}.calls AND (${list(TABLE)}) IS NOT (${list("excluded")})`;
  const rows = toRows(tenant, all);
  const parts = Array.from({ length: Math.ceil(rows.length / ROWS_PER_STATEMENT) }, (_, part) =>
    rows.slice(part * ROWS_PER_STATEMENT, (part + 1) * ROWS_PER_STATEMENT),
  );
  return [...dropOlder(db, tenant, all), ...parts.map((part) => db.prepare(sql).bind(JSON.stringify(part)))];
}

const NEWER = `SELECT 1 FROM ${TABLE} newer WHERE newer.tenant_id = json_extract(value, '$.tenant_id') AND newer.revision > 0
  AND newer.session_id = json_extract(value, '$.session_id') AND newer.revision > json_extract(value, '$.revision')`;

/** Deletes the rows of sessions from before a name was forgotten in their sums. */
function dropOlder(db: D1Database, tenant: TenantId, all: readonly ErasedSessionUsage[]): D1PreparedStatement[] {
  const revised = all.flatMap(({ session, usage }) => (usage[0]?.revision ? [[session, usage[0].revision]] : []));
  if (revised.length === 0) return [];
  const sql = `DELETE FROM ${TABLE} WHERE tenant_id = ?1 AND session_id IN (SELECT json_extract(value, '$[0]') FROM json_each(?2))
    AND revision < (SELECT json_extract(value, '$[1]') FROM json_each(?2) WHERE json_extract(value, '$[0]') = session_id)`;
  return [db.prepare(sql).bind(tenant, JSON.stringify(revised))];
}

/** A string that sorts after every session id. */
const AFTER_EVERY_ID = "~";

export async function repairErasedUsage(
  db: D1Database,
  { tenant, after, upTo, usage }: Parameters<TenantRows["mendErasedUsage"]>[0],
): Promise<{ readonly differences: readonly RowDifference[]; readonly rows: number }> {
  const range: readonly [TenantId, SessionId | "", SessionId | typeof AFTER_EVERY_ID] = [tenant, after ?? "", upTo ?? AFTER_EVERY_ID];
  const where = "WHERE tenant_id = ?1 AND session_id > ?2 AND session_id <= ?3";
  const [bound, found] = await db.batch<Row>([
    db.prepare(`SELECT ${toUsageBound("?1")} AS complete_from`).bind(tenant),
    db.prepare(`SELECT ${COLUMNS.join(", ")} FROM ${TABLE} ${where} AND at >= ${toUsageBound("?1")}`).bind(...range),
  ]);
  const stored = found?.results ?? [];
  const expected = toRows(tenant, usage).filter(({ at }) => Number(at) >= Number(bound?.results[0]?.complete_from));
  const differences = diffRows({ [TABLE]: byName(expected) }, { [TABLE]: byName(stored) });
  if (differences.length > 0) {
    const remove = db.prepare(`DELETE FROM ${TABLE} ${where}`).bind(...range);
    await db.batch([remove, ...erasedUsageInserts(db, tenant, usage)]);
  }
  return { differences, rows: stored.length };
}

const byName = (rows: readonly Row[]): Readonly<Record<string, Row>> =>
  Object.fromEntries(rows.map((row) => [[row.session_id, row.at, row.model, row.purpose, row.key_id, row.end_user].join("/"), row]));
