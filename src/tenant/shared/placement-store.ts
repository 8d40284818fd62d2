/** Which databases have the tenant's rows. No row: the tenant was never placed, and is in the first database. */
import { FIRST_PLACEMENT, type Move, type Placement } from "../../app/placement";
import type { SyncSql } from "../../lib/sync-sql";

/** name: of the database's binding. move: the move that is under way, as JSON. */
export const PLACEMENT_TABLES: readonly string[] = [
  `CREATE TABLE placement (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     name TEXT NOT NULL,
     version INTEGER NOT NULL,
     move TEXT
   ) STRICT`,
];

export interface PlacementStore {
  read(): Placement;
  /** Stores a placement if its predecessor is the stored one. Returns what is stored then. Call it inside a transaction. */
  place(change: { readonly after: number; readonly placement: Placement }): Placement;
}

type PlacementRow = {
  readonly name: string;
  readonly version: number;
  readonly move: string | null;
};

export function createPlacementStore(sql: SyncSql): PlacementStore {
  function read(): Placement {
    const [row] = sql.rows<PlacementRow>("SELECT name, version, move FROM placement");
    if (!row) return FIRST_PLACEMENT;
    const move: Move | null = row.move === null ? null : JSON.parse(row.move);
    return { database: row.name, version: row.version, move };
  }
  return {
    read,
    place: ({ after, placement: { database, version, move } }) => {
      if (read().version !== after) return read();
      const stored = [database, version, move && JSON.stringify(move)] as const;
      sql.rows("INSERT OR REPLACE INTO placement (one, name, version, move) VALUES (1, ?, ?, ?)", ...stored);
      return read();
    },
  };
}
