/**
 * Removes what was deleted from the files of the tenant's object (`lib/scrub`). What deletes a text of a client notes its tables in the same
 * transaction, so that the alarm finishes it after a crash. One scrub covers all deletions until it begins.
 */
import type { Clock, Log } from "../../app/ports";
import { toErrorName } from "../../lib/error-name";
import { listTables } from "../../lib/scrub/rewrite-tables";
import type { ScrubbedTables } from "../../lib/scrub/scrub";
import type { SyncSql } from "../../lib/sync-sql";
import { armAlarm, type TenantAlarm } from "../shared/tenant-alarm";

/** A scrub writes some 25 MB, so that it waits for other deletions. */
const WAIT_MS = 15_000;
/** Each row that is written anew is billed. A table of many rows waits for more deletions: ten rows a second, but at most a day. */
const WAIT_MS_OF_ROW = 100;
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1_000;

/** When each noted table is to be written anew. `noted` counts the deletions that this is for. */
export const SCRUB_TABLES: readonly string[] = [
  `CREATE TABLE scrub_tables (name TEXT PRIMARY KEY, noted_at INTEGER NOT NULL, due_at INTEGER NOT NULL, noted INTEGER NOT NULL)
   STRICT, WITHOUT ROWID`,
];

export interface TenantScrub {
  /** Call it inside the transaction that deletes, with the tables of the deleted rows. */
  note(...tables: readonly string[]): void;
  /** For what is to be scrubbed by the next `run`: an end user's name. */
  noteNow(...tables: readonly string[]): void;
  /** Notes all tables. */
  noteAll(): void;
  nextDue(): number | null;
  resume(): Promise<void>;
  /** Scrubs what was deleted, if that is due. Never rejects. */
  run(): Promise<void>;
}

interface ScrubDeps {
  readonly sql: SyncSql;
  readonly scrub: (tables: ScrubbedTables) => Promise<void>;
  readonly alarm: TenantAlarm;
  readonly now: Clock;
  readonly log: Log;
}

type Due = { readonly due_at: number; readonly noted: number };
type DueTable = Due & { readonly name: string; readonly noted_at: number };

export function createTenantScrub({ sql, scrub, alarm, now, log }: ScrubDeps): TenantScrub {
  const find = (): Due | null => sql.rows<Due>("SELECT due_at, noted FROM scrub_due")[0] ?? null;
  const listDue = (): readonly DueTable[] => sql.rows<DueTable>("SELECT * FROM scrub_tables WHERE due_at <= ?", now());
  const nextDue = (): number | null =>
    sql.rows<{ at: number | null }>(
      "SELECT min(due_at) AS at FROM (SELECT due_at FROM scrub_due UNION ALL SELECT due_at FROM scrub_tables)",
    )[0]?.at ?? null;
  const note = (dueAt: number, tables: readonly string[]): void => {
    const again = "DO UPDATE SET noted = noted + 1, due_at = min(due_at, excluded.due_at)";
    sql.rows(`INSERT INTO scrub_due (one, due_at, noted) VALUES (1, ?, 1) ON CONFLICT (one) ${again}`, dueAt);
    const add = "INSERT INTO scrub_tables (name, noted_at, due_at, noted) VALUES (?, ?, ?, 1)";
    for (const name of tables) sql.rows(`${add} ON CONFLICT (name) ${again}`, name, now(), dueAt);
  };
  const isReady = ({ name, noted_at }: DueTable): boolean => {
    const rows = sql.rows<{ n: number }>(`SELECT count(*) AS n FROM "${name}"`)[0]?.n ?? 0;
    const readyAt = noted_at + Math.min(rows * WAIT_MS_OF_ROW, LONGEST_WAIT_MS);
    if (readyAt <= Math.max(now(), noted_at + WAIT_MS)) return true;
    sql.rows("UPDATE scrub_tables SET due_at = ? WHERE name = ?", readyAt, name);
    return false;
  };
  return {
    note: (...tables) => note(now() + WAIT_MS, tables),
    noteNow: (...tables) => note(now(), tables),
    noteAll: () => note(now() + WAIT_MS, listTables(sql)),
    nextDue,
    resume: () => armAlarm(alarm, nextDue(), now),
    run: async () => {
      if ((nextDue() ?? Number.POSITIVE_INFINITY) > now()) return;
      // An older build may have noted a table that this one has not.
      sql.rows("DELETE FROM scrub_tables WHERE name NOT IN (SELECT name FROM sqlite_master WHERE type = 'table')");
      const ready = listDue().filter(isReady);
      const due = find();
      if (ready.length === 0 && (due?.due_at ?? Number.POSITIVE_INFINITY) > now()) return;
      const again = now() + WAIT_MS;
      sql.rows("UPDATE scrub_due SET due_at = ?", again);
      for (const { name } of ready) sql.rows("UPDATE scrub_tables SET due_at = ? WHERE name = ?", again, name);
      try {
        await scrub(() => ready.map(({ name }) => name));
        // More may have been deleted meanwhile.
        if (due) sql.rows("DELETE FROM scrub_due WHERE noted = ?", due.noted);
        for (const { name, noted } of ready) sql.rows("DELETE FROM scrub_tables WHERE name = ? AND noted = ?", name, noted);
      } catch (error) {
        log.warn("tenant.not_scrubbed", { error: toErrorName(error) });
      }
    },
  };
}
