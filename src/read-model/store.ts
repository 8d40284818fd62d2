/** All the rows of one session: erases them, and reads the live and scratch rows that `app/projection/rebuild` compares. */
import { getTableColumns, getTableName } from "drizzle-orm";
import type { Row } from "../app/diff-rows";
import type { Projection } from "../app/ports";
import type { RowPlace } from "../app/projection/rebuild-ports";
import type { ErasedUsage } from "../domain/erased-usage";
import { parseId, type SessionId, type TenantId } from "../domain/ids";
import { giveWay } from "../lib/timer";
import { erasedUsageInserts } from "./erased-usage-rows";
import { compactions, executionArtifacts, executions, messages, overlays, searchRows, sessionMetadata, sessions, usage } from "./schema";
import { toUsageBound } from "./usage-tables";

interface SessionTable {
  readonly name: string;
  /** The column that holds the session's id. */
  readonly session: string;
  /** The column that names a row within its session. */
  readonly key: string;
  /** All columns that say something of the session. */
  readonly columns: readonly string[];
  /** SQL for the length of a row's texts, in characters. */
  readonly weight: string;
}

type SessionTables =
  | typeof executions
  | typeof executionArtifacts
  | typeof messages
  | typeof overlays
  | typeof compactions
  | typeof usage
  | typeof sessionMetadata
  | typeof searchRows
  | typeof sessions;

function describe(table: SessionTables, session: string, key: string): SessionTable {
  // The number of a search row differs from one database to the next.
  const left = table === searchRows ? ["tenant_id", "id"] : ["tenant_id"];
  const all = Object.values(getTableColumns(table)).filter((column) => !left.includes(column.name));
  const texts = all.filter((column) => column.dataType === "string");
  return {
    name: getTableName(table),
    session,
    key,
    columns: all.map((column) => column.name),
    weight: texts.map((column) => `coalesce(length(${column.name}), 0)`).join(" + "),
  };
}

/** The table of sessions comes last, so that its `last_seq` is true of the other tables once it is written. */
export const TABLES: readonly [SessionTable, ...SessionTable[]] = [
  describe(messages, "session_id", "position"),
  describe(overlays, "session_id", "id"),
  describe(compactions, "session_id", "id"),
  describe(usage, "session_id", "seq"),
  describe(executions, "session_id", "id"),
  describe(executionArtifacts, "session_id", "id"),
  describe(sessionMetadata, "session_id", "number"),
  describe(searchRows, "session_id", "position"),
  describe(sessions, "id", "id"),
];

/** Tables whose rows an erasure removes at once. */
const SHOWN_TABLES = TABLES.filter(({ name }) => name !== getTableName(usage) && name !== getTableName(searchRows));

/** The tenant_id of rows that exist only to be compared. No tenant can have it: tenant ids hold no slash. */
export const toScratchName = (tenant: TenantId): string => `scratch/${tenant}`;

/**
 * Deletes the scratch rows that a cut-off rebuild left behind. Redactions do not reach them, so a redaction deletes
 * them all, as an erasure does.
 */
export const clearScratch = (db: D1Database, tenant: TenantId, session: SessionId): D1PreparedStatement[] =>
  deletions(db, toScratchName(tenant), session);

/**
 * Deletes the scratch rows if one of them shows a message that the live rows know as redacted: the rebuild read the log
 * before the redaction. The messages go last, because the other deletions look at them.
 */
export function dropOutdatedScratch(db: D1Database, tenant: TenantId, session: SessionId): D1PreparedStatement[] {
  const outdated = `EXISTS (SELECT 1 FROM messages old JOIN messages live ON live.session_id = old.session_id AND live.position = old.position
    WHERE old.tenant_id = ?1 AND old.session_id = ?2 AND old.content_state IN ('full', 'cut')
    AND live.tenant_id = ?3 AND live.content_state = 'redacted')`;
  return [...TABLES]
    .sort((one, other) => Number(one.name === "messages") - Number(other.name === "messages"))
    .map(({ name, session: owner }) =>
      db.prepare(`DELETE FROM ${name} WHERE tenant_id = ?1 AND ${owner} = ?2 AND ${outdated}`).bind(toScratchName(tenant), session, tenant),
    );
}

const deletions = (db: D1Database, key: string, session: SessionId, tables: readonly SessionTable[] = TABLES): D1PreparedStatement[] =>
  tables.map((table) => db.prepare(`DELETE FROM ${table.name} WHERE tenant_id = ?1 AND ${table.session} = ?2`).bind(key, session));

const sumChanges = (results: readonly D1Result[]): number => results.reduce((sum, result) => sum + result.meta.changes, 0);

/** Parts of the search rows that one call of `eraseRows` removes, some seconds' work: then its caller is answered. */
const PARTS_A_CALL = 40;

/**
 * Writes the tombstones first, also for the scratch rows: neither a late writer nor a rebuild under way must bring the text
 * back. All that can be read goes with them. Search rows follow in parts of their own, because the index takes some milliseconds to remove
 * one. The ledger's sums take the place of its rows in one transaction, the last. `rows` null: search rows are left, and the caller must call
 * again.
 */
export async function eraseRows(
  db: D1Database,
  input: { readonly tenant: TenantId; readonly session: SessionId; readonly at: number; readonly usage?: readonly ErasedUsage[] },
): Promise<{ readonly rows: number | null }> {
  const { tenant, session, at, usage = [] } = input;
  const scratch = toScratchName(tenant);
  const bury = db.prepare("INSERT OR IGNORE INTO session_tombstones (tenant_id, session_id, erased_at) VALUES (?1, ?3, ?4), (?2, ?3, ?4)");
  const buried = bury.bind(tenant, scratch, session, at);
  const hidden = await db.batch([buried, ...deletions(db, tenant, session, SHOWN_TABLES)]);
  const found = await clearSearch(db, tenant, session, PARTS_A_CALL);
  if (!found.isDone) return { rows: null };
  const results = await db.batch([
    buried,
    ...deletions(db, tenant, session),
    ...clearScratch(db, tenant, session),
    ...erasedUsageInserts(db, tenant, [{ session, usage }]),
  ]);
  const deleted = 2 * TABLES.length;
  return { rows: found.rows + sumChanges([...hidden.slice(1), ...results.slice(1, 1 + deleted)]) };
}

/** Removes all rows of a session and writes no tombstone: no one writes to this database any more, and a tombstone would stay. */
export async function removeSession(
  db: D1Database,
  { tenant, session }: { readonly tenant: TenantId; readonly session: SessionId },
): Promise<void> {
  await clearSearch(db, tenant, session);
  await db.batch([...deletions(db, tenant, session), ...clearScratch(db, tenant, session)]);
}

/** A rebuild may have read the names before they were deleted: its rows are removed, and it begins again. */
export async function forgetNames(
  db: D1Database,
  { tenant, session, calls }: Parameters<Projection["forgetEndUsers"]>[0],
): Promise<boolean> {
  const forget = `UPDATE usage SET end_user = NULL
    WHERE tenant_id = ?1 AND session_id = ?2 AND seq IN (SELECT value FROM json_each(?3)) AND end_user IS NOT NULL`;
  const scratch = clearScratch(db, tenant, session);
  const results = await db.batch([...scratch, db.prepare(forget).bind(tenant, session, JSON.stringify(calls))]);
  return sumChanges(results.slice(0, scratch.length)) === 0;
}

/** Sessions of a deleted tenant that are erased by one request to the read model. */
const LEFT_SESSIONS = 20;

/**
 * Erases the rows of some sessions that the tenant's directory did not know. There are such only where an early version wrote them. Returns true
 * when none is left.
 */
export async function eraseLeftSessions(db: D1Database, tenant: TenantId, at: number): Promise<boolean> {
  let erased = 0;
  // One table at a time: the platform bounds how many selects a statement may join.
  for (const { name, session: owner } of TABLES) {
    const some = `SELECT DISTINCT ${owner} AS id FROM ${name} WHERE tenant_id = ?1 LIMIT ${LEFT_SESSIONS}`;
    const left = await db.prepare(some).bind(tenant).all<{ id: string }>();
    for (const { id } of left.results) {
      const session = parseId("ses", id);
      const { rows } = session ? await eraseRows(db, { tenant, session, at }) : { rows: 0 };
      if (rows === null) throw new Error("Rows of a session of a deleted tenant are left in the read model");
      erased += 1;
    }
    if (erased >= LEFT_SESSIONS) return false;
  }
  return true;
}

/** Search rows removed in one transaction, in which the database answers no one else. */
const CLEARED_SEARCH_ROWS = 25;

/** Other requests run between two parts. `most`: parts, after which rows may be left. */
async function clearSearch(
  db: D1Database,
  tenant: TenantId,
  session: SessionId,
  most = Number.POSITIVE_INFINITY,
): Promise<{ readonly rows: number; readonly isDone: boolean }> {
  const some = `SELECT id FROM search_rows WHERE tenant_id = ?1 AND session_id = ?2 ORDER BY position LIMIT ${CLEARED_SEARCH_ROWS}`;
  let rows = 0;
  for (let parts = 0; parts < most; parts++) {
    if (parts > 0) await giveWay();
    const [, removed] = await db.batch([
      db.prepare(`DELETE FROM search_index WHERE rowid IN (${some})`).bind(tenant, session),
      db.prepare(`DELETE FROM search_rows WHERE id IN (${some})`).bind(tenant, session),
    ]);
    const changes = removed?.meta.changes ?? 0;
    rows += changes;
    if (changes < CLEARED_SEARCH_ROWS) return { rows, isDone: true };
  }
  return { rows, isDone: false };
}

/** Rows removed from each table in one transaction. A row may have up to 2 MB. */
const CLEARED_ROWS = 200;

/** Removes a part of a session's rows and writes no tombstone. Returns true when no row is left. */
export async function clearPart(db: D1Database, key: string, session: SessionId): Promise<boolean> {
  const results = await db.batch(
    TABLES.map(({ name, session: owner, key: id }) => {
      const of = `tenant_id = ?1 AND ${owner} = ?2`;
      return db
        .prepare(
          `DELETE FROM ${name} WHERE ${of} AND ${id} IN (SELECT ${id} FROM ${name} WHERE ${of} ORDER BY ${id} LIMIT ${CLEARED_ROWS})`,
        )
        .bind(key, session);
    }),
  );
  return results.every((result) => result.meta.changes < CLEARED_ROWS);
}

/** SQL that selects the rows of the table that the tenant's retention has not removed. */
export const selectKept = (table: string, tenant: string): string => (table === "usage" ? ` AND at >= ${toUsageBound(tenant)}` : "");

/** Limits of one page: a number of rows, and of characters of text (up to three bytes each) unless a single row has more. */
const PAGE_ROWS = 200;
const PAGE_CHARS = 2_000_000;

export const findTable = (name: string): SessionTable => {
  const table = TABLES.find((each) => each.name === name);
  if (!table) throw new TypeError(`no table of a session: ${name}`);
  return table;
};

/** Selects rows after a key, in order. Keys and weights alone decide where the page ends, so that only the page itself is read whole. */
export function selectPage(
  db: D1Database,
  { table, after }: RowPlace,
  of: { readonly key: string; readonly session: SessionId },
): D1PreparedStatement {
  const { name, session, key, weight, columns } = findTable(table);
  const where = `tenant_id = ?1 AND ${session} = ?2${after === null ? "" : ` AND ${key} > ?3`}${selectKept(table, "?1")}`;
  const weights = `SELECT ${key} AS k, ${weight} AS w FROM ${name} WHERE ${where} ORDER BY ${key} LIMIT ${PAGE_ROWS}`;
  const sums = `SELECT k, sum(w) OVER (ORDER BY k ROWS UNBOUNDED PRECEDING) - w AS so_far FROM (${weights})`;
  const sql = `SELECT ${columns.join(", ")} FROM ${name} WHERE ${where}
    AND ${key} <= (SELECT max(k) FROM (${sums}) WHERE so_far < ${PAGE_CHARS}) ORDER BY ${key}`;
  return db.prepare(sql).bind(of.key, of.session, ...(after === null ? [] : [after]));
}

/** The row's key within its session. Throws when the row has none. */
export function readRowKey(table: string, row: Row): string | number {
  const key = row[findTable(table).key];
  if (key === null || key === undefined) throw new TypeError(`a row of ${table} has no key`);
  return key;
}
