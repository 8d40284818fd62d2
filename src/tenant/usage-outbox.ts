/**
 * The usage of ended throwaway sessions on its way to the read model. A session reports it with its last call, and keeps nothing: so this object
 * sends it, that of many sessions in one statement, until it has arrived.
 */
import type { Clock, Log } from "../app/ports";
import type { ErasedSessionUsage } from "../app/tenant-api";
import type { ErasedUsage } from "../domain/erased-usage";
import type { SessionId } from "../domain/ids";
import { toSessionId } from "./directory";
import type { ErasedUsageStore } from "./erased-usage";
import type { TenantSql } from "./tenant-sql";

const FIRST_RETRY_MS = 15_000;
const MAX_RETRY_MS = 60 * 60 * 1_000;
/** Sessions in one write. Most of them have one row. */
const AT_ONCE = 200;

interface UsageOutboxDeps {
  readonly sql: TenantSql;
  readonly store: ErasedUsageStore;
  readonly write: (usage: readonly ErasedSessionUsage[]) => Promise<void>;
  readonly alarm: { get(): Promise<number | null>; set(at: number): void };
  readonly now: Clock;
  readonly log: Log;
}

export interface UsageOutbox {
  /** Stores a session's sums. Call it inside a transaction. Repeated sums replace themselves, and are sent again. */
  add(session: SessionId, usage: readonly ErasedUsage[]): void;
  /** When the alarm must ring for what is not sent. Null: nothing is. */
  nextDue(): number | null;
  /** Arms the alarm if something is not sent and it is not set early enough. */
  resume(): Promise<void>;
  /** Sends what is not sent yet. Never rejects: the alarm repeats a write that failed. Only one drain runs at a time. */
  drain(): Promise<void>;
}

export function createUsageOutbox({ sql, store, write, alarm, now, log }: UsageOutboxDeps): UsageOutbox {
  let running: Promise<void> | null = null;
  /** In memory: a new life of the object begins with the shortest wait. */
  let failures = 0;
  let retryAt: number | null = null;

  const listUnsent = (): SessionId[] =>
    sql
      .rows<{ session: string }>("SELECT session FROM unsent_usage ORDER BY session LIMIT ?", AT_ONCE)
      .map(({ session }) => toSessionId(session));
  const nextDue = (): number | null => (listUnsent().length === 0 ? null : (retryAt ?? now() + FIRST_RETRY_MS));

  async function resume(): Promise<void> {
    const due = nextDue();
    const set = due === null ? null : await alarm.get();
    if (due !== null && (set === null || set > due)) alarm.set(Math.max(due, now()));
  }

  async function send(sessions: readonly SessionId[]): Promise<void> {
    const usage = sessions.map((session) => ({ session, usage: store.keep(session, []) }));
    await write(usage);
    // Sums that were repeated meanwhile are the same.
    sql.transaction(() => {
      for (const session of sessions) sql.rows("DELETE FROM unsent_usage WHERE session = ?", session);
    });
  }

  async function run(): Promise<void> {
    try {
      for (let unsent = listUnsent(); unsent.length > 0; unsent = listUnsent()) await send(unsent);
      failures = 0;
      retryAt = null;
    } catch (cause) {
      const retryInMs = Math.min(FIRST_RETRY_MS * 2 ** failures, MAX_RETRY_MS);
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
      if (usage.length === 0) return;
      store.keep(session, usage);
      sql.rows("INSERT INTO unsent_usage (session) VALUES (?) ON CONFLICT (session) DO NOTHING", session);
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
