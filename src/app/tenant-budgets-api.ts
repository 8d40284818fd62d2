/** What `http` and sessions may ask of a tenant's object about budgets. */
import type { BudgetView } from "../contract/budget";
import type { TenantEventPage } from "../contract/tenant-event";
import type { SessionId } from "../domain/ids";
import type { RenewAnswer, RenewInput } from "./budget-ports";
import type { TenantOutcome } from "./tenant-api";

export interface BudgetQuery {
  readonly end_user: string | null;
  readonly session: SessionId | null;
}

export interface TenantBudgetsApi {
  /** Also for a deleted tenant, whose sessions report for the last time. */
  renewBudget(input: RenewInput): Promise<TenantOutcome<RenewAnswer>>;
  /** Counters of the tenant, or those of an end user or a session. */
  listBudgets(query: BudgetQuery): Promise<TenantOutcome<readonly BudgetView[]>>;
  /** In order of their seq, from after `after` on. */
  listTenantEvents(page: { readonly after: number; readonly limit: number }): Promise<TenantOutcome<TenantEventPage>>;
}
