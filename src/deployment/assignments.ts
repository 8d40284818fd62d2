/**
 * What each tenant may use: its plan, and limits and budgets of its own over the plan's. A change is sent to the tenants' objects, which keep it, so that
 * nothing on a turn's path asks this object. Tenants that have not confirmed are a durable list. Methods that change rows are called inside a
 * transaction.
 */
import type { PastAct } from "../app/audit-chain";
import type { AssignmentChange, PlanOutcome } from "../app/deployment-api";
import type { AssignedLimits } from "../app/tenant-limits-api";
import type { Budget, LimitSet, LimitSetInput, TenantAssignment } from "../contract/limits";
import { parseId, type TenantId } from "../domain/ids";
import { backOff } from "../lib/back-off";
import { err, ok } from "../lib/result";
import type { SyncSql } from "../lib/sync-sql";
import { parsePastAct, type TenantPlans, takeRevision } from "./tenant-plans";

export interface Assignments {
  change(change: AssignmentChange, act: PastAct): PlanOutcome<TenantAssignment>;
  find(tenant: TenantId): TenantAssignment;
  /** What is sent to the tenant's object. */
  read(tenant: TenantId): AssignedLimits;
  countWith(plan: string): number;
  /** Enters all tenants with the plan in the list of those that have not confirmed. */
  noteChanged(plan: string, at: number): void;
  listDue(at: number, most: number): readonly TenantId[];
  nextDue(): number | null;
  /** The tenant's object has kept this revision: it leaves the list, unless there is a newer one. */
  confirm(tenant: TenantId, revision: number): void;
  /** The tenant does not exist: nothing more is sent. */
  forget(tenant: TenantId): void;
  putOff(tenant: TenantId, at: number): void;
}

type AssignmentRow = {
  readonly plan: string | null;
  readonly limits: string;
  readonly budgets: string;
  readonly revision: number;
  readonly act: string | null;
};

const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 60 * 60 * 1_000;
const NOTHING: AssignmentRow = { plan: null, limits: "{}", budgets: "[]", revision: 0, act: null };

/** The tenant's own limits over those of its plan. A null of its own: no limit, whatever the plan says. */
const combine = (plan: LimitSetInput, own: LimitSetInput): LimitSet => ({
  tenant: { ...plan.tenant, ...own.tenant },
  key: { ...plan.key, ...own.key },
  end_user: { ...plan.end_user, ...own.end_user },
});

type Own = Pick<AssignmentRow, "plan" | "limits" | "budgets">;
const isSame = (one: Own, other: Own): boolean => one.plan === other.plan && one.limits === other.limits && one.budgets === other.budgets;

/** The plan's budgets and the tenant's own. One of its own replaces the plan's of that name. */
const combineBudgets = (plan: readonly Budget[], own: readonly Budget[]): readonly Budget[] => [
  ...plan.filter(({ name }) => !own.some((budget) => budget.name === name)),
  ...own,
];

export function createAssignments(sql: SyncSql, plans: TenantPlans): Assignments {
  const row = (tenant: TenantId): AssignmentRow =>
    sql.rows<AssignmentRow>("SELECT plan, limits, budgets, revision, act FROM assignments WHERE tenant = ?", tenant)[0] ?? NOTHING;
  const findPlan = ({ plan }: AssignmentRow) => {
    const found = plan === null ? null : plans.find(plan);
    return found?.ok ? found.value : null;
  };
  /** The text is this object's own, made of what the API has checked. */
  const parseOwn = ({ limits }: AssignmentRow): LimitSetInput => JSON.parse(limits) as LimitSetInput;
  const parseBudgets = ({ budgets }: AssignmentRow): readonly Budget[] => JSON.parse(budgets) as readonly Budget[];
  const isPending = (tenant: TenantId): boolean => sql.rows("SELECT 1 FROM pushes WHERE tenant = ?", tenant).length > 0;

  function read(tenant: TenantId): AssignedLimits {
    const known = row(tenant);
    const plan = findPlan(known);
    const revision = Math.max(known.revision, plan?.version ?? 0);
    const act = plan && plan.version > known.revision ? plans.findAct(plan.name) : parsePastAct(known);
    const limits = combine(plan?.limits ?? {}, parseOwn(known));
    const budgets = combineBudgets(plan?.budgets ?? [], parseBudgets(known));
    return { revision, plan: known.plan, limits, budgets, act };
  }
  function find(tenant: TenantId): TenantAssignment {
    const { revision, plan, limits, budgets = [] } = read(tenant);
    const known = row(tenant);
    return {
      plan: plan ?? null,
      limits: combine({}, parseOwn(known)),
      effective_limits: limits,
      budgets: parseBudgets(known),
      effective_budgets: budgets,
      version: revision,
      confirmed: !isPending(tenant),
    };
  }
  return {
    find,
    read,
    change: ({ tenant, plan, limits, budgets }, act) => {
      const known = row(tenant);
      const next = {
        plan: plan === undefined ? known.plan : plan,
        limits: limits === undefined ? known.limits : JSON.stringify(limits ?? {}),
        budgets: budgets === undefined ? known.budgets : JSON.stringify(budgets ?? []),
      };
      if (next.plan !== null) {
        const found = plans.find(next.plan);
        if (!found.ok) return err(found.error);
      }
      if (isSame(next, known)) return ok(find(tenant));
      sql.rows(
        `INSERT INTO assignments (tenant, plan, limits, budgets, revision, act) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (tenant) DO UPDATE SET plan = ?2, limits = ?3, budgets = ?4, revision = ?5, act = ?6`,
        tenant,
        next.plan,
        next.limits,
        next.budgets,
        takeRevision(sql),
        JSON.stringify(act),
      );
      sql.rows(
        "INSERT INTO pushes (tenant, due_at, attempts) VALUES (?1, ?2, 0) ON CONFLICT (tenant) DO UPDATE SET due_at = ?2, attempts = 0",
        tenant,
        act.at,
      );
      return ok(find(tenant));
    },
    countWith: (plan) => sql.rows<{ n: number }>("SELECT count(*) AS n FROM assignments WHERE plan = ?", plan)[0]?.n ?? 0,
    noteChanged: (plan, at) => {
      sql.rows(
        `INSERT INTO pushes (tenant, due_at, attempts) SELECT tenant, ?2, 0 FROM assignments WHERE plan = ?1
         ON CONFLICT (tenant) DO UPDATE SET due_at = ?2, attempts = 0`,
        plan,
        at,
      );
    },
    listDue: (at, most) =>
      sql
        .rows<{ tenant: string }>("SELECT tenant FROM pushes WHERE due_at <= ? ORDER BY due_at LIMIT ?", at, most)
        .flatMap(({ tenant }) => parseId("ten", tenant) ?? []),
    nextDue: () => sql.rows<{ due_at: number | null }>("SELECT min(due_at) AS due_at FROM pushes")[0]?.due_at ?? null,
    confirm: (tenant, revision) => {
      if (revision >= read(tenant).revision) sql.rows("DELETE FROM pushes WHERE tenant = ?", tenant);
    },
    forget: (tenant) => {
      sql.rows("DELETE FROM pushes WHERE tenant = ?", tenant);
    },
    putOff: (tenant, at) => {
      const attempts = sql.rows<{ attempts: number }>("SELECT attempts FROM pushes WHERE tenant = ?", tenant)[0]?.attempts ?? 0;
      const wait = backOff(attempts, { first: FIRST_RETRY_MS, longest: LONGEST_RETRY_MS });
      sql.rows("UPDATE pushes SET attempts = ?, due_at = ? WHERE tenant = ?", attempts + 1, at + wait, tenant);
    },
  };
}
