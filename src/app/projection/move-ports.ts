/** What a move of a tenant needs of the tenant's object, its sessions and the two databases. */
import type { SessionId, TenantId } from "../../domain/ids";
import type { Act } from "../audit-chain";
import type { Clock } from "../ports";
import type { LogPage, Outcome } from "../session-api";
import type { Schedule } from "../session-ports";
import type { TenantApi, TenantMaintenance } from "../tenant-api";
import type { TenantRows } from "../tenant-rows";
import type { RebuildRows } from "./rebuild-ports";
import type { RebuiltTenant } from "./rebuild-tenant";

export interface Tombstone {
  readonly session: SessionId;
  readonly erased_at: number;
}

/** One database, as a move works in it. */
export interface MoveDatabase {
  /** False while the database lacks a table or a column of this build. */
  hasTables(): Promise<boolean>;
  readonly rows: RebuildRows;
  readonly tenantRows: TenantRows;
  /** In order of the sessions' ids. */
  listTombstones(page: {
    readonly tenant: TenantId;
    readonly after: SessionId | null;
    readonly limit: number;
  }): Promise<readonly Tombstone[]>;
  bury(tenant: TenantId, stones: readonly Tombstone[]): Promise<void>;
  /** Removes a bounded part of everything that the database has of the tenant. True when nothing is left. */
  clearTenant(tenant: TenantId): Promise<boolean>;
}

export interface MovePorts {
  /** Who sends the step, for the audit log. */
  readonly act: Act;
  /** Called anew for each request to the tenant's object. */
  readonly object: () => RebuiltTenant & Pick<TenantMaintenance, "placement" | "place"> & Pick<TenantApi, "listSessions">;
  readonly readLog: (session: SessionId, after: number) => Promise<Outcome<LogPage>>;
  /** Throws when no such database is bound. */
  readonly database: (name: string) => MoveDatabase;
  readonly now: Clock;
  /** The most statements of one step; absent: `STEP_BUDGET`. */
  readonly budget?: number;
  /** Absent: the timers of the platform. */
  readonly schedule?: Schedule;
}
