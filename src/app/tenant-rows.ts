/** A tenant's rows in the read model, for rebuilding them and for the list of tenants. */
import type { Page } from "../contract/page";
import type { RowDifference } from "../contract/rebuild";
import type { SessionId, TenantId } from "../domain/ids";
import type { RowSnapshot } from "./diff-rows";
import type { ErasedSessionUsage, SessionPage, TenantChange } from "./tenant-api";

export interface TenantIds {
  /** Tenants with a row in the read model, in order of their ids. */
  listTenantIds(page: { readonly after: TenantId | null; readonly limit: number }): Promise<Page<TenantId>>;
}

/** A tenant's rows in the read model, and the rows that it should have. */
export interface TenantRows {
  /** Reads all rows at once: a tenant has few models. */
  read(tenant: TenantId): Promise<RowSnapshot>;
  expect(change: TenantChange): RowSnapshot;
  /** Sessions that have a row, newest first, including those that the tenant's directory does not know. */
  listSessions(page: { readonly tenant: TenantId; readonly after: SessionId | null; readonly limit: number }): Promise<SessionPage>;
  /** As `removeUsage` of the tenant's projection, in this database alone. */
  removeUsage(input: { readonly tenant: TenantId; readonly before: number }): Promise<boolean>;
  /**
   * Compares the usage of erased sessions after `after` and up to `upTo` (null: to the end) with the given usage, and corrects the rows.
   */
  mendErasedUsage(input: {
    readonly tenant: TenantId;
    readonly after: SessionId | null;
    readonly upTo: SessionId | null;
    readonly usage: readonly ErasedSessionUsage[];
  }): Promise<{ readonly differences: readonly RowDifference[]; readonly rows: number }>;
}
