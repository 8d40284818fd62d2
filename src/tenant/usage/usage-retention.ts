/**
 * Removes usage by whole months. The databases go first, each with its bound, and this object last: at any moment in between the sums of what is
 * not too old are complete. A removal that has begun is finished, whatever the rules are then: the bound hides the rows already.
 */
import type { Clock, Log } from "../../app/ports";
import type { SyncSql } from "../../lib/sync-sql";
import { giveWay } from "../../lib/timer";
import { toMonthStart } from "../../lib/utc-time";
import { armAlarm, type TenantAlarm, toRetryWait } from "../shared/tenant-alarm";
import type { UsageBound } from "./usage-bound";

/** Parts that one alarm removes: each is one request to each database. */
const PARTS_AT_ONCE = 20;
const FIRST_RETRY_MS = 60_000;
/** How often a suspended tenant is looked at. */
const LOOK_AGAIN_MS = 24 * 60 * 60 * 1_000;

interface UsageRetentionDeps {
  readonly sql: SyncSql;
  readonly bound: UsageBound;
  /** The rule, and when it begins. Null: there is none. */
  readonly readRule: () => { readonly months: number; readonly starts_at: number } | null;
  readonly isSuspended: () => boolean;
  /** Removes a part from every database that is written to. True when none is left. */
  readonly remove: (before: number) => Promise<boolean>;
  readonly alarm: TenantAlarm;
  readonly now: Clock;
  readonly log: Log;
}

export interface UsageRetention {
  /** When the alarm must ring. Null: there is no rule, and nothing to finish. */
  nextDue(): number | null;
  resume(): Promise<void>;
  /** Removes what is due. Never rejects. Only one run goes on at a time. */
  run(): Promise<void>;
  /** Resolves when no removal is under way. */
  settle(): Promise<void>;
}

export function createUsageRetention({ sql, bound, readRule, alarm, now, log, ...deps }: UsageRetentionDeps): UsageRetention {
  let running: Promise<void> | null = null;
  /** In memory: a new life of the object begins with the shortest wait. */
  let failures = 0;
  let retryAt = 0;

  const isUnfinished = (): boolean => {
    const { wanted, applied } = bound.read();
    return wanted !== applied || !bound.isCleared();
  };
  const hasBegun = (): boolean => (readRule()?.starts_at ?? Number.POSITIVE_INFINITY) <= now() && !deps.isSuspended();

  function nextDue(): number | null {
    if (isUnfinished()) return Math.max(now(), retryAt);
    const rule = readRule();
    if (!rule) return null;
    const isDone = (bound.read().applied ?? Number.NEGATIVE_INFINITY) >= toMonthStart(now(), rule.months);
    const due = isDone ? toMonthStart(now(), -1) : now();
    return Math.max(due, rule.starts_at, deps.isSuspended() ? now() + LOOK_AGAIN_MS : 0);
  }
  const resume = (): Promise<void> => armAlarm(alarm, nextDue(), now);

  async function remove(before: number): Promise<void> {
    for (let part = 0; part < PARTS_AT_ONCE; part++)
      if (await deps.remove(before)) {
        // A bound that was raised meanwhile is another run's.
        sql.transaction(() => {
          if (bound.read().wanted === before) bound.apply();
        });
        return;
      }
  }

  async function clear(): Promise<void> {
    while (!bound.isCleared()) {
      sql.transaction(() => bound.clearSome());
      if (!bound.isCleared()) await giveWay();
    }
  }

  async function runOnce(): Promise<void> {
    const rule = readRule();
    if (rule && hasBegun()) {
      const before = toMonthStart(now(), rule.months);
      if (before > (bound.read().wanted ?? Number.NEGATIVE_INFINITY)) bound.want(before);
    }
    const { wanted, applied } = bound.read();
    if (wanted === null || !isUnfinished() || retryAt > now()) return;
    try {
      if (wanted !== applied) await remove(wanted);
      await clear();
      failures = 0;
      retryAt = 0;
    } catch (cause) {
      const wait = toRetryWait(FIRST_RETRY_MS, failures);
      failures += 1;
      retryAt = now() + wait;
      log.warn("tenant.usage_not_removed", { failures, retry_in_ms: wait, cause });
    }
  }

  return {
    nextDue,
    resume,
    settle: async () => {
      await running;
      await resume();
    },
    run: async () => {
      running ??= runOnce().finally(() => {
        running = null;
      });
      await running;
      await resume();
    },
  };
}
