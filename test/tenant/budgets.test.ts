/** The counters of a tenant's budgets: what sessions report, hold and are granted. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CounterRef, touchedCounters } from "../../src/app/budget-counters";
import type { RenewInput, RenewRow } from "../../src/app/budget-ports";
import type { SessionId } from "../../src/domain/ids";
import { BudgetTenant } from "../support/budget-tenant";
import { id } from "../support/builders";
import { createCountedSql } from "../support/counted-sql";
import { daily } from "../support/daily-budget";

const AT = Date.UTC(2026, 10, 24, 15);
const DAY_MS = 86_400_000;

function setUp(budgets = [daily(100)]) {
  const clock = { now: AT };
  const tenant = new BudgetTenant(() => clock.now, budgets);
  return { clock, tenant };
}

/** A session that keeps account as its wallet does. */
class Holder {
  readonly session: SessionId;
  readonly tenant: BudgetTenant;
  #seq = 0;
  spent = 0;
  held = 0;
  free = 0;

  constructor(tenant: BudgetTenant, n: number) {
    this.tenant = tenant;
    this.session = id("ses", n);
  }

  get ref(): CounterRef {
    const [ref] = touchedCounters(this.tenant.known(), {
      purpose: "turn",
      payer: { session: this.session, end_user: null },
      at: this.tenant.now(),
    });
    if (!ref) throw new Error("no budget");
    return ref;
  }

  build(need: number): RenewInput {
    this.free = 0;
    const row: RenewRow = { ref: this.ref, spent: this.spent, held: this.held, need, ahead: 1 };
    // As a wallet numbers its reports.
    this.#seq = Math.max(this.#seq + 1, this.tenant.now());
    return { session: this.session, seq: this.#seq, revision: this.tenant.known().revision, rows: [row] };
  }

  ask(need: number): string {
    const answer = this.tenant.renew(this.build(need));
    if (answer.kind === "granted") this.free += answer.grants[0]?.granted ?? 0;
    return answer.kind;
  }

  reserve(need: number): void {
    this.free -= need;
    this.held += need;
  }

  settle(need: number, charge: number): void {
    this.held -= need;
    this.spent += charge;
    this.free += need - charge;
  }
}

interface Play {
  readonly act: string;
  readonly need: number;
  readonly share: number;
}

/** `sent`: reports that are on their way. */
function play(holder: Holder, sent: RenewInput[], { act, need, share }: Play): void {
  const { tenant } = holder;
  if (act === "lost") tenant.renew(holder.build(need));
  if (act === "late") sent.push(holder.build(need));
  if (act === "repeat") for (const input of sent.splice(0, 1)) tenant.renew(input);
  if (act === "report") holder.ask(0);
  if (act !== "call") return;
  if (holder.free < need) holder.ask(need);
  if (holder.free < need) return;
  holder.reserve(need);
  holder.settle(need, Math.floor(need * share));
}

describe("a renewal", () => {
  it("grants what is left and refuses the rest with the figures", () => {
    const { tenant } = setUp();
    const [one, other] = [new Holder(tenant, 1), new Holder(tenant, 2)];
    expect(one.ask(60)).toBe("granted");

    const answer = tenant.renew(other.build(50));

    expect(answer).toEqual({
      kind: "refused",
      refusal: {
        code: "budget_exhausted",
        budget: "daily",
        of: "tenant",
        unit: "tokens",
        amount: 100,
        spent: 0,
        reserved: 60,
        resets_at: Date.UTC(2026, 10, 25),
      },
    });
    expect([tenant.sum("spent"), tenant.sum("held")]).toEqual([0, 60]);
  });

  it("reports and gives up in the same step as it asks", () => {
    const { tenant } = setUp();
    const one = new Holder(tenant, 1);
    one.ask(60);
    one.reserve(60);
    one.settle(60, 10);

    expect(one.ask(90)).toBe("granted");
    expect([tenant.sum("spent"), tenant.sum("held")]).toEqual([10, 90]);
  });

  it("counts for nothing when it is repeated or comes after a newer one", () => {
    const { tenant } = setUp();
    const one = new Holder(tenant, 1);
    const first = one.build(10);
    tenant.renew(first);
    one.ask(20);

    expect(tenant.renew(first)).toEqual({ kind: "stale", seq: AT + 1 });
    expect(tenant.sum("held")).toBe(20);
  });

  it("mends a lost answer: what it granted is given up with the next one", () => {
    const { tenant } = setUp();
    const one = new Holder(tenant, 1);
    tenant.renew(one.build(80));

    expect(one.ask(80)).toBe("granted");
    expect(tenant.sum("held")).toBe(80);
  });

  it("grants in all counters or in none", () => {
    const { tenant } = setUp([daily(100), daily(5, { name: "each", of: "session" })]);
    const one = new Holder(tenant, 1);
    const refs = touchedCounters(tenant.known(), { purpose: "turn", payer: { session: one.session, end_user: null }, at: AT });
    const rows = refs.map((ref) => ({ ref, spent: 0, held: 0, need: 10, ahead: 1 }));

    const answer = tenant.renew({ session: one.session, seq: 1, revision: tenant.known().revision, rows });

    expect(answer).toMatchObject({ kind: "refused", refusal: { budget: "each" } });
    expect(tenant.sum("held")).toBe(0);
  });

  it("takes the report and grants nothing under other budgets than the tenant's", () => {
    const { tenant } = setUp();
    const one = new Holder(tenant, 1);
    const before = { ...one.build(10), rows: [{ ref: one.ref, spent: 7, held: 0, need: 10, ahead: 1 }] };
    tenant.set([daily(50)]);

    expect(tenant.renew(before)).toMatchObject({ kind: "changed", known: { budgets: [{ amount: 50 }] } });
    expect([tenant.sum("spent"), tenant.sum("held")]).toEqual([7, 0]);
  });

  it("still counts what is reported of a budget that was removed, and what is reported of yesterday for yesterday", () => {
    const { tenant, clock } = setUp();
    const one = new Holder(tenant, 1);
    one.ask(10);
    const late = { ...one.build(0), rows: [{ ref: one.ref, spent: 9, held: 0, need: 0, ahead: 1 }] };
    clock.now += DAY_MS;
    tenant.set([]);
    tenant.renew(late);

    expect([tenant.sum("spent"), tenant.sum("held")]).toEqual([9, 0]);
  });

  it("begins a new period with the whole amount", () => {
    const { tenant, clock } = setUp();
    const one = new Holder(tenant, 1);
    expect(one.ask(100)).toBe("granted");
    const other = new Holder(tenant, 2);
    expect(other.ask(1)).toBe("refused");
    clock.now += DAY_MS;

    expect(other.ask(100)).toBe("granted");
  });

  it("forgets counters a week after their period, and what is reported of them then", () => {
    const { tenant, clock } = setUp();
    const one = new Holder(tenant, 1);
    one.ask(10);
    const late = one.build(0);
    clock.now += 9 * DAY_MS;
    new Holder(tenant, 2).ask(1);
    tenant.renew(late);

    expect(tenant.sql.rows("SELECT counter FROM budget_counters")).toHaveLength(1);
    expect(tenant.sql.rows("SELECT session FROM budget_holders")).toHaveLength(1);
  });

  it("forgets a counter of many sessions, and what those reported, in parts of 500 rows, each with a report", () => {
    const HOLDERS = 1_200;
    const { sql, take } = createCountedSql();
    const clock = { now: AT };
    const tenant = new BudgetTenant(() => clock.now, [daily(100)], sql);
    const { budgets } = tenant;
    const renew = (input: RenewInput) => sql.transaction(() => budgets.renew(input, clock.now));
    new Holder(tenant, 1).ask(10);
    const many = `WITH RECURSIVE r (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM r WHERE n <= ${HOLDERS})`;
    sql.rows(`INSERT INTO budget_holders ${many} SELECT (SELECT counter FROM budget_counters), 'ses_' || n, 1, 0 FROM r`);
    sql.rows(`INSERT INTO budget_reports ${many} SELECT 'ses_' || n, 1 FROM r`);
    clock.now += 50 * DAY_MS;
    const other = new Holder(tenant, 2);
    for (const need of [1, 0]) renew(other.build(need));

    const costs = [];
    while (costs.length < 10) {
      take();
      renew(other.build(0));
      costs.push(take().written);
    }

    const own = costs.at(-1) ?? 0;
    expect(Math.max(...costs)).toBeLessThanOrEqual(own + 500);
    expect(costs.filter((written) => written > own)).toHaveLength(3);
    expect(["budget_counters", "budget_holders", "budget_reports"].map((table) => sql.rows(`SELECT 1 FROM ${table}`).length)).toEqual([
      1, 1, 1,
    ]);
  });

  it("never grants more than is left, and comes to exactly what was spent, whatever is lost, late or repeated", () => {
    const step = fc.record({
      who: fc.integer({ min: 0, max: 4 }),
      act: fc.constantFrom("call", "call", "call", "lost", "late", "repeat", "report"),
      need: fc.integer({ min: 1, max: 40 }),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 500 }), fc.array(step, { maxLength: 80 }), (amount, steps) => {
        const { tenant } = setUp([daily(amount)]);
        const holders = Array.from({ length: 5 }, (_, n) => new Holder(tenant, n + 1));
        const sent: RenewInput[] = [];
        for (const { who, ...each } of steps) {
          play(holders[who] ?? new Holder(tenant, 99), sent, each);
          const truly = holders.reduce((sum, { spent, held, free }) => sum + spent + held + free, 0);
          expect(truly).toBeLessThanOrEqual(tenant.sum("spent") + tenant.sum("held"));
          expect(tenant.sum("spent") + tenant.sum("held")).toBeLessThanOrEqual(amount);
        }
        for (const holder of holders) holder.ask(0);
        expect(tenant.sum("spent")).toBe(holders.reduce((sum, { spent }) => sum + spent, 0));
        expect(tenant.sum("held")).toBe(0);
        expect(tenant.sql.rows("SELECT counter FROM budget_counters WHERE holders <> 0")).toEqual([]);
      }),
    );
  });
});

describe("the tenant's events", () => {
  it("have each threshold once, and that the budget is used up once", () => {
    const { tenant } = setUp();
    const one = new Holder(tenant, 1);
    for (const spent of [49, 50, 79, 85, 85]) {
      one.spent = spent;
      one.ask(0);
    }
    expect(tenant.told).toEqual(["budget.threshold 50", "budget.threshold 80"]);
    one.ask(20);
    one.ask(20);
    expect(tenant.told.slice(2)).toEqual(["budget.reached"]);
    one.spent = 100;
    one.ask(0);

    expect(tenant.told.slice(3)).toEqual(["budget.threshold 100"]);
  });

  it("come again when the amount was raised and is passed again", () => {
    const { tenant } = setUp();
    const one = new Holder(tenant, 1);
    one.spent = 60;
    one.ask(0);
    tenant.set([daily(1_000)]);
    one.ask(0);
    one.spent = 600;
    one.ask(0);

    expect(tenant.told).toEqual(["budget.threshold 50", "budget.threshold 50"]);
  });

  it("say that a budget is used up of the end user whose call was refused, and not of the one whom the session had before", () => {
    const { tenant } = setUp([daily(100, { of: "end_user" })]);
    const one = new Holder(tenant, 1);
    const refs = ["before", "now"].flatMap((end_user) =>
      touchedCounters(tenant.known(), { purpose: "turn", payer: { session: one.session, end_user }, at: AT }),
    );
    const rows = refs.map((ref) => ({ ref, spent: 10, held: 0, need: ref.subject === "now" ? 91 : 0, ahead: 1 }));

    tenant.renew({ session: one.session, seq: 1, revision: tenant.known().revision, rows });

    expect(tenant.events.list({ after: 0, limit: 10 }).data).toMatchObject([{ type: "budget.reached", data: { subject: "now" } }]);
  });

  it("are listed in order, page by page, and name no end user", () => {
    const { tenant } = setUp();
    const one = new Holder(tenant, 1);
    one.spent = 100;
    one.ask(0);

    const page = tenant.events.list({ after: 0, limit: 2 });

    expect(page.has_more).toBe(true);
    expect(tenant.events.list({ after: page.data.at(-1)?.seq ?? 0, limit: 10 }).data.map(({ type }) => type)).toEqual([
      "budget.threshold",
      "budget.reached",
    ]);
  });
});

describe("the list of budgets", () => {
  it("has the figures of the present period, for the tenant, an end user or a session", () => {
    const { tenant } = setUp([daily(100), daily(10, { name: "each", of: "session", unit: "usd" })]);
    const one = new Holder(tenant, 1);
    one.spent = 30;
    one.held = 5;
    one.ask(0);

    expect(tenant.budgets.list({ end_user: null, session: null }, AT)).toEqual([
      { ...daily(100), spent: 30, reserved: 5, remaining: 65, resets_at: Date.UTC(2026, 10, 25) },
    ]);
    expect(tenant.budgets.list({ end_user: null, session: one.session }, AT)).toMatchObject([{ name: "each", spent: 0, remaining: 10 }]);
  });
});
