/** What `http` and the sessions may ask of a tenant's object about erasures. */
import type { Page } from "../contract/page";
import type { ErasureId, SessionId } from "../domain/ids";
import type { Act } from "./audit-chain";
import type { ErasureFacts, ReportingStore } from "./erasure-view";
import type { TenantOutcome } from "./tenant-api";

export interface ErasurePage {
  /** The last erasure of the page before. Null: the first page. */
  readonly after: ErasureId | null;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

export interface ErasureNote {
  readonly session: SessionId;
  readonly isKnown: boolean;
  readonly forks?: boolean;
}

/** A call that names an act first makes its entry in the audit log, if the erasure is a new one. */
export interface TenantErasureApi {
  /**
   * Notes that the session is to be erased, if the directory, an earlier note or the caller knows that it existed. `forks`: with its forks,
   * and forks of these. `erasure`: the one that covers the session; null if it is not noted and never was.
   */
  beginErasure(act: Act, input: ErasureNote): Promise<TenantOutcome<{ readonly noted: boolean; readonly erasure: ErasureId | null }>>;
  /** Notes the stores that have yet to report. Returns the session's erasure. */
  noteErasure(session: SessionId, pending: readonly ReportingStore[]): Promise<TenantOutcome<ErasureId | null>>;
  /** Call it when every store has reported: it removes the session and the note from the directory. Returns the session's erasure. */
  endErasure(session: SessionId): Promise<TenantOutcome<ErasureId | null>>;
  /** Erases all sessions of the end user that exist now, and ends the access tokens that were made until now. */
  eraseEndUser(act: Act, endUser: string): Promise<TenantOutcome<ErasureFacts>>;
  /** Deletes the tenant: it answers as an unknown one from then on, and all that it has is erased but sums of its usage. */
  eraseTenant(act: Act): Promise<TenantOutcome<ErasureFacts>>;
  /** Before when an access token of this end user must have been made to be refused. 0: none is. */
  endUserEnded(endUser: string): Promise<TenantOutcome<number>>;
  /** Returns the end users of the list whose erasure is under way. */
  listErasingUsers(endUsers: readonly string[]): Promise<TenantOutcome<readonly string[]>>;
  getErasure(id: ErasureId): Promise<TenantOutcome<ErasureFacts>>;
  listErasures(page: ErasurePage): Promise<TenantOutcome<Page<ErasureFacts>>>;
}
