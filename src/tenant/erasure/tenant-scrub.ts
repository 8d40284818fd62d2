/**
 * Removes what was deleted from the files of the tenant's object (`lib/scrub`). What deletes a text of a client notes it in the same
 * transaction, so that the alarm finishes it after a crash. One scrub covers all deletions until it begins.
 */
import type { Clock, Log } from "../../app/ports";
import { toErrorName } from "../../lib/error-name";
import { listTables } from "../../lib/scrub/rewrite-tables";
import type { Scrubbed, ScrubOptions } from "../../lib/scrub/scrub";
import type { SyncSql } from "../../lib/sync-sql";
import { armAlarm, type TenantAlarm } from "../shared/tenant-alarm";

/** A scrub writes some 25 MB, so that it waits for other deletions. */
const WAIT_MS = 15_000;
/**
 * Each row that is written anew is billed. So tables of many rows are written anew 25 ms a row after the first deletion, but within a day. Until
 * then free pages and the log are overwritten only. Rows are counted once for that.
 */
const WAIT_MS_OF_ROW = 25;
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1_000;

export interface TenantScrub {
  /** Call it inside the transaction that deletes. */
  note(): void;
  /** For what is to be scrubbed by the next `run`: an end user's name. */
  noteNow(): void;
  nextDue(): number | null;
  resume(): Promise<void>;
  /** Scrubs what was deleted, if that is due. Never rejects. */
  run(): Promise<void>;
}

interface ScrubDeps {
  readonly sql: SyncSql;
  readonly scrub: (options: ScrubOptions) => Promise<Scrubbed>;
  readonly alarm: TenantAlarm;
  readonly now: Clock;
  readonly log: Log;
}

type Due = { readonly due_at: number; readonly noted: number; readonly ready_at: number };

export function createTenantScrub({ sql, scrub, alarm, now, log }: ScrubDeps): TenantScrub {
  const find = (): Due | null => sql.rows<Due>("SELECT due_at, noted, ready_at FROM scrub_due")[0] ?? null;
  const nextDue = (): number | null => find()?.due_at ?? null;
  const countRows = (): number =>
    listTables(sql).reduce((sum, name) => sum + (sql.rows<{ n: number }>(`SELECT count(*) AS n FROM "${name}"`)[0]?.n ?? 0), 0);
  /** When the tables may be written anew for what is deleted from `at` on. Those of few rows do not wait. */
  const findReady = (at: number): number => {
    const wait = Math.min(countRows() * WAIT_MS_OF_ROW, LONGEST_WAIT_MS);
    return wait <= WAIT_MS ? at : at + wait;
  };
  const note = (dueAt: number): void => {
    const again = "UPDATE scrub_due SET noted = noted + 1, due_at = min(due_at, ?) RETURNING noted";
    if (sql.rows(again, dueAt).length > 0) return;
    sql.rows("INSERT INTO scrub_due (one, due_at, noted, ready_at) VALUES (1, ?, 1, ?)", dueAt, findReady(now()));
  };
  async function runNow({ noted, ready_at }: Due): Promise<void> {
    const begun = now();
    sql.rows("UPDATE scrub_due SET due_at = ?", begun + WAIT_MS);
    const { isComplete } = await scrub({ isRewriting: () => (find()?.ready_at ?? 0) <= now() });
    if (!isComplete) return void sql.rows("UPDATE scrub_due SET due_at = ready_at WHERE noted = ?", noted);
    sql.rows("DELETE FROM scrub_due WHERE noted = ?", noted);
    // More was deleted meanwhile, unless another run has noted that already.
    if (find()?.ready_at === ready_at) sql.rows("UPDATE scrub_due SET ready_at = ?", findReady(begun));
  }
  return {
    note: () => note(now() + WAIT_MS),
    noteNow: () => note(now()),
    nextDue,
    resume: () => armAlarm(alarm, nextDue(), now),
    run: async () => {
      try {
        const due = find();
        if (due && due.due_at <= now()) await runNow(due);
      } catch (error) {
        log.warn("tenant.not_scrubbed", { error: toErrorName(error) });
      }
    },
  };
}
