/** All the rows of one session: read for comparing, cleared for rebuilding, erased for good. */
import type { Row, RowSnapshot } from "../app/diff-rows";
import type { SessionId, TenantId } from "../domain/ids";

interface SessionTable {
  readonly name: string;
  /** The column that holds the session's id. */
  readonly session: string;
  /** What names a row within its session; null: there is one row a session. */
  readonly key: string | null;
}

const TABLES: readonly SessionTable[] = [
  { name: "sessions", session: "id", key: null },
  { name: "messages", session: "session_id", key: "position" },
  { name: "overlays", session: "session_id", key: "id" },
  { name: "compactions", session: "session_id", key: "id" },
  { name: "usage", session: "session_id", key: "seq" },
];

/** The tenant_id of rows that are made only to be compared. It is no tenant's: ids of tenants hold no slash. */
export const scratchOf = (tenant: TenantId): string => `scratch/${tenant}`;

const deletions = (db: D1Database, key: string, session: SessionId): D1PreparedStatement[] =>
  TABLES.map((table) => db.prepare(`DELETE FROM ${table.name} WHERE tenant_id = ?1 AND ${table.session} = ?2`).bind(key, session));

const changesOf = (results: readonly D1Result[]): number => results.reduce((sum, result) => sum + result.meta.changes, 0);

/** The tombstone goes first, and stands for the scratch rows too: a rebuild under way must not bring the text back. */
export async function eraseSession(
  db: D1Database,
  input: { readonly tenant: TenantId; readonly session: SessionId; readonly at: number },
): Promise<{ readonly rows: number }> {
  const { tenant, session, at } = input;
  const scratch = scratchOf(tenant);
  const bury = db.prepare("INSERT OR IGNORE INTO session_tombstones (tenant_id, session_id, erased_at) VALUES (?1, ?3, ?4), (?2, ?3, ?4)");
  const results = await db.batch([
    bury.bind(tenant, scratch, session, at),
    ...deletions(db, tenant, session),
    ...deletions(db, scratch, session),
  ]);
  return { rows: changesOf(results.slice(1)) };
}

/** Removes a session's rows and leaves no tombstone: they are going to be written again. */
export async function clearSession(db: D1Database, key: string, session: SessionId): Promise<void> {
  await db.batch(deletions(db, key, session));
}

export async function isErased(db: D1Database, key: string, session: SessionId): Promise<boolean> {
  const found = await db.prepare("SELECT 1 FROM session_tombstones WHERE tenant_id = ?1 AND session_id = ?2").bind(key, session).first();
  return found !== null;
}

/** Rows of one query; each is at most 2 MB. */
const PAGE_ROWS = 50;

/** How often a session that is being written is read again before what was read last is taken. */
const READS = 5;

/**
 * By table, by the row's name within the session; without the tenant, which is the same for all. Many queries make
 * one snapshot: it is read again if a batch came in between.
 */
export async function readSession(db: D1Database, key: string, session: SessionId): Promise<RowSnapshot> {
  for (let reads = 1; ; reads++) {
    const before = await readSeq(db, key, session);
    const tables: [string, Record<string, Row>][] = [];
    for (const table of TABLES) tables.push([table.name, await readTable(db, { table, key, session })]);
    if (reads === READS || before === (await readSeq(db, key, session))) return Object.fromEntries(tables);
  }
}

const readSeq = (db: D1Database, key: string, session: SessionId): Promise<number | null> =>
  db.prepare("SELECT last_seq FROM sessions WHERE tenant_id = ?1 AND id = ?2").bind(key, session).first<number>("last_seq");

async function readTable(
  db: D1Database,
  from: { readonly table: SessionTable; readonly key: string; readonly session: SessionId },
): Promise<Record<string, Row>> {
  const { table, key, session } = from;
  const order = table.key ?? table.session;
  const sql = `SELECT * FROM ${table.name} WHERE tenant_id = ?1 AND ${table.session} = ?2 ORDER BY ${order} LIMIT ${PAGE_ROWS} OFFSET ?3`;
  const rows: Record<string, Row> = {};
  for (let offset = 0; ; offset += PAGE_ROWS) {
    const page = await db.prepare(sql).bind(key, session, offset).all<Row>();
    for (const { tenant_id: _, ...row } of page.results) rows[String(row[order])] = row;
    if (page.results.length < PAGE_ROWS) return rows;
  }
}
