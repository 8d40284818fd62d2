/** What may be asked of an audit log: pages of it, and entries of acts that the log's owner does not do itself. */
import type { AuditEntry, AuditPlace, AuditSubject } from "../contract/audit";
import type { Page } from "../contract/page";
import type { SessionId, TenantId } from "../domain/ids";
import type { Act, SessionAct, TenantAct } from "./audit-chain";
import type { TenantOutcome } from "./tenant-api";

export interface AuditQuery {
  /** A seq. Null: from the beginning, or from the end where the order is `desc`. */
  readonly after: number | null;
  readonly limit: number;
  readonly order: "asc" | "desc";
  readonly action: AuditEntry["action"] | null;
  /** The id of a key, access token or admin key. */
  readonly actor: string | null;
  readonly target: string | null;
  /** Epoch milliseconds, inclusive. */
  readonly from: number | null;
  /** Epoch milliseconds, exclusive. */
  readonly to: number | null;
}

export interface AuditPage extends Page<AuditEntry> {
  /** The newest entry that was removed for age, or the genesis: what is left follows it. */
  readonly anchor: AuditPlace;
  /** The newest entry. */
  readonly head: AuditPlace;
}

export interface TenantAuditApi {
  readAudit(query: AuditQuery): Promise<TenantOutcome<AuditPage>>;
  /** The place after which an export begins: the entry `seq`, or the anchor if that entry was removed. Null: there is no such entry yet. */
  findAuditPlace(seq: number): Promise<TenantOutcome<AuditPlace | null>>;
  /** Records an act that was done elsewhere, such as the reading of a session by an admin. */
  recordAct(act: Act, subject: AuditSubject): Promise<TenantOutcome<null>>;
  /** Records what was done in a session, oldest first. An act that is there already makes no second entry. */
  recordSessionActs(session: SessionId, acts: readonly SessionAct[]): Promise<TenantOutcome<null>>;
}

export interface DeploymentAuditApi {
  readAudit(query: AuditQuery): Promise<AuditPage>;
  /** As for a tenant, with the deployment's id, to which the chain belongs. */
  findAuditStart(seq: number): Promise<{ readonly owner: string; readonly anchor: AuditPlace | null }>;
  /** Records what admins did to a tenant, oldest first. An act that is there already makes no second entry. */
  recordTenantActs(tenant: TenantId, acts: readonly TenantAct[]): Promise<void>;
}
