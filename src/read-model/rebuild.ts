/** Reads and repairs the live and the scratch rows of one session, for `app/projection/rebuild`. */
import type { Row } from "../app/diff-rows";
import type { RebuildRows, RowPage, RowPlace, RowRepair, RowSeqs } from "../app/projection/rebuild-ports";
import type { Caller } from "../app/session-api";
import { clearPart, findTable, readRowKey, selectKept, selectPage, TABLES, toScratchName } from "./store";
import { createProjection, type WriterOptions } from "./writer";

export function createRebuildRows(db: D1Database, options: Pick<WriterOptions, "pause"> = {}): RebuildRows {
  const [first, ...rest] = TABLES;
  return {
    live: createProjection(db, options),
    scratch: createProjection(db, { ...options, scratch: true }),
    tables: [first.name, ...rest.map((table) => table.name)],
    stand: async (at) => toStanding((await selectStanding(db, at).all<Row>()).results[0]),
    readPage: (at, place) => readPage(db, at, place),
    mend: async (at, mending) => {
      await db.batch(mendings(db, at, mending));
    },
    clearScratch: ({ tenant, session }) => clearPart(db, toScratchName(tenant), session),
  };
}

const LIVE_SEQ = "coalesce((SELECT last_seq FROM sessions WHERE tenant_id = ?1 AND id = ?3), 0)";
const SCRATCH_SEQ = "coalesce((SELECT last_seq FROM sessions WHERE tenant_id = ?2 AND id = ?3), 0)";
const BURIED = "EXISTS (SELECT 1 FROM session_tombstones WHERE tenant_id = ?1 AND session_id = ?3)";

const selectStanding = (db: D1Database, { tenant, session }: Caller): D1PreparedStatement =>
  db.prepare(`SELECT ${LIVE_SEQ} AS live, ${SCRATCH_SEQ} AS scratch, ${BURIED} AS buried`).bind(tenant, toScratchName(tenant), session);

const toStanding = (row: Row | undefined): RowSeqs => ({
  live: Number(row?.live),
  scratch: Number(row?.scratch),
  buried: row?.buried === 1,
});

async function readPage(db: D1Database, at: Caller, place: RowPlace): Promise<RowPage> {
  const { tenant, session } = at;
  const [standing, live, scratch] = await db.batch<Row>([
    selectStanding(db, at),
    selectPage(db, place, { key: tenant, session }),
    selectPage(db, place, { key: toScratchName(tenant), session }),
  ]);
  const keyed = (rows: readonly Row[] = []) => rows.map((row) => ({ key: readRowKey(place.table, row), row }));
  return { standing: toStanding(standing?.results[0]), live: keyed(live?.results), scratch: keyed(scratch?.results) };
}

/**
 * Statements that repair live rows from the scratch rows. A session that was erased meanwhile gets no row back: the
 * tombstone blocks the copy.
 */
function mendings(db: D1Database, { tenant, session }: Caller, { table, standing, write, remove }: RowRepair): D1PreparedStatement[] {
  const { name, session: owner, key, columns } = findTable(table);
  const unmoved = `${key} IN (SELECT value FROM json_each(?4)) AND ${LIVE_SEQ} = ?5 AND ${SCRATCH_SEQ} = ?6`;
  const run = (sql: string, keys: RowRepair["write"]): D1PreparedStatement[] =>
    keys.length === 0
      ? []
      : [db.prepare(sql).bind(tenant, toScratchName(tenant), session, JSON.stringify(keys), standing.live, standing.scratch)];
  const names = columns.join(", ");
  const copy = `INSERT OR REPLACE INTO ${name} (tenant_id, ${names}) SELECT ?1, ${names} FROM ${name}
    WHERE tenant_id = ?2 AND ${owner} = ?3 AND ${unmoved} AND NOT ${BURIED}${selectKept(table, "?1")}`;
  const repairs = [...run(`DELETE FROM ${name} WHERE tenant_id = ?1 AND ${owner} = ?3 AND ${unmoved}`, remove), ...run(copy, write)];
  if (table !== "search_rows") return repairs;
  // The index reads a row's terms to remove them, and new rows have new numbers.
  const ids = `SELECT id FROM search_rows WHERE tenant_id = ?1 AND session_id = ?3 AND ${unmoved}`;
  const unindex = `DELETE FROM search_index WHERE rowid IN (${ids})`;
  const index = `INSERT INTO search_index (rowid, terms) SELECT id, terms FROM search_texts WHERE id IN (${ids}) AND NOT ${BURIED}`;
  return [...run(unindex, [...write, ...remove]), ...repairs, ...run(index, write)];
}
