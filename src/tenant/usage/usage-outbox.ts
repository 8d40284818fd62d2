/**
 * The usage of ended throwaway sessions on its way to the read model. A session reports it with its last call, and keeps nothing: so this object
 * adds it to the sums of its day, and sends those until they have arrived. Sums in which a name was forgotten go the same way.
 */
import type { Clock, Log } from "../../app/ports";
import type { ErasedSessionUsage } from "../../app/tenant-api";
import { type ErasedUsage, NO_SESSION, toDaySession } from "../../domain/erased-usage";
import type { SessionId } from "../../domain/ids";
import type { SyncSql } from "../../lib/sync-sql";
import { toSessionId } from "../shared/directory";
import { armAlarm, type TenantAlarm, toRetryWait } from "../shared/tenant-alarm";
import type { ErasedUsageStore } from "./erased-usage";

const FIRST_RETRY_MS = 15_000;
/** Days or sessions in one write. */
const AT_ONCE = 200;
/**
 * How long a session may report its end again: it has not heard that the first report arrived. It tries again every minute, and each of its
 * lives does.
 */
const REPEATED_MS = 24 * 60 * 60 * 1_000;
/** Sums of older days do not grow: a session ends within hours of its calls. */
const GROWING_MS = 2 * 24 * 60 * 60 * 1_000;

interface UsageOutboxDeps {
  readonly sql: SyncSql;
  readonly store: ErasedUsageStore;
  readonly write: (usage: readonly ErasedSessionUsage[]) => Promise<void>;
  readonly alarm: TenantAlarm;
  readonly now: Clock;
  readonly log: Log;
}

export interface UsageOutbox {
  /** Adds a session's sums to those of their days, once. Call it inside a transaction. */
  add(session: SessionId, usage: readonly ErasedUsage[]): void;
  /** Forgets an end user by the digest of the name. Call it inside a transaction. */
  forget(endUser: string): void;
  /** Forgets all end users and keys, a part at a time. Returns true when none is left. Call it inside a transaction. */
  forgetOwners(): boolean;
  /** True while the read model may still have a name that was forgotten. */
  isForgetting(): boolean;
  /** Sends the sums that may still grow another time: a rebuild is about to write them as they are now. */
  sendAgain(): Promise<void>;
  /** When the alarm must ring for what is not sent. Null: nothing is. */
  nextDue(): number | null;
  /** Arms the alarm if something is not sent and it is not set early enough. */
  resume(): Promise<void>;
  /** Sends what is not sent yet. Never rejects: the alarm repeats a write that failed. Only one drain runs at a time. */
  drain(): Promise<void>;
}

interface Unsent {
  readonly session: SessionId;
  /** How often sums were added when they were read. */
  readonly added: number;
  /** The read model has the sums from before this time. */
  readonly since: number;
}

/** All sums of the session are sent: the read model drops those from before the name was forgotten. */
const MARK_FORGOTTEN =
  "INSERT INTO unsent_usage (session, forgets) VALUES (?, 1) ON CONFLICT (session) DO UPDATE SET added = added + 1, forgets = 1, since = 0";
const MARK_UNSENT =
  "INSERT INTO unsent_usage (session, since) VALUES (?, ?) ON CONFLICT (session) DO UPDATE SET added = added + 1, since = min(since, excluded.since)";

export function createUsageOutbox({ sql, store, write, alarm, now, log }: UsageOutboxDeps): UsageOutbox {
  let running: Promise<void> | null = null;
  /** In memory: a new life of the object begins with the shortest wait. */
  let failures = 0;
  let retryAt: number | null = null;
  /** Up to where owners are forgotten. In memory: a new life of the object looks at all sums again. */
  let forgottenUpTo = "";

  const listUnsent = (): Unsent[] =>
    sql
      .rows<{ session: string; added: number; since: number }>(
        "SELECT session, added, since FROM unsent_usage ORDER BY session LIMIT ?",
        AT_ONCE,
      )
      .map(({ session, ...rest }) => ({ session: toSessionId(session), ...rest }));
  const isBehind = (): boolean => sql.rows("SELECT 1 FROM unsent_usage LIMIT 1").length > 0;
  const nextDue = (): number | null => (isBehind() ? (retryAt ?? now() + FIRST_RETRY_MS) : null);

  const resume = (): Promise<void> => armAlarm(alarm, nextDue(), now);

  async function send(unsent: readonly Unsent[]): Promise<void> {
    await write(unsent.map(({ session, since }) => ({ session, usage: store.listFrom(session, since) })));
    // What was added meanwhile is sent again.
    sql.transaction(() => {
      for (const { session, added } of unsent) sql.rows("DELETE FROM unsent_usage WHERE session = ? AND added = ?", session, added);
    });
  }

  /** False: the session has reported its end before. */
  function noteEnd(session: SessionId): boolean {
    sql.rows("DELETE FROM ended_throwaways WHERE ended_at < ?", now() - REPEATED_MS);
    if (sql.rows("SELECT 1 FROM ended_throwaways WHERE session = ?", session).length > 0) return false;
    sql.rows("INSERT INTO ended_throwaways (session, ended_at) VALUES (?, ?)", session, now());
    return true;
  }

  async function run(): Promise<void> {
    try {
      for (let unsent = listUnsent(); unsent.length > 0; unsent = listUnsent()) await send(unsent);
      failures = 0;
      retryAt = null;
    } catch (cause) {
      const retryInMs = toRetryWait(FIRST_RETRY_MS, failures);
      failures += 1;
      retryAt = now() + retryInMs;
      log.warn("tenant.usage_not_sent", { failures, retry_in_ms: retryInMs, cause });
      await resume();
    } finally {
      running = null;
    }
  }

  return {
    add: (session, usage) => {
      if (usage.length === 0 || !noteEnd(session)) return;
      for (const [day, sums] of Map.groupBy(usage, ({ at }) => toDaySession(at))) {
        store.add(day, sums);
        sql.rows(MARK_UNSENT, day, Math.min(...sums.map(({ at }) => at)));
      }
    },
    forget: (endUser) => {
      for (const session of store.forgetEndUser(endUser)) sql.rows(MARK_FORGOTTEN, session);
    },
    forgetOwners: () => {
      const { changed, last } = store.forgetOwners(forgottenUpTo);
      for (const session of changed) sql.rows(MARK_FORGOTTEN, session);
      forgottenUpTo = last ?? forgottenUpTo;
      return last === null;
    },
    isForgetting: () => sql.rows("SELECT 1 FROM unsent_usage WHERE forgets = 1 LIMIT 1").length > 0,
    sendAgain: async () => {
      const growing = toDaySession(now() - GROWING_MS);
      const days = sql.rows<{ session: string }>("SELECT DISTINCT session FROM erased_usage WHERE session >= ?", growing);
      for (const { session } of days) if (session.endsWith(NO_SESSION)) sql.rows(MARK_UNSENT, session, 0);
      await resume();
    },
    nextDue,
    resume,
    // `run` starts a tick later, so that its `finally` never comes before this assignment.
    drain: () => {
      running ??= Promise.resolve().then(run);
      return running;
    },
  };
}
