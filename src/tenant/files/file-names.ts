/** The names of files that ended. */
import { toFiller } from "../../lib/scrub/filler";
import type { SyncSql } from "../../lib/sync-sql";

/** Removes the name of one file, or of all. */
export function forgetFileNames(sql: SyncSql, file: string | null = null): void {
  const which = file === null ? "name IS NOT NULL" : "name IS NOT NULL AND id = ?";
  const params = file === null ? [] : [file];
  sql.rows(`UPDATE files SET name = ${toFiller("name")} WHERE ${which}`, ...params);
  sql.rows(`UPDATE files SET name = NULL WHERE ${which}`, ...params);
}
