/** Whether the tenant is served. Its object is the owner of the status; the deployment's list copies it. */
import type { Standing, TenantStatus } from "../../domain/tenant-status";
import type { SyncSql } from "../../lib/sync-sql";

export interface Standings {
  read(): Standing;
  /** A repeated suspension changes nothing: the first time and reason stay. */
  suspend(reason: string | null, at: number): Standing;
  resume(): Standing;
}

type StandingRow = {
  readonly status: string;
  readonly suspended_at: number | null;
  readonly suspend_reason: string | null;
};

/** A status that this build does not know opens nothing. */
const toStatus = (stored: string): TenantStatus => (stored === "active" || stored === "deleted" ? stored : "suspended");

export function createStandings(sql: SyncSql): Standings {
  function read(): Standing {
    const [row] = sql.rows<StandingRow>("SELECT status, suspended_at, suspend_reason FROM tenant");
    if (!row) throw new Error("The tenant's row is missing");
    return { status: toStatus(row.status), suspended_at: row.suspended_at, reason: row.suspend_reason };
  }
  return {
    read,
    suspend: (reason, at) => {
      sql.rows("UPDATE tenant SET status = 'suspended', suspended_at = ?, suspend_reason = ? WHERE status = 'active'", at, reason);
      return read();
    },
    resume: () => {
      sql.rows("UPDATE tenant SET status = 'active', suspended_at = NULL, suspend_reason = NULL WHERE status = 'suspended'");
      return read();
    },
  };
}
