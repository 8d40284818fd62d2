/** The calls of a tenant's object about budgets, and its events. */
import { ok } from "../lib/result";
import { type Calls, existing, lasting } from "./existing-tenant";

export const budgetCalls = {
  renewBudget: lasting((tenant, input) => {
    // A deleted tenant counts nothing any more, and its sessions must be able to end.
    if (!tenant.isOpen) return ok({ kind: "granted", grants: [] });
    return ok(tenant.transaction(() => tenant.budgets.renew(input, Date.now())));
  }),
  listBudgets: existing((tenant, { end_user, session }) => {
    const digest = end_user === null ? null : tenant.digestEndUser(end_user);
    return ok(tenant.budgets.list({ end_user: digest, session }, Date.now()));
  }),
  listTenantEvents: existing(({ events }, page) => ok(events.list(page))),
} satisfies Pick<Calls, "renewBudget" | "listBudgets" | "listTenantEvents">;
