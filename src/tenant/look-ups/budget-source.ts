/** A tenant's budgets as its sessions reach them: what the isolate knows, and the tenant's object. */
import type { KnownBudgets } from "../../app/budget-counters";
import type { BudgetSource } from "../../app/budget-ports";
import type { TenantBudgetsApi } from "../../app/tenant-budgets-api";
import type { TenantId } from "../../domain/ids";
import { createLookUpCache, type LookUpCache, type LookUpCacheDeps } from "./look-up-cache";

/** A new budget holds within this time. */
export const KNOWN_BUDGETS_MS = 60_000;

const NONE: KnownBudgets = { revision: 0, budgets: [] };

/** What an isolate knows of tenants' budgets. It is asked on each model call, so what is fresh is answered without a step in between. */
export type BudgetCache = LookUpCache<KnownBudgets>;

/** A tenant that does not exist has no budgets, and is not asked for again on each call. */
export const createBudgetCache = ({ ask, ...deps }: Omit<LookUpCacheDeps<KnownBudgets>, "ttlMs">): BudgetCache =>
  createLookUpCache({ ...deps, ttlMs: KNOWN_BUDGETS_MS, ask: async (tenant) => (await ask(tenant)) ?? NONE });

interface SourceDeps {
  readonly tenant: TenantId;
  readonly known: BudgetCache;
  /** Makes a fresh stub for each call. */
  readonly stub: Pick<TenantBudgetsApi, "renewBudget">;
}

export const createBudgetSource = ({ tenant, known, stub }: SourceDeps): BudgetSource => ({
  peek: () => known.peek(tenant),
  lookUp: async () => (await known(tenant)) ?? NONE,
  learn: (learned) => known.learn(tenant, learned),
  renew: async (input) => {
    const answer = await stub.renewBudget(input);
    if (answer.ok) return answer.value;
    // A tenant that was never created has nothing to be reported to.
    if (input.rows.every(({ need }) => need === 0)) return { kind: "granted", grants: [] };
    throw new Error(answer.error.code);
  },
});
