/** One database, as a move of a tenant works in it. */
import { getTableColumns, getTableName } from "drizzle-orm";
import type { Clock } from "../app/ports";
import type { MoveDatabase, Tombstone } from "../app/projection/move-ports";
import { parseId, type SessionId, type TenantId } from "../domain/ids";
import { type Pause, pause } from "./d1-retry";
import { createRebuildRows } from "./rebuild";
import { erasedUsage, models, sessionTombstones, tenants, usageBounds, usageDaySums, usageDays } from "./schema";
import { TABLES, toScratchName } from "./store";
import { createTenantRows } from "./tenant-rows";

/** A mover's step read the placement so long ago that the tenant may have moved on since. */
class StepTooLongError extends Error {
  override readonly name = "StepTooLongError";
}

/** With the longest query, not more than what a move waits before it empties a database (`SETTLE_MS`). */
const STEP_MS = 30_000;

/** Sends nothing from so long after its making: another mover may have ended the move, and emptied the database. */
function boundStep(db: D1Database, now: Clock): D1Database {
  const until = now() + STEP_MS;
  return new Proxy(db, {
    get(target, name) {
      if (now() > until) throw new StepTooLongError("this step of the move took too long: the next one goes on");
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

interface MoveTime {
  readonly wait?: Pause;
  readonly now?: Clock;
}

/** For one step of a move. */
export function createMoveDatabase(whole: D1Database, { wait = pause, now = Date.now }: MoveTime = {}): MoveDatabase {
  const db = boundStep(whole, now);
  return {
    rows: createRebuildRows(db, { pause: wait }),
    tenantRows: createTenantRows(db),
    hasTables: () => hasTables(db),
    listTombstones: (page) => listTombstones(db, page),
    bury: async (tenant, stones) => {
      await db
        .prepare(BURY)
        .bind(JSON.stringify([tenant, toScratchName(tenant)]), JSON.stringify(stones))
        .run();
    },
    clearTenant: (tenant) => clearTenant(db, tenant),
  };
}

/** All tables with their columns. Those of sessions first, and among these the one that guards the others. */
const COLUMNS: readonly (readonly [table: string, columns: readonly string[]])[] = [
  ...TABLES.map(({ name, columns }): [string, readonly string[]] => [name, columns]).reverse(),
  ...[tenants, models, erasedUsage, sessionTombstones, usageBounds, usageDays, usageDaySums].map((table): [string, readonly string[]] => [
    getTableName(table),
    Object.values(getTableColumns(table)).map(({ name }) => name),
  ]),
  ["search_index", ["rowid"]],
];

const MISSING = /no such (table|column)/;

async function hasTables(db: D1Database): Promise<boolean> {
  try {
    await db.batch(COLUMNS.map(([table, columns]) => db.prepare(`SELECT ${columns.join(", ")} FROM ${table} LIMIT 0`)));
    return true;
  } catch (error) {
    if (MISSING.test(String(error))) return false;
    throw error;
  }
}

const BURY = `INSERT OR IGNORE INTO session_tombstones (tenant_id, session_id, erased_at)
  SELECT owner.value, json_extract(stone.value, '$.session'), json_extract(stone.value, '$.erased_at')
  FROM json_each(?1) AS owner, json_each(?2) AS stone`;

async function listTombstones(
  db: D1Database,
  { tenant, after, limit }: { readonly tenant: TenantId; readonly after: SessionId | null; readonly limit: number },
): Promise<readonly Tombstone[]> {
  const { results } = await db
    .prepare("SELECT session_id, erased_at FROM session_tombstones WHERE tenant_id = ?1 AND session_id > ?2 ORDER BY session_id LIMIT ?3")
    .bind(tenant, after ?? "", limit)
    .all<{ session_id: string; erased_at: number }>();
  return results.flatMap(({ session_id, erased_at }) => {
    const session = parseId("ses", session_id);
    return session ? [{ session, erased_at }] : [];
  });
}

/** Rows removed from each table in one transaction. */
const CLEARED_ROWS = 200;
/** The index takes some milliseconds to remove a row. */
const CLEARED_SEARCH_ROWS = 100;

const INDEXED = `SELECT id FROM search_rows WHERE tenant_id = ?1 ORDER BY session_id, position LIMIT ${CLEARED_SEARCH_ROWS}`;

/** Keys of the tables that no session's rows are in. */
const OTHERS: readonly (readonly [table: string, key: string])[] = [
  ["tenants", "tenant_id"],
  ["models", "tenant_id, provider_id, id"],
  ["erased_usage", "tenant_id, session_id, at, model, purpose"],
  ["session_tombstones", "tenant_id, session_id"],
  ["usage_bounds", "tenant_id"],
  // Their sums go by a trigger. Days of calls have gone with these; those without any have not.
  ["usage_days", "tenant_id, day"],
];

/** The rows of sessions go first: without them a batch that comes late finds nothing to add to. */
async function clearTenant(db: D1Database, tenant: TenantId): Promise<boolean> {
  const keyed = TABLES.filter(({ name }) => name !== "search_rows").map(({ name, session, key }) => [
    name,
    `tenant_id, ${session}, ${key}`,
  ]);
  const results = await db.batch([
    db.prepare(`DELETE FROM search_index WHERE rowid IN (${INDEXED})`).bind(tenant),
    db.prepare(`DELETE FROM search_rows WHERE id IN (${INDEXED})`).bind(tenant),
    ...[...keyed.reverse(), ["search_rows", "tenant_id, session_id, position"], ...OTHERS].map(([table, key]) => {
      const keys = table === "search_rows" ? "tenant_id = ?2" : "tenant_id IN (?1, ?2)";
      const some = `SELECT ${key} FROM ${table} WHERE ${keys} LIMIT ${CLEARED_ROWS}`;
      const bound = table === "search_rows" ? [null, toScratchName(tenant)] : [tenant, toScratchName(tenant)];
      return db.prepare(`DELETE FROM ${table} WHERE (${key}) IN (${some})`).bind(...bound);
    }),
  ]);
  return results.every(({ meta }) => meta.changes === 0);
}
