/**
 * What admins did to the tenant, for the deployment's audit log. Each act is a row in the transaction of its entry in the tenant's own log, and
 * waits until the deployment's object has it; there a second delivery adds nothing.
 */
import { type TenantAct, toTenantAct } from "../../app/audit-chain";
import type { Clock, Log } from "../../app/ports";
import type { AuditEntry } from "../../contract/audit";
import type { TenantId } from "../../domain/ids";
import { toErrorName } from "../../lib/error-name";
import type { SyncSql } from "../../lib/sync-sql";
import { armAlarm, type TenantAlarm, toRetryWait } from "../shared/tenant-alarm";

/** act: JSON. due_at, attempts: of the next delivery. */
export const ADMIN_ACT_TABLES: readonly string[] = [
  "CREATE TABLE admin_acts (seq INTEGER PRIMARY KEY, act TEXT NOT NULL, due_at INTEGER NOT NULL, attempts INTEGER NOT NULL) STRICT",
];

const FIRST_RETRY_MS = 5_000;
/** Acts that are delivered in one call. */
const DELIVERED = 100;

export interface AdminActDeps {
  readonly sql: SyncSql;
  readonly tenant: () => TenantId;
  /** The deployment's object takes them, in order. */
  readonly record: (tenant: TenantId, acts: readonly TenantAct[]) => Promise<void>;
  readonly alarm: TenantAlarm;
  readonly now: Clock;
  readonly log: Log;
}

export interface AdminActs {
  /** Keeps an entry that concerns the deployment. Call it inside the transaction of the entry. */
  note(entry: AuditEntry): void;
  /** Delivers what was noted since the last delivery. Without that it returns at once. Never rejects. */
  deliver(): Promise<void>;
  /** Delivers what is due, for the alarm. Never rejects: the alarm rings again for what could not be delivered. */
  run(): Promise<void>;
  nextDue(): number | null;
  /** Arms the alarm for what waits. */
  resume(): Promise<void>;
}

export function createAdminActs({ sql, tenant, record, alarm, now, log }: AdminActDeps): AdminActs {
  let isNoted = false;
  let running: Promise<void> | null = null;

  const nextDue = (): number | null => sql.rows<{ due: number | null }>("SELECT min(due_at) AS due FROM admin_acts")[0]?.due ?? null;
  const resume = (): Promise<void> => armAlarm(alarm, nextDue(), now);
  /** The texts are this file's own. */
  const read = (): readonly TenantAct[] =>
    sql.rows<{ act: string }>("SELECT act FROM admin_acts ORDER BY seq LIMIT ?", DELIVERED).map(({ act }) => JSON.parse(act) as TenantAct);

  function putOff(cause: unknown): void {
    const attempts = sql.rows<{ most: number | null }>("SELECT max(attempts) AS most FROM admin_acts")[0]?.most ?? 0;
    sql.rows("UPDATE admin_acts SET attempts = ?, due_at = ?", attempts + 1, now() + toRetryWait(FIRST_RETRY_MS, attempts));
    log.warn("admin_acts_not_recorded", { error: toErrorName(cause) });
  }
  async function deliverAll(): Promise<void> {
    isNoted = false;
    try {
      for (let acts = read(); acts.length > 0; acts = read()) {
        await record(tenant(), acts);
        sql.rows("DELETE FROM admin_acts WHERE seq <= ?", acts.at(-1)?.seq ?? 0);
      }
    } catch (cause) {
      putOff(cause);
    }
    running = null;
  }
  /** One delivery runs at a time. It also takes what is noted while it runs. */
  const start = (): Promise<void> => {
    running ??= Promise.resolve().then(deliverAll);
    return running;
  };
  return {
    nextDue,
    resume,
    note: (entry) => {
      const act = toTenantAct(tenant(), entry);
      if (!act) return;
      const due = now() + FIRST_RETRY_MS;
      sql.rows("INSERT INTO admin_acts (seq, act, due_at, attempts) VALUES (?, ?, ?, 0)", act.seq, JSON.stringify(act), due);
      isNoted = true;
    },
    deliver: async () => {
      if (!isNoted) return;
      // Set before the call: the alarm survives a crash during it.
      await resume();
      await start();
    },
    run: async () => {
      const due = nextDue();
      if (due !== null && due <= now()) await start();
      await resume();
    },
  };
}
