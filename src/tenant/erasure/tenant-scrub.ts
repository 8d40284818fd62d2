/**
 * Overwrites what was deleted in the files of the tenant's object. What deletes a text of a client notes it in the same transaction, so that
 * the alarm finishes it after a crash. One overwriting covers all deletions until it begins.
 */
import type { Clock, Log } from "../../app/ports";
import { toErrorName } from "../../lib/error-name";
import type { SyncSql } from "../../lib/sync-sql";
import { armAlarm, type TenantAlarm } from "../shared/tenant-alarm";

/** It writes some 15 MB, so that it waits for other deletions. */
const WAIT_MS = 15_000;

export interface TenantScrub {
  /** Call it inside the transaction that deletes. */
  note(): void;
  /** For what is to be overwritten by the next `run`: an end user's name. */
  noteNow(): void;
  nextDue(): number | null;
  resume(): Promise<void>;
  /** Overwrites what was deleted, if that is due. Never rejects. */
  run(): Promise<void>;
}

interface ScrubDeps {
  readonly sql: SyncSql;
  readonly overwrite: () => Promise<void>;
  readonly alarm: TenantAlarm;
  readonly now: Clock;
  readonly log: Log;
}

type Due = { readonly due_at: number; readonly noted: number };

export function createTenantScrub({ sql, overwrite, alarm, now, log }: ScrubDeps): TenantScrub {
  const find = (): Due | null => sql.rows<Due>("SELECT due_at, noted FROM scrub_due")[0] ?? null;
  const nextDue = (): number | null => find()?.due_at ?? null;
  const note = (dueAt: number): void => {
    const insert = "INSERT INTO scrub_due (one, due_at, noted) VALUES (1, ?, 1)";
    sql.rows(`${insert} ON CONFLICT (one) DO UPDATE SET noted = noted + 1, due_at = min(due_at, excluded.due_at)`, dueAt);
  };
  return {
    note: () => note(now() + WAIT_MS),
    noteNow: () => note(now()),
    nextDue,
    resume: () => armAlarm(alarm, nextDue(), now),
    run: async () => {
      const due = find();
      if (!due || due.due_at > now()) return;
      sql.rows("UPDATE scrub_due SET due_at = ?", now() + WAIT_MS);
      try {
        await overwrite();
        // More may have been deleted meanwhile.
        sql.rows("DELETE FROM scrub_due WHERE noted = ?", due.noted);
      } catch (error) {
        log.warn("tenant.not_scrubbed", { error: toErrorName(error) });
      }
    },
  };
}
