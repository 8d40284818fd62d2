/** A session's wallet: what it reserves before each call, what it is charged with, and what it returns. */
import { describe, expect, test } from "vitest";
import { counterKey } from "../../src/app/budget-counters";
import type { ModelSpec } from "../../src/app/ports";
import type { TurnInput } from "../../src/app/session-api";
import { findQuirks } from "../../src/context/model-quirks";
import type { PolicyChoice } from "../../src/context/policy-choice";
import type { Budget } from "../../src/contract/limits";
import type { CompactionId, ItemId } from "../../src/domain/ids";
import { ringAlarm } from "../../src/session/alarm";
import { migrateSession } from "../../src/session/log/log-schema";
import { beginReport, confirm } from "../../src/session/wallet/wallet-rows";
import { BudgetTenant } from "../support/budget-tenant";
import { id, TENANT } from "../support/builders";
import { daily } from "../support/daily-budget";
import { huge, talk } from "./filled";
import { CALLER, failure, Life, MESSAGE, SPEC, settle } from "./life";

const PRICED: ModelSpec = { ...SPEC, prices: { input: 0.000_01, cache_write: 0.000_01, cached: 0.000_001, output: 0.000_05 } };
const MINUTE = 60_000;
const ASKED = { a: "current", b: "current", questions: [{ question: "What was ordered?", expect: null }], model: null } as const;

interface World {
  readonly life: Life;
  readonly tenant: BudgetTenant;
}

async function open(budgets: readonly Budget[], policy: PolicyChoice = "oneclaw"): Promise<World> {
  const life = new Life();
  const tenant = new BudgetTenant(life.time.now, budgets);
  life.budgets = tenant.source();
  life.models = { resolve: async () => PRICED };
  await life.open(policy);
  return { life, tenant };
}

/** Its ids come after those of the earlier life. */
function revive({ life, tenant }: World): Life {
  let count = 10_000;
  const next = new Life(life.sql, "life-2", (prefix) => id(prefix, ++count));
  next.budgets = tenant.source();
  next.models = life.models;
  next.time.advance(life.time.now() - next.time.now());
  return next;
}

const finish = (input: number, output: number) =>
  ({ type: "finish", finish: "stop", usage: { input, output, cached: 0, reasoning: 0 } }) as const;

function lastAsked({ runtime }: Life): ItemId {
  const item = runtime.state.view.items.findLast(({ kind }) => kind === "user");
  if (!item) throw new Error("nothing was asked");
  return item.id;
}

const readLedger = (life: Life) => life.events().flatMap((event) => (event.type === "ModelCallFinished" ? [event] : []));
const lastTurn = (life: Life) => life.runtime.state.last_turn;

/** Lets the alarm ring as often as it is due within `ms`. */
async function wait(life: Life, ms: number): Promise<void> {
  const until = life.time.now() + ms;
  while (life.alarmAt !== null && life.alarmAt <= until) {
    await life.advance(Math.max(0, life.alarmAt - life.time.now()));
    life.alarmAt = null;
    ringAlarm(life.runtime);
    await settle();
  }
  await life.advance(Math.max(0, until - life.time.now()));
}

describe("a turn under a budget", () => {
  test("reserves before the call, names the length of the reply, and is charged with what the ledger has", async () => {
    const { life, tenant } = await open([daily(10_000)]);
    await life.send("hello");

    expect(life.call.request).toMatchObject({ maxOutput: 1_000, reservation: 1 });
    expect(tenant.sum("held")).toBeGreaterThan(1_000);
    expect(tenant.sum("spent")).toBe(0);

    await life.say({ type: "text", text: "hi" }, finish(20, 3));
    await wait(life, 2 * MINUTE);

    expect(readLedger(life)).toMatchObject([{ reservation: { id: 1 }, usage: { input: 20, output: 3 } }]);
    expect([tenant.sum("spent"), tenant.sum("held")]).toEqual([23, 0]);
    expect(life.sql.all("SELECT kind FROM jobs WHERE kind = 'budget'")).toEqual([]);
  });

  test("asks the tenant's object twice at most for many calls while much is left", async () => {
    const { life, tenant } = await open([daily(10_000_000)]);
    for (let turn = 0; turn < 10; turn++) {
      await life.send("hello");
      await life.say({ type: "text", text: "hi" }, finish(20, 3));
    }

    expect(lastTurn(life)).toMatchObject({ status: "completed" });
    expect(tenant.renewals.length).toBeLessThanOrEqual(2);
  });

  test("is charged with its cost under a budget of dollars", async () => {
    const { life, tenant } = await open([daily(1, { unit: "usd" })]);
    await life.send("hello");
    await life.say({ type: "text", text: "hi" }, finish(20, 3));
    await wait(life, 2 * MINUTE);

    expect(tenant.sum("spent")).toBe(350_000);
    expect(readLedger(life)).toMatchObject([{ cost: 0.000_35 }]);
  });

  test("without a budget costs nothing: no row, no reservation, and no call of the tenant's object", async () => {
    const { life, tenant } = await open([]);
    await life.send("hello");
    await life.say({ type: "text", text: "hi" }, finish(20, 3));

    expect(life.call.request).toMatchObject({ maxOutput: null });
    expect(life.call.request.reservation).toBeUndefined();
    expect(tenant.renewals).toEqual([]);
    expect(life.sql.all("SELECT one FROM wallet")).toEqual([]);
  });

  test("is refused with the figures before anything is stored", async () => {
    const { life } = await open([daily(500)]);
    const before = life.events().length;

    const answer = await life.service.submit(CALLER, MESSAGE);

    expect(answer).toMatchObject({
      ok: false,
      error: { code: "budget_exhausted", budget: "daily", of: "tenant", unit: "tokens", amount: 500, spent: 0, reserved: 0 },
    });
    expect(life.events()).toHaveLength(before);
    expect(life.calls).toEqual([]);
  });

  test("answers a repeated request as before, though nothing is left now", async () => {
    const { life, tenant } = await open([daily(10_000)]);
    const keyed = { ...MESSAGE, idempotency: { key: "k", digest: "d" } };
    await life.service.submit(CALLER, keyed);
    await settle();
    await life.say({ type: "text", text: "hi" }, finish(20, 3));
    tenant.set([daily(1)]);
    await wait(life, 2 * MINUTE);

    expect(await life.service.submit(CALLER, keyed)).toMatchObject({ ok: true, value: { replayed: true } });
    expect(await life.service.submit(CALLER, MESSAGE)).toMatchObject({ ok: false, error: { code: "budget_exhausted" } });
  });

  test("is refused where the tenant's object is away and nothing is granted", async () => {
    const { life, tenant } = await open([daily(10_000)]);
    tenant.isAway = true;

    expect(await life.service.submit(CALLER, MESSAGE)).toMatchObject({ ok: false, error: { code: "budgets_unavailable" } });
    expect(life.calls).toEqual([]);
  });

  test("goes on while the tenant's object is away, as long as what was granted suffices", async () => {
    const { life, tenant } = await open([daily(10_000_000)]);
    await life.send("hello");
    tenant.isAway = true;
    await life.say({ type: "text", text: "hi" }, finish(20, 3));
    await life.send("again");
    await life.say({ type: "text", text: "hi" }, finish(20, 3));
    expect(lastTurn(life)).toMatchObject({ status: "completed" });
    await wait(life, 10 * MINUTE);
    tenant.isAway = false;
    await wait(life, 70 * MINUTE);

    expect([tenant.sum("spent"), tenant.sum("held")]).toEqual([46, 0]);
  });

  test("fails and can be retried where a later call of it is refused", async () => {
    const { life, tenant } = await open([daily(2_000)]);
    await life.send("look it up");
    await life.useTool("call_1", "found", 600);
    await settle();

    expect(lastTurn(life)).toMatchObject({ status: "failed", failure: { kind: "budget" } });
    expect(life.asked).toBe("t");
    tenant.set([daily(100_000)]);
    expect(await life.service.retry(CALLER, { idempotency: null })).toMatchObject({ ok: true });
    await settle();
    expect(life.asked).toBe("tt");
  });

  describe.each([
    ["retried", (life: Life) => life.service.retry(CALLER, { idempotency: null })],
    ["regenerated", (life: Life) => life.service.regenerate(CALLER, { message: lastAsked(life), idempotency: null })],
  ])("that is %s", (_, repeat) => {
    const FREE: ModelSpec = { ...SPEC, id: "free", prices: { input: 0, cache_write: 0, cached: 0, output: 0 } };

    async function failOnce(own: TurnInput): Promise<World> {
      const world = await open([daily(1, { unit: "usd" })]);
      world.life.models = { resolve: async (model) => (model === FREE.id ? FREE : PRICED) };
      await world.life.service.submit(CALLER, { ...MESSAGE, ...own });
      await settle();
      await world.life.say({ type: "failure", failure: { kind: "auth", status: 401 } });
      return world;
    }

    test("needs room for the model that it is asked of again, and not for that of the session", async () => {
      const { life, tenant } = await failOnce({ model: FREE.id });
      tenant.set([daily(0.000_1, { unit: "usd" })]);
      await wait(life, 2 * MINUTE);

      expect(await repeat(life)).toMatchObject({ ok: true });
      await settle();
      expect(life.call.request.model.id).toBe(FREE.id);
      expect(lastTurn(life)).not.toMatchObject({ failure: { kind: "budget" } });
    });

    test("is refused where its own longest reply has no room, though that of the session has", async () => {
      const { life, tenant } = await failOnce({ generation: { max_output_tokens: 900 } });
      await life.service.patch(CALLER, { generation: { max_output_tokens: 10 } });
      tenant.set([daily(0.04, { unit: "usd" })]);
      await wait(life, 2 * MINUTE);
      const before = life.events().length;

      expect(await repeat(life)).toMatchObject({ ok: false, error: { code: "budget_exhausted" } });
      expect(life.events()).toHaveLength(before);
    });
  });

  test("is charged with nothing for a call that the provider refused, and with the whole reservation for one that broke off", async () => {
    const { life, tenant } = await open([daily(100_000)]);
    await life.send("hello");
    await life.say({ type: "failure", failure: { kind: "auth", status: 401 } });
    await wait(life, 2 * MINUTE);
    expect(tenant.sum("spent")).toBe(0);

    await life.send("again");
    const held = tenant.sum("held");
    await life.say({ type: "text", text: "I th" }, failure("unavailable"));
    await wait(life, 2 * MINUTE);

    expect(tenant.sum("spent")).toBeGreaterThan(1_000);
    expect(tenant.sum("spent")).toBeLessThanOrEqual(held);
    expect(tenant.sum("held")).toBe(0);
  });

  test("is charged with the whole reservation when it is stopped during its call, once", async () => {
    const { life, tenant } = await open([daily(100_000)]);
    await life.send("hello");
    await life.service.stop(CALLER, { idempotency: null });
    await life.say({ type: "text", text: "late" }, finish(20, 3));
    await wait(life, 2 * MINUTE);

    expect(readLedger(life)).toHaveLength(1);
    expect(tenant.sum("spent")).toBeGreaterThan(1_000);
    expect(tenant.sum("held")).toBe(0);
  });

  test("is charged with the whole reservation when the object dies during its call, and runs again under another", async () => {
    const world = await open([daily(100_000)]);
    await world.life.send("hello");
    const next = revive(world);
    await next.service.items(CALLER, { after: null, limit: 1, order: "asc" });
    await settle();

    expect(next.call.request.reservation).toBe(2);
    await next.say({ type: "text", text: "hi" }, finish(20, 3));
    await wait(next, 2 * MINUTE);
    const [crashed] = readLedger(next);
    expect(crashed).toMatchObject({ outcome: "crashed", reservation: { id: 1 } });
    expect(world.tenant.sum("spent")).toBeGreaterThan(1_023);
    expect(world.tenant.sum("held")).toBe(0);
    expect(next.sql.all("SELECT id FROM wallet_reservations")).toEqual([]);
  });

  test("is counted for the day in which it was reserved", async () => {
    const { life, tenant } = await open([daily(10_000)]);
    const day = 86_400_000;
    await life.advance(day - (life.time.now() % day) - 1);
    await life.send("hello");
    await life.advance(2);
    await life.say({ type: "text", text: "hi" }, finish(20, 3));
    await wait(life, 2 * MINUTE);

    const rows = tenant.sql.rows<{ ends_at: number; spent: number }>("SELECT ends_at, spent FROM budget_counters");
    expect(rows).toMatchObject([{ spent: 23 }]);
    expect((rows[0]?.ends_at ?? 0) < life.time.now()).toBe(true);
  });

  test("is counted for the end user whom the session had when it was reserved", async () => {
    const { life, tenant } = await open([daily(10_000, { of: "end_user" })]);
    await life.service.patch(CALLER, { end_user: "ada" });
    await life.send("hello");
    await life.service.patch(CALLER, { end_user: "bob" });
    await life.say({ type: "text", text: "hi" }, finish(20, 3));
    await wait(life, 2 * MINUTE);
    await life.send("hello");
    await life.say({ type: "text", text: "hi" }, finish(30, 3));
    await wait(life, 2 * MINUTE);

    const rows = tenant.sql.rows<{ spent: number; held: number }>("SELECT spent, held FROM budget_counters ORDER BY spent");
    expect(rows).toEqual([
      { spent: 23, held: 0 },
      { spent: 33, held: 0 },
    ]);
    expect(JSON.stringify(tenant.sql.rows("SELECT * FROM budget_counters"))).not.toContain("ada");
  });

  test("knows a budget that was added a minute ago, and holds to a smaller amount at its next renewal", async () => {
    const { life, tenant } = await open([]);
    await life.send("hello");
    await life.say({ type: "text", text: "hi" }, finish(20, 3));
    tenant.set([daily(10)]);
    await wait(life, MINUTE);

    expect(await life.service.submit(CALLER, MESSAGE)).toMatchObject({ ok: false, error: { code: "budget_exhausted", amount: 10 } });
    tenant.set([]);
    await wait(life, MINUTE);
    expect(await life.service.submit(CALLER, MESSAGE)).toMatchObject({ ok: true });
  });
});

describe("the answer to a report", () => {
  test("fills the wallet only if no newer report was made", () => {
    const life = new Life();
    migrateSession(life.sql);
    const ref = { ...daily(1), subject: "", starts_at: 0 };
    const older = beginReport(life.sql, [ref], 1);
    const newer = beginReport(life.sql, [ref], 1);
    const grants = [{ counter: counterKey(ref), granted: 5, tight: false }];

    expect(confirm(life.sql, { ...older, revision: 1, grants })).toBe(false);
    expect(life.sql.all("SELECT free FROM wallet_counters")).toEqual([{ free: 0 }]);
    expect(confirm(life.sql, { ...newer, revision: 1, grants })).toBe(true);
    expect(life.sql.all("SELECT free FROM wallet_counters")).toEqual([{ free: 5 }]);
  });
});

describe("an erased session", () => {
  test("has reported all that it spent, and holds nothing", async () => {
    const { life, tenant } = await open([daily(100_000)]);
    await life.send("hello");
    await life.say({ type: "text", text: "hi" }, finish(20, 3));
    await life.send("again");
    await life.service.erase(CALLER);
    await settle();

    expect(tenant.sum("held")).toBe(0);
    expect(tenant.sum("spent")).toBeGreaterThan(1_023);
  });
});

describe("a compaction that no budget pays for", () => {
  const NONE = daily(10, { purposes: "compaction" });
  const EARLY: PolicyChoice = { preset: "oneclaw", trigger: { window_ratio: 0.5 } };

  /** The queue's consumer takes every job. */
  async function work(life: Life): Promise<void> {
    for (const job of life.jobs.splice(0)) await life.service.leaseCompaction(CALLER, job as CompactionId);
    await settle();
  }

  const failures = (life: Life) =>
    life.events().flatMap((event) => (event.type === "CompactionFailed" ? [[event.failure, event.final]] : []));

  test("between turns gives way to the steps without a model, is no failure of the model, and is not asked for again at once", async () => {
    const { life } = await open([NONE], EARLY);
    await talk(life, 5);
    expect(life.jobs.length).toBeGreaterThan(0);

    await work(life);

    expect(life.asked).not.toContain("c");
    expect(failures(life)).toEqual([["budget", true]]);
    expect(life.events().flatMap((event) => (event.type === "EpochChanged" ? [event.trigger] : []))).toEqual(["fallback"]);
    expect(life.runtime.state.compaction).toMatchObject({ requested: null, failures: 0, breaker: null });
    await talk(life, 1, 2);
    expect(lastTurn(life)).toMatchObject({ status: "completed" });
  });

  test("in a turn leaves the turn its answer: what must go is dropped", async () => {
    const { life } = await open([NONE]);
    await talk(life, 5);

    await life.send(huge("question-6"));
    await life.answer("reply-6", 4_000);

    expect(life.asked).toBe("tttttt");
    expect(lastTurn(life)).toMatchObject({ status: "completed" });
    expect(failures(life)).toEqual([["budget", true]]);
  });

  const BY_HAND = { dryRun: false, instructions: null, keepRecent: 100, upTo: null, idempotency: null } as const;

  test.each([
    ["a summary", BY_HAND],
    ["a draft", { ...BY_HAND, draft: true }],
    ["a summary by another policy", { ...BY_HAND, policy: { summary: { mode: "transcript" } } } as const],
  ])("and that asks by hand for %s is refused with the figures before anything is stored", async (_, asked) => {
    const { life, tenant } = await open([NONE]);
    await talk(life, 5);
    const before = life.sql.all("SELECT count(*) AS n FROM events");

    expect(await life.service.compact(CALLER, asked)).toMatchObject({
      ok: false,
      error: { code: "budget_exhausted", budget: "daily", unit: "tokens", amount: 10, spent: 0, reserved: 0 },
    });
    expect(life.sql.all("SELECT count(*) AS n FROM events")).toEqual(before);
    expect([life.runtime.state.compaction.requested, life.jobs]).toEqual([null, []]);
    expect(await life.service.compact(CALLER, { ...asked, dryRun: true })).toMatchObject({ ok: true, value: { kind: "plan" } });

    tenant.set([daily(100_000, { purposes: "compaction" })]);
    await wait(life, MINUTE);
    expect(await life.service.compact(CALLER, asked)).toMatchObject({ ok: true, value: { kind: "requested" } });
    const leased = await life.service.leaseCompaction(CALLER, life.jobs[0] as CompactionId);
    expect(leased).toMatchObject({ value: { kind: "leased", part: { request: { reservation: 1 } } } });
  });

  test("is answered as before where its request is repeated, and is not refused where it asks no model", async () => {
    const { life, tenant } = await open([daily(100_000, { purposes: "compaction" })]);
    await talk(life, 5);
    const keyed = { ...BY_HAND, idempotency: { key: "k", digest: "d" } };
    expect(await life.service.compact(CALLER, keyed)).toMatchObject({ ok: true, value: { kind: "requested", replayed: false } });
    tenant.set([NONE]);
    await wait(life, 2 * MINUTE);

    expect(await life.service.compact(CALLER, keyed)).toMatchObject({ ok: true, value: { kind: "requested", replayed: true } });
    const { life: other } = await open([NONE]);
    expect(await other.service.compact(CALLER, BY_HAND)).toMatchObject({ ok: true, value: { kind: "plan" } });
  });

  test("that its object dies in is charged with the whole reservation by the next life, before anything else", async () => {
    const world = await open([daily(100_000, { purposes: "compaction" })]);
    await talk(world.life, 5);
    await world.life.send(huge("question-6"));
    expect(world.life.asked).toBe("tttttc");

    const next = revive(world);
    await next.service.items(CALLER, { after: null, limit: 1, order: "asc" });

    expect(next.sql.all("SELECT id FROM wallet_reservations WHERE id = 1")).toEqual([]);
    expect(next.sql.all<{ spent: number }>("SELECT spent FROM wallet_counters")[0]?.spent).toBeGreaterThan(3_000);
  });

  test("is made when the budget allows it, reserved by the worker that leases it, and charged once", async () => {
    const { life, tenant } = await open([daily(100_000, { purposes: "compaction" })], EARLY);
    await talk(life, 5);
    const [job] = life.jobs.splice(0);
    const leased = await life.service.leaseCompaction(CALLER, job as CompactionId);
    if (!leased.ok || leased.value.kind !== "leased") throw new Error("no lease");
    const { token, part } = leased.value;
    expect(part.request.reservation).toBe(1);
    expect(tenant.sum("held")).toBeGreaterThan(3_000);

    const outcome = {
      ok: true,
      model: SPEC.id,
      text: "They exchanged words.",
      finish: "stop",
      estimate: 3_000,
      usage: { input: 3_000, output: 8, cached: 0, reasoning: 0 },
      ms: 1,
      reservation: { id: 1 },
    } as const;
    const result = { compaction: job as CompactionId, token, outcome, part: part.part, next: part.next };
    await life.service.recordCompaction(CALLER, result);
    await life.service.recordCompaction(CALLER, result);
    await wait(life, 2 * MINUTE);

    expect([tenant.sum("spent"), tenant.sum("held")]).toEqual([3_008, 0]);
  });

  test("is asked of its worker once more after a refusal only with a reservation, or while no budget counts it", async () => {
    const { life, tenant } = await open([], EARLY);
    await talk(life, 5);
    const compaction = life.jobs[0] as CompactionId;
    const leased = await life.service.leaseCompaction(CALLER, compaction);
    if (!leased.ok || leased.value.kind !== "leased") throw new Error("no lease");
    const lease = { compaction, token: leased.value.token };
    expect(await life.service.holdsLease(CALLER, lease)).toEqual({ ok: true, value: true });

    tenant.set([NONE]);
    await life.advance(MINUTE);

    expect(await life.service.holdsLease(CALLER, lease)).toEqual({ ok: true, value: false });
    expect(await life.service.holdsLease(CALLER, { ...lease, reservation: 1 })).toEqual({ ok: true, value: true });
  });

  test("whose worker is lost is charged with the whole reservation when that expires, and the next attempt reserves anew", async () => {
    const { life, tenant } = await open([daily(100_000, { purposes: "compaction" })], EARLY);
    await talk(life, 5);
    const [job] = life.jobs.splice(0);
    await life.service.leaseCompaction(CALLER, job as CompactionId);
    const held = Number(
      life.sql.all<{ amounts: string }>("SELECT amounts FROM wallet_reservations")[0]?.amounts.match(/"amount":(\d+)/)?.[1],
    );
    await life.advance(2 * MINUTE);
    const again = await life.service.leaseCompaction(CALLER, job as CompactionId);
    expect(again).toMatchObject({ value: { kind: "leased", part: { request: { reservation: 2 } } } });
    await wait(life, 40 * MINUTE);

    expect(life.sql.all("SELECT id FROM wallet_reservations")).toEqual([]);
    expect(tenant.sum("spent")).toBeGreaterThanOrEqual(2 * held);
    expect(tenant.sum("held")).toBe(0);
  });
});

describe("a request that was made before a budget counted it, and that the provider refuses by its form", () => {
  const REFUSED = { type: "failure", failure: { kind: "invalid_param", status: 422, refused: "stream_options" } } as const;

  /** What is learned of the budgets is known at once, as from another session of the isolate. */
  async function openUncounted(policy: PolicyChoice = "oneclaw"): Promise<{ readonly life: Life; add(budget: Budget): void }> {
    const { life, tenant } = await open([], policy);
    const cache = tenant.newCache();
    life.budgets = tenant.source(cache);
    life.models = { resolve: async () => ({ ...PRICED, provider: "openai-compatible", base_url: "https://example.org/v1" }) };
    const add = (budget: Budget): void => {
      tenant.set([budget]);
      cache.learn(TENANT, tenant.known());
    };
    return { life, add };
  }

  const askedAfter = (life: Life, before: number) =>
    life.calls.slice(before).map(({ request }) => [request.purpose, request.reservation, findQuirks(request.model).stream_options]);

  test.each([
    ["is paid before it is made again", daily(100_000), [["compaction", 1, false]]],
    ["is not made again where the budget has no room", daily(10), []],
    [
      "is made again unpaid where the budget counts no call of the session",
      daily(10, { of: "end_user" }),
      [["compaction", undefined, false]],
    ],
  ])("for a summary %s", async (_, budget, expected) => {
    const { life, add } = await openUncounted();
    await talk(life, 5);
    await life.send(huge("question-6"));
    expect([life.call.request.purpose, life.call.request.reservation]).toEqual(["compaction", undefined]);
    const before = life.calls.length;

    add(budget);
    await life.say(REFUSED);

    expect(askedAfter(life, before)).toEqual(expected);
  });

  test("for a title or an answer about a summary is not made again", async () => {
    const { life, add } = await openUncounted({ preset: "oneclaw", title_model: SPEC.id });
    await talk(life, 5);
    await life.send(huge("question-6"));
    await life.summarize("They exchanged words.");
    await life.answer("reply-6");
    const compared = life.service.compareSummaries(CALLER, ASKED);
    await settle();
    const open = life.calls.filter(({ request }) => request.purpose === "title" || request.purpose === "comparison");
    expect(open).toHaveLength(3);
    const before = life.calls.length;

    add(daily(100_000));
    for (const call of open) call.say(REFUSED);
    await settle();

    expect(askedAfter(life, before)).toEqual([]);
    expect(await compared).toMatchObject({ ok: true, value: { questions: [{ a: { failure: "invalid_param" } }] } });
  });
});

describe("a comparison of summaries", () => {
  async function openSummarized(): Promise<World> {
    const world = await open([daily(100_000)]);
    const { life } = world;
    await talk(life, 5);
    await life.send(huge("question-6"));
    await life.summarize("They exchanged words.");
    await life.answer("reply-6");
    return world;
  }

  test("that no budget pays for is refused with the figures, and nothing is asked or stored", async () => {
    const { life, tenant } = await openSummarized();
    tenant.set([daily(10)]);
    await wait(life, 2 * MINUTE);
    const [events, calls] = [life.events().length, life.calls.length];

    expect(await life.service.compareSummaries(CALLER, ASKED)).toMatchObject({
      ok: false,
      error: { code: "budget_exhausted", budget: "daily", unit: "tokens", amount: 10 },
    });
    expect([life.events().length, life.calls.length]).toEqual([events, calls]);
    expect(await life.service.compareSummaries(CALLER, { ...ASKED, questions: [] })).toMatchObject({ ok: true });
  });

  test("is asked where the budget pays for its first question, of both summaries", async () => {
    const { life } = await openSummarized();
    const calls = life.calls.length;
    const compared = life.service.compareSummaries(CALLER, ASKED);
    await settle();
    const asked = life.calls.slice(calls);
    for (const call of asked) call.say({ type: "text", text: "An umbrella." }, finish(20, 3));

    expect(asked).toHaveLength(2);
    expect(await compared).toMatchObject({ ok: true, value: { questions: [{ a: { failure: null }, b: { failure: null } }] } });
  });
});
