/** The budgets of a tenant's object over its own SQLite, as sessions reach them. */
import type { BudgetSource, RenewAnswer, RenewInput } from "../../src/app/budget-ports";
import type { Clock } from "../../src/app/ports";
import { type Budget, NO_LIMITS } from "../../src/contract/limits";
import type { SyncSql } from "../../src/lib/sync-sql";
import { createBudgets } from "../../src/tenant/limits/budgets";
import { createTenantLimits, type TenantLimits } from "../../src/tenant/limits/tenant-limits";
import { type BudgetCache, createBudgetCache } from "../../src/tenant/look-ups/budget-source";
import { createTenantEvents, type TenantEvents } from "../../src/tenant/shared/tenant-events";
import { createMigratedSql } from "../tenant/memory-sql";
import { TENANT } from "./builders";

export class BudgetTenant {
  readonly sql: SyncSql;
  readonly #limits: TenantLimits;
  readonly events: TenantEvents;
  readonly renewals: RenewInput[] = [];
  #revision = 0;
  isAway = false;

  readonly now: Clock;

  constructor(now: Clock, budgets: readonly Budget[] = [], sql = createMigratedSql()) {
    this.now = now;
    this.sql = sql;
    this.#limits = createTenantLimits(sql);
    this.events = createTenantEvents(sql, { isDeleted: () => false, appended: () => {} });
    this.set(budgets);
  }

  /** The store is made anew for each call, as in an object that restarts. */
  get budgets() {
    return createBudgets({ sql: this.sql, events: this.events, known: () => this.known() });
  }

  known() {
    const { revision = 0, budgets = [] } = this.#limits.readAssigned() ?? {};
    return { revision, budgets };
  }

  set(budgets: readonly Budget[]): void {
    this.#limits.write({ limits: NO_LIMITS, revision: ++this.#revision, budgets });
  }

  renew(input: RenewInput): RenewAnswer {
    this.renewals.push(input);
    return this.sql.transaction(() => this.budgets.renew(input, this.now()));
  }

  /** What an isolate knows. */
  newCache(): BudgetCache {
    const ask = async () => {
      if (this.isAway) throw new Error("The tenant's object is away");
      return this.known();
    };
    return createBudgetCache({ ask, now: this.now, generation: () => 0, max: 10 });
  }

  source(cache: BudgetCache = this.newCache()): BudgetSource {
    return {
      peek: () => cache.peek(TENANT),
      lookUp: async () => (await cache(TENANT)) ?? this.known(),
      learn: (known) => cache.learn(TENANT, known),
      renew: async (input) => {
        if (this.isAway) throw new Error("The tenant's object is away");
        return this.renew(input);
      },
    };
  }

  /** Of all counters, in counted units. */
  sum(column: "spent" | "held"): number {
    return this.sql.rows<{ sum: number | null }>(`SELECT sum(${column}) AS sum FROM budget_counters`)[0]?.sum ?? 0;
  }

  /** The types of its events, with their thresholds. */
  get told(): readonly string[] {
    return this.events
      .list({ after: 0, limit: 1_000 })
      .data.map(({ type, data }) => ("threshold" in data && data.threshold !== null ? `${type} ${data.threshold}` : type));
  }
}
