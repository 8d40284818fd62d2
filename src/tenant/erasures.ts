/**
 * The tenant's note of the erasures that are under way: from before anything is erased until every store has reported. The object's alarm asks
 * again for what was cut off; a session that stands here is made by no repeated request again.
 */
import type { Clock, Log } from "../app/ports";
import type { SessionId } from "../domain/ids";
import { toSessionId } from "./directory";
import type { TenantSql } from "./tenant-sql";

/** Whoever asked is at it: the alarm comes for what it leaves. */
const FIRST_RETRY_MS = 15_000;
const MAX_RETRY_MS = 60 * 60 * 1000;
/** Sessions that one alarm asks for. */
const AT_ONCE = 20;

interface ErasureDeps {
  readonly sql: TenantSql;
  readonly alarm: { get(): Promise<number | null>; set(at: number): void };
  /** Asks the session's object, which is told that the session was; true: every store has reported. */
  readonly erase: (session: SessionId) => Promise<boolean>;
  readonly now: Clock;
  readonly log: Log;
}

export interface Erasures {
  /** Notes it if the directory or an earlier note knows the session, or the caller does. True: it is noted. */
  begin(input: { readonly session: SessionId; readonly isKnown: boolean }): boolean;
  /** Every store has reported: the session leaves the directory with the note. */
  end(session: SessionId): null;
  /** When the alarm must ring for them; null: none is under way. */
  nextDue(): number | null;
  /** Arms the alarm if what is under way has none. */
  resume(): Promise<void>;
  /** Asks again for what is due. Never rejects. */
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

  return {
    begin: ({ session, isKnown }) => {
      if (!isKnown && !isKnownHere(session)) return false;
      const due = now() + FIRST_RETRY_MS;
      sql.rows(
        "INSERT INTO erasures (session, asked_at, due_at, attempts) VALUES (?, ?, ?, 0) ON CONFLICT (session) DO NOTHING",
        session,
        now(),
        due,
      );
      alarm.set(due);
      return true;
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
