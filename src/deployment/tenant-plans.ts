/** The tenant plans: named sets of limits and budgets. Methods that change rows are called inside a transaction. */

import type { PastAct } from "../app/audit-chain";
import { type Condition, refuseUnmet, toEtag } from "../app/conditions";
import type { PlanChange, PlanOutcome } from "../app/deployment-api";
import type { Budget, LimitSet, TenantPlan } from "../contract/limits";
import { err, ok } from "../lib/result";
import type { SyncSql } from "../lib/sync-sql";

/** An offer has a few plans, and an important customer one of its own. All are one answer of the object. */
export const MAX_PLANS = 200;

export interface TenantPlans {
  put(change: PlanChange, act: PastAct): PlanOutcome<TenantPlan>;
  /** Who made the newest change. Null: there is no such plan, or a build that did not keep it made the change. */
  findAct(name: string): PastAct | null;
  find(name: string): PlanOutcome<TenantPlan>;
  list(): readonly TenantPlan[];
  remove(name: string, condition?: Condition): PlanOutcome<null>;
}

type PlanRow = {
  readonly name: string;
  readonly limits: string;
  readonly budgets: string;
  readonly version: number;
  readonly created_at: number;
  readonly updated_at: number;
};

const COLUMNS = "name, limits, budgets, version, created_at, updated_at";

/** The texts are this object's own, made of values that the API has checked. */
const toPlan = ({ limits, budgets, ...row }: PlanRow): TenantPlan => ({
  ...row,
  limits: JSON.parse(limits) as LimitSet,
  budgets: JSON.parse(budgets) as readonly Budget[],
});

/** The text is this object's own. */
export const parsePastAct = (row: { readonly act: string | null } | undefined): PastAct | null =>
  row?.act ? (JSON.parse(row.act) as PastAct) : null;

/** Takes the next number of all changes of what tenants may use. A tenant's object keeps the newest that it was told, and refuses older ones. */
export function takeRevision(sql: SyncSql): number {
  const [row] = sql.rows<{ newest: number }>("UPDATE revisions SET newest = newest + 1 RETURNING newest");
  if (!row) throw new Error("The row of revisions is missing");
  return row.newest;
}

const isSame = (one: Pick<TenantPlan, "limits" | "budgets">, other: Pick<TenantPlan, "limits" | "budgets">): boolean =>
  toEtag({ limits: one.limits, budgets: one.budgets }) === toEtag({ limits: other.limits, budgets: other.budgets });

export function createTenantPlans(sql: SyncSql): TenantPlans {
  const list = (): readonly TenantPlan[] => sql.rows<PlanRow>(`SELECT ${COLUMNS} FROM plans ORDER BY name`).map(toPlan);

  function find(name: string): PlanOutcome<TenantPlan> {
    const [row] = sql.rows<PlanRow>(`SELECT ${COLUMNS} FROM plans WHERE name = ?`, name);
    return row ? ok(toPlan(row)) : err({ code: "plan_not_found", plan: name });
  }
  function write({ name, limits, budgets }: PlanChange, act: PastAct): void {
    sql.rows(
      `INSERT INTO plans (name, limits, budgets, version, created_at, updated_at, act) VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)
       ON CONFLICT (name) DO UPDATE SET limits = ?2, budgets = ?3, version = ?4, updated_at = ?5, act = ?6`,
      name,
      JSON.stringify(limits),
      JSON.stringify(budgets),
      takeRevision(sql),
      act.at,
      JSON.stringify(act),
    );
  }
  return {
    list,
    find,
    findAct: (name) => parsePastAct(sql.rows<{ act: string | null }>("SELECT act FROM plans WHERE name = ?", name)[0]),
    put: (change, act) => {
      const before = find(change.name);
      const refused = refuseUnmet(change.condition, before.ok ? toEtag(before.value) : null);
      if (refused) return refused;
      if (!before.ok && list().length >= MAX_PLANS) return err({ code: "plan_limit", limit: MAX_PLANS });
      if (!before.ok || !isSame(before.value, change)) write(change, act);
      return find(change.name);
    },
    remove: (name, condition) => {
      const before = find(name);
      if (!before.ok) return before;
      const refused = refuseUnmet(condition, toEtag(before.value));
      if (refused) return refused;
      sql.rows("DELETE FROM plans WHERE name = ?", name);
      return ok(null);
    },
  };
}
