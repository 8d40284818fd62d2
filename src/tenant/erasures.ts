/**
 * The tenant's list of erasures under way. An entry exists from before anything is erased until every store has
 * reported. The alarm repeats an erasure that was cut off, and a repeated request never makes a listed session again.
 */
import type { Clock, Log } from "../app/ports";
import type { SessionId } from "../domain/ids";
import type { SyncSql } from "../lib/sync-sql";
import { toSessionId } from "./directory";

/** The first request runs the erasure itself, so the alarm waits this long before it repeats it. */
const FIRST_RETRY_MS = 15_000;
const MAX_RETRY_MS = 60 * 60 * 1000;
/** The most sessions that one alarm handles. */
const AT_ONCE = 20;

interface ErasureDeps {
  readonly sql: SyncSql;
  readonly alarm: { get(): Promise<number | null>; set(at: number): void };
  /** Calls the session's object, telling it that the session has existed. Returns true when every store has reported. */
  readonly erase: (session: SessionId) => Promise<boolean>;
  readonly now: Clock;
  readonly log: Log;
}

export interface Erasures {
  /** Notes an erasure if the session is in the directory, in an earlier note, or known to the caller. Returns true when it is noted. */
  begin(input: { readonly session: SessionId; readonly isKnown: boolean }): boolean;
  /** Notes an erasure that its session's object began, if the session is in the directory and no note of it is here. */
  noteBegun(session: SessionId): void;
  /** Ends an erasure for which every store has reported: removes the session from the directory, and the note with it. */
  end(session: SessionId): null;
  /** When the alarm must ring for erasures. Null when none is under way. */
  nextDue(): number | null;
  /** Arms the alarm if erasures are under way and it is not set early enough. */
  resume(): Promise<void>;
  /** Repeats the erasures that are due. Never rejects. */
  run(): Promise<void>;
}

type ErasureRow = { readonly session: string; readonly attempts: number };

export function createErasures({ sql, alarm, erase, now, log }: ErasureDeps): Erasures {
  const isKnownHere = (session: SessionId): boolean =>
    sql.rows("SELECT 1 FROM sessions WHERE id = ?1 UNION ALL SELECT 1 FROM erasures WHERE session = ?1", session).length > 0;
  const nextDue = (): number | null => sql.rows<{ due: number | null }>("SELECT min(due_at) AS due FROM erasures")[0]?.due ?? null;
  const end = (session: SessionId): null =>
    sql.transaction(() => {
      sql.rows("DELETE FROM sessions WHERE id = ?", session);
      sql.rows("DELETE FROM erasures WHERE session = ?", session);
      return null;
    });

  async function attempt({ session: id, attempts }: ErasureRow): Promise<void> {
    const session = toSessionId(id);
    const retryInMs = Math.min(FIRST_RETRY_MS * 2 ** attempts, MAX_RETRY_MS);
    sql.rows("UPDATE erasures SET attempts = attempts + 1, due_at = ? WHERE session = ?", now() + retryInMs, session);
    try {
      if (await erase(session)) end(session);
    } catch (cause) {
      log.warn("tenant.erasure_failed", { session, attempts, retry_in_ms: retryInMs, cause });
    }
  }

  async function resume(): Promise<void> {
    const due = nextDue();
    const set = due === null ? null : await alarm.get();
    if (due !== null && (set === null || set > due)) alarm.set(Math.max(due, now()));
  }

  function begin({ session, isKnown }: Parameters<Erasures["begin"]>[0]): boolean {
    if (!isKnown && !isKnownHere(session)) return false;
    const due = now() + FIRST_RETRY_MS;
    sql.rows(
      "INSERT INTO erasures (session, asked_at, due_at, attempts) VALUES (?, ?, ?, 0) ON CONFLICT (session) DO NOTHING",
      session,
      now(),
      due,
    );
    // The client may use the external id again at once: the erasure may have to wait for a store.
    sql.rows("UPDATE sessions SET external_id = NULL WHERE id = ?", session);
    alarm.set(due);
    return true;
  }

  return {
    begin,
    noteBegun: (session) => {
      const isNoted = sql.rows("SELECT 1 FROM erasures WHERE session = ?", session).length > 0;
      if (!isNoted) begin({ session, isKnown: false });
    },
    end,
    nextDue,
    resume,
    run: async () => {
      const due = sql.rows<ErasureRow>("SELECT session, attempts FROM erasures WHERE due_at <= ? ORDER BY due_at LIMIT ?", now(), AT_ONCE);
      for (const row of due) await attempt(row);
      await resume();
    },
  };
}
