/** A tenant's budgets as its sessions reach them: what the isolate knows, and the tenant's object. */
import type { BudgetSource } from "../../app/budget-ports";
import type { KnownBudgetsCache } from "../../app/known-budgets";
import type { TenantBudgetsApi } from "../../app/tenant-budgets-api";
import type { TenantId } from "../../domain/ids";

interface SourceDeps {
  readonly tenant: TenantId;
  readonly known: KnownBudgetsCache;
  /** Makes a fresh stub for each call. */
  readonly stub: Pick<TenantBudgetsApi, "renewBudget">;
}

export const createBudgetSource = ({ tenant, known, stub }: SourceDeps): BudgetSource => ({
  peek: () => known.peek(tenant),
  lookUp: () => known.lookUp(tenant),
  learn: (learned) => known.learn(tenant, learned),
  renew: async (input) => {
    const answer = await stub.renewBudget(input);
    if (answer.ok) return answer.value;
    // A tenant that was never created has nothing to be reported to.
    if (input.rows.every(({ need }) => need === 0)) return { kind: "granted", grants: [] };
    throw new Error(answer.error.code);
  },
});
