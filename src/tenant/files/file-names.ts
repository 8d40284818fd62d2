/** The names of files that ended. */
import { toFiller } from "../../lib/scrub/filler";
import type { SyncSql } from "../../lib/sync-sql";

/** Removes the name of one file, or of all. */
export function forgetFileNames(sql: SyncSql, file: string | null = null): void {
  const which = "name IS NOT NULL AND (?1 IS NULL OR id = ?1)";
  sql.rows(`UPDATE files SET name = ${toFiller("name")} WHERE ${which}`, file);
  sql.rows(`UPDATE files SET name = NULL WHERE ${which}`, file);
}
