/** Tells tenants' objects what they may use, in parts, until each has confirmed. The object's alarm goes on with those that have not. */
import type { Clock, Log } from "../app/ports";
import type { AssignedLimits } from "../app/tenant-limits-api";
import type { TenantId } from "../domain/ids";
import { toErrorName } from "../lib/error-name";
import type { SyncSql } from "../lib/sync-sql";
import type { Assignments } from "./assignments";

/** Tenants' objects that are called at one time. */
export const PUSH_PART = 50;

export interface PushDeps {
  readonly sql: SyncSql;
  readonly assignments: Assignments;
  /** Returns the newest revision that the tenant's object knows. Null: there is no such tenant. */
  readonly tell: (tenant: TenantId, assigned: AssignedLimits) => Promise<{ readonly revision: number } | null>;
  readonly setAlarm: (at: number) => void;
  readonly now: Clock;
  readonly log: Log;
}

export interface LimitPushes {
  /** Tells one part of those that are due, and sets the alarm for the next. */
  run(): Promise<void>;
  /** Tells one tenant now. A failure is left to the alarm. */
  tellNow(tenant: TenantId): Promise<void>;
  /** Sets the alarm while there is a tenant that has not confirmed. */
  arm(): void;
}

export function createLimitPushes({ sql, assignments, tell, setAlarm, now, log }: PushDeps): LimitPushes {
  async function tellOne(tenant: TenantId): Promise<void> {
    try {
      const kept = await tell(tenant, assignments.read(tenant));
      sql.transaction(() => (kept ? assignments.confirm(tenant, kept.revision) : assignments.forget(tenant)));
    } catch (cause) {
      sql.transaction(() => assignments.putOff(tenant, now()));
      log.warn("limits_not_told", { tenant_id: tenant, error: toErrorName(cause) });
    }
  }
  function arm(): void {
    const due = assignments.nextDue();
    if (due !== null) setAlarm(Math.max(due, now()));
  }
  return {
    arm,
    run: async () => {
      await Promise.all(assignments.listDue(now(), PUSH_PART).map(tellOne));
      arm();
    },
    tellNow: async (tenant) => {
      // Set before the call: the alarm survives a crash during it.
      arm();
      await tellOne(tenant);
    },
  };
}
