/**
 * Which counters a model call touches. A counter is what one budget has for one subject in one period: the tenant, an end user or a session;
 * a day or a month in UTC. Money is counted in billionths of a US dollar, so that sums are exact. Pure.
 */
import type { Budget } from "../contract/limits";
import type { CallPurpose } from "../domain/model-call";

/** Everything that a tenant's object must know to find or to make the counter. */
export interface CounterRef extends Omit<Budget, "amount"> {
  /** Empty for the tenant, the digest of the name for an end user, the id for a session. */
  readonly subject: string;
  /** The first millisecond of the period. */
  readonly starts_at: number;
}

/** The budgets of a tenant, as its object has them. */
export interface KnownBudgets {
  /** Counts the deployment's changes. */
  readonly revision: number;
  readonly budgets: readonly Budget[];
}

/** Whose call it is. `end_user`: the digest of the name. Null: none. */
interface Payer {
  readonly session: string;
  readonly end_user: string | null;
}

const NANO = 1_000_000_000;
/** The largest amount that is counted exactly: nine million dollars. */
const MOST_UNITS = Number.MAX_SAFE_INTEGER - 1;

/** US dollars as billionths, rounded up. The product's own noise of floating point is no reason to round up. */
export const toNano = (dollars: number): number => Math.min(MOST_UNITS, Math.ceil(Number((dollars * NANO).toPrecision(15)) - 1e-6));

/** A budget's amount in the units that its counters count. What is beyond exact counting is the most that is counted. */
export const toUnits = ({ unit, amount }: Pick<Budget, "unit" | "amount">): number =>
  Math.min(MOST_UNITS, Math.floor(unit === "usd" ? Number((amount * NANO).toPrecision(15)) : amount));

/** Counted units as the API shows them: US dollars, or tokens. */
export const fromUnits = (unit: Budget["unit"], units: number): number => (unit === "usd" ? units / NANO : units);

interface Period {
  readonly starts_at: number;
  readonly ends_at: number;
}

export function periodAt(period: Budget["period"], at: number): Period {
  const date = new Date(at);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  return period === "day"
    ? { starts_at: Date.UTC(year, month, day), ends_at: Date.UTC(year, month, day + 1) }
    : { starts_at: Date.UTC(year, month, 1), ends_at: Date.UTC(year, month + 1, 1) };
}

export const toPeriodEnd = ({ period, starts_at }: Pick<CounterRef, "period" | "starts_at">): number => periodAt(period, starts_at).ends_at;

/** Names the counter. The amount is no part of it: a budget that is given another amount goes on with what was spent. */
export const counterKey = ({ name, of, subject, unit, purposes, period, starts_at }: CounterRef): string =>
  JSON.stringify([name, of, subject, unit, purposes, period, starts_at]);

/** Whose counter of the budget counts the payer's calls. Null: none does, because the session has no end user. */
export function findSubject(of: Budget["of"], { session, end_user }: Payer): string | null {
  if (of === "tenant") return "";
  return of === "session" ? session : end_user;
}

const counts = ({ purposes }: Budget, purpose: CallPurpose): boolean => purposes === "all" || purpose === "compaction";

/** Whether any budget may count the call, for any payer. */
export const isBudgeted = ({ budgets }: KnownBudgets, purpose: CallPurpose): boolean => budgets.some((budget) => counts(budget, purpose));

/** The counters that the call touches, each once. It must have room in all of them. */
export function touchedCounters(
  { budgets }: KnownBudgets,
  { purpose, payer, at }: { readonly purpose: CallPurpose; readonly payer: Payer; readonly at: number },
): readonly CounterRef[] {
  return budgets.flatMap((budget) => {
    const subject = findSubject(budget.of, payer);
    if (subject === null || !counts(budget, purpose)) return [];
    const { amount: _, ...ref } = budget;
    return [{ ...ref, subject, starts_at: periodAt(budget.period, at).starts_at }];
  });
}
