/**
 * The counters of the tenant's budgets. A session reports what it spent and holds, and asks for more, in one transaction (docs/budgets.md).
 * What a counter has is spent, held by sessions, or left; nothing is granted that is not left, so that a budget is never exceeded.
 */

import {
  type CounterRef,
  counterKey,
  findSubject,
  fromUnits,
  type KnownBudgets,
  periodAt,
  toPeriodEnd,
  toUnits,
} from "../../app/budget-counters";
import type { ExhaustedBudget, RenewAnswer, RenewInput, RenewRow } from "../../app/budget-ports";
import { type CounterState, countLeft, planGrant } from "../../app/plan-grant";
import type { BudgetQuery } from "../../app/tenant-budgets-api";
import type { BudgetView } from "../../contract/budget";
import type { Budget } from "../../contract/limits";
import type { SyncSql } from "../../lib/sync-sql";
import type { TenantEvents } from "../shared/tenant-events";

/** Counters are kept this long after their period. What is reported of older ones is no longer counted. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1_000;
/** Longer than any report can be on its way. Numbers of reports are not below the time at which they were made. */
const REPORTS_KEPT_MS = 40 * 24 * 60 * 60 * 1_000;
/** Old rows that one report removes at most: a counter of a month has a holder for each session of the tenant. */
const FORGOTTEN_AT_ONCE = 500;
const THRESHOLDS = [50, 80, 100] as const;

export interface Budgets {
  known(): KnownBudgets;
  /** Call it inside a transaction. */
  renew(input: RenewInput, now: number): RenewAnswer;
  /** `end_user`: the digest. */
  list(query: BudgetQuery, now: number): readonly BudgetView[];
}

type CounterRow = {
  readonly amount: number;
  readonly spent: number;
  readonly held: number;
  readonly holders: number;
  readonly crossed: number;
  readonly reached: number;
};
type HolderRow = { readonly spent: number; readonly held: number };

interface BudgetDeps {
  readonly sql: SyncSql;
  readonly events: TenantEvents;
  readonly known: () => KnownBudgets;
}

const NO_ROW: CounterRow = { amount: 0, spent: 0, held: 0, holders: 0, crossed: 0, reached: 0 };

const isSame = (ref: CounterRef, { name, of, unit, purposes, period }: Budget): boolean =>
  ref.name === name && ref.of === of && ref.unit === unit && ref.purposes === purposes && ref.period === period;

const findBudget = (ref: CounterRef, { budgets }: KnownBudgets): Budget | null => budgets.find((budget) => isSame(ref, budget)) ?? null;

class BudgetStore implements Budgets {
  readonly #deps: BudgetDeps;
  /** Old rows may be left. A new life of the object looks, and so does what follows a new counter. */
  #mayForget = true;

  constructor(deps: BudgetDeps) {
    this.#deps = deps;
  }

  known(): KnownBudgets {
    return this.#deps.known();
  }

  renew({ session, seq, revision, rows }: RenewInput, now: number): RenewAnswer {
    const { sql } = this.#deps;
    const [last] = sql.rows<{ seq: number }>("SELECT seq FROM budget_reports WHERE session = ?", session);
    if (last && last.seq >= seq) return { kind: "stale", seq: last.seq };
    sql.rows("INSERT INTO budget_reports (session, seq) VALUES (?1, ?2) ON CONFLICT (session) DO UPDATE SET seq = ?2", session, seq);
    const known = this.known();
    const counted = rows.filter(({ ref }) => toPeriodEnd(ref) + KEPT_MS > now);
    for (const row of counted) this.#report(session, row);
    const asked = counted.filter(({ need }) => need > 0);
    if (this.#mayForget) this.#mayForget = !this.#forgetOld(now);
    const answer = this.#grant(session, { asked, known, isCurrent: revision === known.revision });
    const refused = answer.kind === "refused" ? answer.refusal.budget : null;
    // The report may have other counters of the budget: those of earlier periods, and of an earlier end user. The call needs nothing of them.
    for (const { ref, need } of counted) this.#announce(ref, known, { now, isRefused: need > 0 && ref.name === refused });
    return answer;
  }

  #find(counter: string): CounterRow | null {
    const query = "SELECT amount, spent, held, holders, crossed, reached FROM budget_counters WHERE counter = ?";
    return this.#deps.sql.rows<CounterRow>(query, counter)[0] ?? null;
  }

  #findHolder(counter: string, session: string): HolderRow {
    const query = "SELECT spent, held FROM budget_holders WHERE counter = ? AND session = ?";
    return this.#deps.sql.rows<HolderRow>(query, counter, session)[0] ?? { spent: 0, held: 0 };
  }

  /** Replaces what the session reported before. A wallet that was made anew has spent less than the one before it, and all of it is new. */
  #report(session: string, { ref, spent, held }: RenewRow): void {
    const counter = counterKey(ref);
    const before = this.#findHolder(counter, session);
    const more = spent >= before.spent ? spent - before.spent : spent;
    this.#hold({ counter, session, spent, held }, before);
    this.#add(ref, { spent: more, held: held - before.held, holders: Number(held > 0) - Number(before.held > 0) });
  }

  #hold({ counter, session, spent, held }: HolderRow & { readonly counter: string; readonly session: string }, before: HolderRow): void {
    if (spent === before.spent && held === before.held) return;
    this.#deps.sql.rows(
      "INSERT INTO budget_holders (counter, session, spent, held) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (counter, session) DO UPDATE SET spent = ?3, held = ?4",
      counter,
      session,
      spent,
      held,
    );
  }

  #add(ref: CounterRef, more: Pick<CounterState, "spent" | "held" | "holders">): void {
    const { sql } = this.#deps;
    const counter = counterKey(ref);
    const query =
      "UPDATE budget_counters SET spent = spent + ?, held = held + ?, holders = holders + ? WHERE counter = ? RETURNING 1 AS one";
    if (sql.rows(query, more.spent, more.held, more.holders, counter).length > 0) return;
    this.#mayForget = true;
    sql.rows(
      "INSERT INTO budget_counters (counter, ends_at, amount, spent, held, holders, crossed, reached) VALUES (?, ?, 0, ?, ?, ?, 0, 0)",
      counter,
      toPeriodEnd(ref),
      more.spent,
      more.held,
      more.holders,
    );
  }

  /** Removes a part of what is old, so that the tables have as many rows as some days have counters. Returns true when nothing is left. */
  #forgetOld(now: number): boolean {
    const { sql } = this.#deps;
    const old = "SELECT counter FROM budget_counters WHERE ends_at < ? ORDER BY ends_at LIMIT ?";
    let left = FORGOTTEN_AT_ONCE;
    for (const { counter } of sql.rows<{ counter: string }>(old, now - KEPT_MS, FORGOTTEN_AT_ONCE)) {
      const holders = "SELECT session FROM budget_holders WHERE counter = ?1 LIMIT ?2";
      const some = `DELETE FROM budget_holders WHERE counter = ?1 AND session IN (${holders}) RETURNING session`;
      left -= sql.rows(some, counter, left).length;
      if (left <= 0) return false;
      sql.rows("DELETE FROM budget_counters WHERE counter = ?", counter);
      left -= 1;
    }
    const reports = "SELECT session FROM budget_reports WHERE seq < ? ORDER BY seq LIMIT ?";
    left -= sql.rows(`DELETE FROM budget_reports WHERE session IN (${reports}) RETURNING session`, now - REPORTS_KEPT_MS, left).length;
    return left > 0;
  }

  /** Grants what is needed in all counters, or nothing. */
  #grant(
    session: string,
    { asked, known, isCurrent }: { readonly asked: readonly RenewRow[]; readonly known: KnownBudgets; readonly isCurrent: boolean },
  ): RenewAnswer {
    if (asked.length === 0) return { kind: "granted", grants: [] };
    const found = asked.map((row) => ({ row, budget: findBudget(row.ref, known) }));
    const planned = found.flatMap(({ row, budget }) => (budget ? [{ ...row, amount: toUnits(budget), counter: counterKey(row.ref) }] : []));
    if (!isCurrent || planned.length < found.length) return { kind: "changed", known };
    const grants = [];
    for (const { counter, ref, amount, need, ahead } of planned) {
      const state = { ...(this.#find(counter) ?? NO_ROW), amount };
      const grant = planGrant(state, { need, ahead });
      if (!grant) return { kind: "refused", refusal: toRefusal(ref, state) };
      grants.push({ counter, ...grant });
    }
    for (const { counter, granted } of grants) this.#addHeld(counter, session, granted);
    return { kind: "granted", grants };
  }

  #addHeld(counter: string, session: string, granted: number): void {
    const before = this.#findHolder(counter, session);
    this.#hold({ counter, session, spent: before.spent, held: before.held + granted }, before);
    const isNew = before.held === 0 && granted > 0 ? 1 : 0;
    this.#deps.sql.rows("UPDATE budget_counters SET held = held + ?, holders = holders + ? WHERE counter = ?", granted, isNew, counter);
  }

  /** Writes an event for each threshold that what was spent has passed, and one where the budget is used up. */
  #announce(ref: CounterRef, known: KnownBudgets, { now, isRefused }: { readonly now: number; readonly isRefused: boolean }): void {
    const budget = findBudget(ref, known);
    const counter = counterKey(ref);
    const row = this.#find(counter);
    if (!budget || !row) return;
    const amount = toUnits(budget);
    const passed = THRESHOLDS.filter((threshold) => amount > 0 && row.spent * 100 >= amount * threshold);
    const top = passed.at(-1) ?? 0;
    // Another amount begins anew: what is not passed any more is announced again when it is passed.
    const crossed = Math.min(row.crossed, row.amount === amount ? 100 : top);
    const isReached = isRefused || (amount > 0 && row.spent >= amount);
    const reached = row.amount === amount || isReached ? row.reached : 0;
    const data = toEventData(ref, { ...row, amount });
    for (const threshold of passed)
      if (threshold > crossed) this.#deps.events.append({ at: now, type: "budget.threshold", data: { ...data, threshold } });
    if (isReached && reached === 0) this.#deps.events.append({ at: now, type: "budget.reached", data: { ...data, threshold: null } });
    const query = "UPDATE budget_counters SET amount = ?, crossed = ?, reached = ? WHERE counter = ?";
    this.#deps.sql.rows(query, amount, Math.max(crossed, top), isReached ? 1 : reached, counter);
  }

  list({ end_user, session }: BudgetQuery, now: number): readonly BudgetView[] {
    const payer = { session: session ?? "", end_user };
    const isAsked = ({ of }: Budget): boolean =>
      end_user === null && session === null
        ? of === "tenant"
        : (of === "end_user" && end_user !== null) || (of === "session" && session !== null);
    return this.known()
      .budgets.filter(isAsked)
      .map((budget) => {
        const { starts_at, ends_at } = periodAt(budget.period, now);
        const counter = counterKey({ ...budget, subject: findSubject(budget.of, payer) ?? "", starts_at });
        const state = { ...(this.#find(counter) ?? NO_ROW), amount: toUnits(budget) };
        return {
          ...budget,
          ...toFigures(budget.unit, state),
          remaining: fromUnits(budget.unit, Math.max(0, countLeft(state))),
          resets_at: ends_at,
        };
      });
  }
}

const toFigures = (unit: Budget["unit"], { spent, held }: CounterState) => ({
  spent: fromUnits(unit, spent),
  reserved: fromUnits(unit, held),
});

function toRefusal(ref: CounterRef, state: CounterState): ExhaustedBudget {
  const { name: budget, of, unit } = ref;
  const amount = fromUnits(unit, state.amount);
  return { code: "budget_exhausted", budget, of, unit, amount, ...toFigures(unit, state), resets_at: toPeriodEnd(ref) };
}

const toEventData = ({ name: budget, of, subject, unit, starts_at }: CounterRef, state: CounterState) => ({
  budget,
  of,
  subject: subject === "" ? null : subject,
  period_starts_at: starts_at,
  unit,
  amount: fromUnits(unit, state.amount),
  ...toFigures(unit, state),
});

export const createBudgets = (deps: BudgetDeps): Budgets => new BudgetStore(deps);
