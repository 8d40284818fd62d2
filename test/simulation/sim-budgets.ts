/**
 * The budgets of the tenant, in some runs: the real counters over SQLite, which the session reaches by calls that fail, come late, or lose
 * their answers. The tenant's object keeps nothing in memory, so that each call is one of a new life of it. Rules I41 to I44.
 */

import { counterKey, toUnits } from "../../src/app/budget-counters";
import type { BudgetSource, RenewInput } from "../../src/app/budget-ports";
import { type Bounds, toCharge } from "../../src/app/call-charge";
import type { ModelRequest } from "../../src/app/ports";
import type { Budget } from "../../src/contract/limits";
import { type BudgetCache, createBudgetCache } from "../../src/tenant/look-ups/budget-source";
import { BudgetTenant } from "../support/budget-tenant";
import { TENANT } from "../support/builders";
import type { Scope } from "./scheduler";
import type { World } from "./world";

type Watched = Pick<World, "scheduler" | "profile" | "violations" | "stats" | "random" | "sql" | "tenantSql" | "log">;

interface Reservation {
  readonly bounds: Bounds;
  readonly expiresAt: number;
  readonly amounts: readonly { readonly counter: string; readonly unit: Budget["unit"]; readonly amount: number }[];
  /** A model was asked for it. */
  asked: boolean;
}

/** What was announced of a counter since its budget has the amount. */
interface Announced {
  readonly amount: number;
  readonly said: Set<string>;
}

const NONE = { revision: 0, budgets: [] } as const;
const AMOUNTS = { tokens: [0, 20_000, 100_000, 400_000, 50_000_000, 50_000_000], usd: [0, 0.5, 2, 10, 1_000, 1_000] } as const;

export class SimBudgets {
  readonly tenant: BudgetTenant;
  readonly #caches = new WeakMap<Scope, BudgetCache>();
  /** By id, the newest: a transaction that failed gives its id again. */
  readonly #reservations = new Map<number, Reservation>();
  /** When each model call was recorded, by the seq of its event. While the disk is full, that is later than the event's own time. */
  readonly #recordedAt = new Map<number, number>();
  readonly #announced = new Map<string, Announced>();
  #lastEvent = 0;
  /** The most that each counter's budget ever had. */
  readonly #most = new Map<string, number>();

  readonly world: Watched;

  constructor(world: Watched) {
    this.world = world;
    this.tenant = new BudgetTenant(() => world.scheduler.now, [], world.tenantSql);
    if (world.profile.budgets) this.change();
  }

  /** Other budgets, or other amounts of the same. */
  change(): void {
    const { random, stats } = this.world;
    const draw = (name: string): Budget => {
      const unit = random.pick(["tokens", "tokens", "usd"] as const);
      return {
        name,
        unit,
        of: random.pick(["tenant", "session", "end_user"] as const),
        period: random.pick(["day", "month"] as const),
        amount: random.pick<number>(AMOUNTS[unit]),
        purposes: random.pick(["all", "all", "compaction"] as const),
      };
    };
    this.tenant.set(["one", "two", "three"].slice(0, random.int(0, 3)).map(draw));
    stats.count("budgets changed");
  }

  /** From here on a call has room, so that what waits can end. */
  calm(): void {
    if (this.world.profile.budgets) this.tenant.set(this.tenant.known().budgets.map((budget) => ({ ...budget, amount: 1e9 })));
  }

  for(scope: Scope): BudgetSource {
    if (!this.world.profile.budgets) {
      return { peek: () => NONE, lookUp: async () => NONE, learn: () => {}, renew: async () => ({ kind: "granted", grants: [] }) };
    }
    const cache = this.#findCache(scope);
    return {
      peek: () => cache.peek(TENANT),
      lookUp: async () => (await cache(TENANT)) ?? NONE,
      learn: (known) => cache.learn(TENANT, known),
      renew: (input) => this.#renew(scope, input),
    };
  }

  #findCache(scope: Scope): BudgetCache {
    const made = this.#caches.get(scope);
    if (made) return made;
    const { scheduler, profile } = this.world;
    const ask = async () => {
      await scheduler.gate(scope, "looks up budgets", { weight: 2 });
      if (scheduler.random.chance(profile.budgetFails)) await scheduler.goWrong("the tenant's object is out of reach");
      return this.tenant.known();
    };
    const cache = createBudgetCache({ ask, now: () => scheduler.now, generation: () => 0, max: 1, background: () => {} });
    this.#caches.set(scope, cache);
    return cache;
  }

  async #renew(scope: Scope, input: RenewInput) {
    const { scheduler, profile, stats } = this.world;
    let answer: ReturnType<BudgetTenant["renew"]> | null = null;
    const effect = (): void => {
      const fails = scheduler.random.chance(profile.budgetFails);
      if (fails && scheduler.random.chance(0.5)) return;
      const taken = this.#take(input);
      if (!fails) answer = taken;
      else stats.count("budget answers lost");
    };
    await scheduler.gate(scope, "renews", { effect, weight: 2 });
    return answer ?? scheduler.goWrong("the tenant's object is out of reach");
  }

  #take(input: RenewInput): ReturnType<BudgetTenant["renew"]> {
    const { stats } = this.world;
    const answer = this.tenant.renew(input);
    stats.count(`budget: ${answer.kind}`);
    for (const budget of this.tenant.known().budgets) {
      const most = this.#most.get(budget.name) ?? 0;
      this.#most.set(budget.name, Math.max(most, toUnits(budget)));
    }
    if (answer.kind !== "stale") this.#checkEvents(input);
    return answer;
  }

  /** Notes what the session reserves, and when it records its calls, as its statements are run. */
  noteStatement(query: string, params: readonly unknown[]): void {
    const [seq, , type] = params;
    if (query.startsWith("INSERT INTO events") && type === "ModelCallFinished") this.#recordedAt.set(Number(seq), this.world.scheduler.now);
    if (!query.startsWith("INSERT INTO wallet_reservations")) return;
    const [id, , expiresAt, bounds, amounts] = params;
    this.#reservations.set(Number(id), {
      expiresAt: Number(expiresAt),
      bounds: JSON.parse(String(bounds)),
      amounts: JSON.parse(String(amounts)),
      asked: false,
    });
  }

  /** A refused call cost nothing, so that the same request may be made again with what it was paid with. */
  noteRefused(id: number | undefined): void {
    const noted = id === undefined ? undefined : this.#reservations.get(id);
    if (noted) noted.asked = false;
  }

  /** I42: while a budget counts the call, it is paid, by a reservation that stands and that no other call has. */
  checkCall(scope: Scope, request: ModelRequest): void {
    const { violations, sql, stats } = this.world;
    const known = this.#caches.get(scope)?.peek(TENANT);
    const { reservation: id, purpose } = request;
    const mustPay =
      known?.budgets.some(({ of, purposes }) => of !== "end_user" && (purposes === "all" || purpose === "compaction")) === true;
    violations.check(!mustPay || id !== undefined, "I42", () => `a ${purpose} call was not paid under ${JSON.stringify(known)}`);
    if (id === undefined) return;
    stats.count("paid calls");
    violations.check(request.maxOutput !== null, "I42", () => `a paid ${purpose} call names no longest reply`);
    const noted = this.#reservations.get(id);
    const stands = sql.all("SELECT id FROM wallet_reservations WHERE id = ?", id).length === 1;
    violations.check(
      noted !== undefined && stands && !noted.asked,
      "I42",
      () => `${purpose} call: reservation ${id} is none, or is used twice`,
    );
    if (noted) noted.asked = true;
    this.#checkSpending();
  }

  /** A worker of the queue may be so slow that its reservation has expired, and been charged whole. */
  checkWork(request: ModelRequest): void {
    const noted = request.reservation === undefined ? undefined : this.#reservations.get(request.reservation);
    if (noted) noted.asked = true;
    this.#checkSpending();
  }

  /** I41: what is spent and reserved never exceeds the most that the budget had, but for calls that used more than their bounds. */
  #checkSpending(): void {
    const { sql, violations, log } = this.world;
    // A call that ended in this step is charged already.
    log.catchUp();
    const held = new Map<string, number>();
    for (const { amounts } of sql.all<{ amounts: string }>("SELECT amounts FROM wallet_reservations"))
      for (const { counter, amount } of JSON.parse(amounts) as Reservation["amounts"]) held.set(counter, (held.get(counter) ?? 0) + amount);
    for (const { counter, spent } of sql.all<{ counter: string; spent: number }>("SELECT counter, spent FROM wallet_counters")) {
      const [name] = JSON.parse(counter) as [string];
      const most = (this.#most.get(name) ?? 0) + this.#excess(counter);
      const all = spent + (held.get(counter) ?? 0);
      violations.check(all <= most, "I41", () => `${all} of ${most} are spent and reserved of ${counter}`);
    }
  }

  /** What calls have used beyond what was reserved. */
  #excess(counter: string): number {
    return [...this.#expected()].reduce((sum, { id, charged }) => {
      const amount = this.#reservations.get(id)?.amounts.find((each) => each.counter === counter)?.amount ?? 0;
      return sum + Math.max(0, (charged.get(counter) ?? 0) - amount);
    }, 0);
  }

  /** The recorded calls with what each counter is charged for them. */
  *#expected(): Iterable<{ readonly id: number; readonly charged: ReadonlyMap<string, number>; readonly isLate: boolean }> {
    for (const event of this.world.log.events) {
      if (event.type !== "ModelCallFinished" || !event.reservation) continue;
      const noted = this.#reservations.get(event.reservation.id);
      if (!noted) continue;
      const charged = new Map(noted.amounts.map(({ counter, unit }) => [counter, toCharge(event, noted.bounds, unit)]));
      yield { id: event.reservation.id, charged, isLate: (this.#recordedAt.get(event.seq) ?? event.at) >= noted.expiresAt };
    }
  }

  /** I43: at rest nothing is reserved or held, and what is spent is the ledger, with the whole reservation of calls that it lacks. */
  checkAtRest(): void {
    const { violations, sql, stats } = this.world;
    if (!this.world.profile.budgets) return;
    const left = sql.all("SELECT id FROM wallet_reservations").length;
    violations.check(left === 0, "I43", () => `${left} reservations stand at rest`);
    violations.check(this.tenant.sum("held") === 0, "I43", () => `${this.tenant.sum("held")} are held at rest`);
    const bounds = this.#toBounds();
    for (const { counter, spent } of this.tenant.sql.rows<{ counter: string; spent: number }>(
      "SELECT counter, spent FROM budget_counters",
    )) {
      const { low, high } = bounds.get(counter) ?? { low: 0, high: 0 };
      stats.count("counters compared");
      violations.check(
        spent >= low && spent <= high,
        "I43",
        () => `${spent} are spent of ${counter}, and the ledger says ${low} to ${high}`,
      );
    }
  }

  /** The least and the most that each counter may have: a call that the ledger lacks was charged whole, if it was made. */
  #toBounds(): ReadonlyMap<string, { readonly low: number; readonly high: number }> {
    const recorded = new Map([...this.#expected()].map((each) => [each.id, each]));
    const bounds = new Map<string, { low: number; high: number }>();
    for (const [id, { amounts, asked }] of this.#reservations) {
      const call = recorded.get(id);
      for (const { counter, amount } of amounts) {
        const { low, high } = bounds.get(counter) ?? { low: 0, high: 0 };
        const charge = call?.charged.get(counter) ?? amount;
        const [least, most] = call && !call.isLate ? [charge, charge] : [asked ? Math.min(amount, charge) : 0, Math.max(amount, charge)];
        bounds.set(counter, { low: low + least, high: high + most });
      }
    }
    return bounds;
  }

  /**
   * I44: each threshold is announced once for an amount, and a counter that was used up once. An amount is another one only where a report was
   * taken under it. An event does not say its budget's period and purposes, so it is read under the budgets of its report.
   */
  #checkEvents({ rows }: RenewInput): void {
    const { violations } = this.world;
    const { budgets } = this.tenant.known();
    for (const { ref } of rows) {
      const budget = budgets.find((each) => counterKey({ ...ref, ...each }) === counterKey(ref));
      if (!budget) continue;
      const { amount } = budget;
      if (this.#announced.get(counterKey(ref))?.amount !== amount) this.#announced.set(counterKey(ref), { amount, said: new Set() });
    }
    for (const event of this.tenant.events.list({ after: this.#lastEvent, limit: 10_000 }).data) {
      this.#lastEvent = event.seq;
      if (event.type !== "budget.threshold" && event.type !== "budget.reached") continue;
      const { budget: name, subject, period_starts_at: starts_at, threshold } = event.data;
      const budget = budgets.find((each) => each.name === name);
      const announced = budget && this.#announced.get(counterKey({ ...budget, subject: subject ?? "", starts_at }));
      const said = JSON.stringify([event.type, threshold]);
      violations.check(announced?.said.has(said) === false, "I44", () => `announced twice, or of no budget: ${JSON.stringify(event)}`);
      announced?.said.add(said);
    }
  }
}
