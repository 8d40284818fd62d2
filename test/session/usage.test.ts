/** The ledger in the responses of the session's object, and the two context figures beside every usage. */
import { describe, expect, test } from "vitest";
import type { ModelSpec } from "../../src/app/ports";
import { estimateTokens } from "../../src/context/tokens";
import type { LedgerRow } from "../../src/contract/model-call";
import type { SessionDescription } from "../../src/contract/session";
import type { TurnReport } from "../../src/contract/turn";
import type { CallUsage } from "../../src/domain/model-call";
import { CALLER, failure, Life, SPEC, settle } from "./life";

const PRICES = { input: 0.001, cache_write: 0.002, cached: 0.0001, output: 0.01 };
const PRICED: ModelSpec = { ...SPEC, prices: PRICES };
const USAGE: CallUsage = { input: 100, output: 20, cached: 50, reasoning: 5, cache_write: 10 };
/** 40 uncached, 50 cached, 10 written, 20 of output. */
const COST = 0.04 + 0.005 + 0.02 + 0.2;

async function priced(spec: ModelSpec = PRICED): Promise<Life> {
  const life = new Life();
  life.models = { resolve: async () => spec };
  await life.open();
  return life;
}

const finish = (usage: CallUsage | null) => ({ type: "finish", finish: "stop", usage }) as const;
const says = (life: Life, usage: CallUsage | null): Promise<void> => life.say({ type: "text", text: "well" }, finish(usage));

async function describeSession(life: Life): Promise<SessionDescription> {
  const described = await life.service.describe(CALLER);
  if (!described.ok) throw new Error(described.error.code);
  return described.value;
}

async function lastTurn(life: Life): Promise<TurnReport> {
  const turn = life.runtime.state.turn?.id ?? life.runtime.state.last_turn?.id;
  const report = turn && (await life.service.turn(CALLER, turn));
  if (!report?.ok) throw new Error("no turn");
  return report.value;
}

async function readLedger(life: Life, page: { after?: number; limit?: number; order?: "asc" | "desc" } = {}) {
  const found = await life.service.usage(CALLER, { after: null, limit: 50, order: "asc", ...page });
  if (!found.ok) throw new Error(found.error.code);
  return found.value;
}

const readFrames = (life: Life): Record<string, unknown>[] =>
  life.sql
    .all<{ lines: string }>("SELECT lines FROM frames ORDER BY first")
    .flatMap(({ lines }) => lines.split("\n"))
    .map((line) => JSON.parse(line.slice(line.indexOf("\t", line.indexOf("\t") + 1) + 1)) as Record<string, unknown>);

describe("before the first turn", () => {
  test("a session says its window, and what its system prompt and tools weigh already", async () => {
    const life = new Life();
    const system = "You answer in the words of a sea captain.";
    const tools = [{ name: "look_up", description: "Looks something up.", parameters: { type: "object", properties: {} } }];
    await life.service.open(CALLER, { model: SPEC.id, policy: "oneclaw", system, tools, title: null, metadata: {} });
    await settle();

    const { context_window, current_context_tokens, total_tokens, usage } = await describeSession(life);

    const raw = estimateTokens(system) + estimateTokens(JSON.stringify(tools));
    expect(context_window).toBe(SPEC.context_window);
    expect(current_context_tokens).toMatchObject({ tokens: raw, source: "estimated", error_bound: Math.ceil(raw / 4) + 8 });
    expect(total_tokens).toBe(0);
    expect(usage).toMatchObject({ calls: 0, cost: 0, cost_complete: true });
  });

  test("a later life that cannot look its model up still says the window", async () => {
    const life = await priced();
    const next = new Life(life.sql, "life-2");
    next.models = { resolve: async () => Promise.reject(new Error("out of reach")) };

    expect(await describeSession(next)).toMatchObject({ context_window: SPEC.context_window });
  });

  test("another model's window is not taken for it", async () => {
    const life = await priced();
    life.models = { resolve: async (id) => ({ ...SPEC, id, context_window: id === "wide" ? 99_000 : 8_000 }) };
    await life.service.patch(CALLER, { model: "wide" });

    expect(life.runtime.knownModel.countContext(life.runtime.state).context_window).toBe(99_000);
    const next = new Life(life.sql, "life-2");
    next.models = { resolve: async () => Promise.reject(new Error("out of reach")) };
    next.runtime.execute({ type: "ChangeSettings", at: 1, changes: { model: "unheard-of" } });
    expect(next.runtime.knownModel.countContext(next.runtime.state).context_window).toBeNull();
  });
});

describe("after a turn", () => {
  test("how full the window is and what was spent are two figures, and the second only grows", async () => {
    const life = await priced();
    await life.send("one");
    await says(life, USAGE);
    const first = await describeSession(life);
    await life.send("two");
    await says(life, { ...USAGE, input: 130 });
    const second = await describeSession(life);

    // Thinking is not sent again.
    expect(first).toMatchObject({ current_context_tokens: { tokens: 115, source: "reported" }, total_tokens: 120 });
    expect(second).toMatchObject({ current_context_tokens: { tokens: 145 }, total_tokens: 270 });
  });

  test("of a model of unknown window says what the policy takes it to be", async () => {
    const life = await priced({ ...PRICED, context_window: null });
    await life.service.patch(CALLER, { policy: { preset: "balanced", unknown_window: 128_000 } });
    expect(await life.service.describe(CALLER)).toMatchObject({ value: { context_window: null, assumed_window: 128_000 } });
    await life.send("one");
    await says(life, USAGE);

    const figures = { context_window: null, assumed_window: 128_000 };
    const told = readFrames(life).filter(({ type }) => type === "usage.updated" || type === "turn.completed");
    expect([...told, await lastTurn(life)]).toMatchObject([figures, figures, figures]);
  });

  test("its cost is in its report, in the frames of its end and of its call, and in the session's sum", async () => {
    const life = await priced();
    await life.send("one");
    await says(life, USAGE);

    const figures = {
      context_window: 8_000,
      assumed_window: null,
      current_context_tokens: { tokens: 115, source: "reported", error_bound: 0 },
    };
    const frames = readFrames(life);
    expect(await lastTurn(life)).toMatchObject({ usage: USAGE, cost: COST, ...figures });
    expect(frames.find(({ type }) => type === "turn.completed")).toMatchObject({ usage: USAGE, cost: COST, ...figures });
    expect(frames.find(({ type }) => type === "usage.updated")).toMatchObject({
      source: "turn",
      model: SPEC.id,
      usage: USAGE,
      cost: COST,
      ...figures,
    });
    const { usage } = await describeSession(life);
    expect(usage).toEqual({
      calls: 1,
      failed_calls: 0,
      input: 100,
      uncached: 40,
      cached: 50,
      cache_write: 10,
      output: 20,
      reasoning: 5,
      cost: COST,
      unpriced_calls: 0,
      cost_complete: true,
    });
  });

  test.each([
    ["a model without prices", SPEC, USAGE],
    ["a provider that reported no usage", PRICED, null],
    ["a gateway that reports zeros", PRICED, { input: 0, output: 0, cached: 0, reasoning: 0 }],
  ])("%s leaves the cost unknown, never free", async (_, spec, usage) => {
    const life = await priced(spec);
    await life.send("one");
    await says(life, usage);

    expect((await lastTurn(life)).cost).toBeNull();
    expect((await describeSession(life)).usage).toMatchObject({ calls: 1, cost: null, unpriced_calls: 1, cost_complete: false });
  });

  test("a failed call is counted, and its turn's end says the same figures", async () => {
    const life = await priced();
    await life.send("one");
    await life.say(failure("auth"));

    expect((await describeSession(life)).usage).toMatchObject({ calls: 1, failed_calls: 1, cost_complete: false });
    const end = readFrames(life).find(({ type }) => type === "turn.failed");
    expect(end).toMatchObject({
      usage: null,
      cost: null,
      context_window: 8_000,
      current_context_tokens: { tokens: expect.any(Number), source: "estimated" },
    });
  });

  const REFUSALS = [
    ["invalid_param", 400],
    ["auth", 401],
    ["not_found", 404],
    ["rate_limit", 429],
    ["unavailable", 503],
  ] as const;

  test.each(REFUSALS)("one that the provider refused (%s, %i) costs nothing, and the sums stay complete", async (kind, status) => {
    const life = await priced();
    await life.send("one");
    // A busy model is asked three times.
    for (let call = 1; call <= 3 && life.runtime.state.turn; call++) {
      await life.say({ type: "failure", failure: { kind, status } });
      await life.advance(2_000);
    }
    expect(await lastTurn(life)).toMatchObject({ status: "failed", cost: 0 });
    await life.send("again");
    await says(life, USAGE);

    const { usage } = await describeSession(life);
    expect(usage).toMatchObject({ calls: life.calls.length, failed_calls: life.calls.length - 1, cost: COST });
    expect(usage).toMatchObject({ unpriced_calls: 0, cost_complete: true });
  });

  test.each([
    ["after it had begun to answer", [{ type: "text", text: "Once" } as const]],
    ["without a status", []],
  ])("one that broke off %s has no known cost", async (_, before) => {
    const life = await priced();
    await life.send("one");
    await life.say(...before, { type: "failure", failure: { kind: "auth", status: before.length > 0 ? 401 : null } });
    expect((await describeSession(life)).usage).toMatchObject({ cost: null, unpriced_calls: 1, cost_complete: false });
  });

  test("one that a crash interrupted reports the figures before the model is looked up", async () => {
    const life = await priced();
    await life.send("one");
    await life.say({ type: "text", text: "Once upon" });

    const next = new Life(life.sql, "life-2");
    next.models = { resolve: () => new Promise(() => {}) };
    void next.service.describe(CALLER);
    await settle();

    expect(readFrames(next).find(({ type }) => type === "turn.interrupted")).toMatchObject({ context_window: 8_000 });
  });
});

describe("the ledger of a session", () => {
  const models = (rows: readonly LedgerRow[]) => rows.map(({ input }) => input);

  async function three(): Promise<Life> {
    const life = await priced();
    for (const input of [100, 200, 300]) {
      await life.send(`question ${input}`);
      await says(life, { ...USAGE, input });
    }
    return life;
  }

  test("has a row for each call, with what it used and cost", async () => {
    const life = await priced();
    await life.send("one");
    await says(life, USAGE);

    const { data, has_more } = await readLedger(life);
    expect(has_more).toBe(false);
    expect(data).toEqual([
      {
        key_id: null,
        end_user: null,
        seq: 3,
        at: expect.any(Number),
        turn_id: life.runtime.state.last_turn?.id,
        purpose: "turn",
        source: "turn",
        model: SPEC.id,
        input: 100,
        uncached: 40,
        cached: 50,
        cache_write: 10,
        output: 20,
        reasoning: 5,
        cost: COST,
        estimate: expect.any(Number),
        outcome: "stop",
        ms: 0,
        left_out: [],
      },
    ]);
  });

  test("is read page by page in either order, whatever lies between two calls", async () => {
    const life = await three();
    const first = await readLedger(life, { limit: 2 });
    expect([models(first.data), first.has_more]).toEqual([[100, 200], true]);
    const second = await readLedger(life, { limit: 2, after: first.data.at(-1)?.seq ?? 0 });
    expect([models(second.data), second.has_more]).toEqual([[300], false]);
    const back = await readLedger(life, { limit: 2, order: "desc" });
    expect([models(back.data), back.has_more]).toEqual([[300, 200], true]);
    expect(models((await readLedger(life, { order: "desc", after: back.data.at(-1)?.seq ?? 0 })).data)).toEqual([100]);
  });

  test("has no counts where the provider reported none", async () => {
    const life = await priced();
    await life.send("one");
    await says(life, null);

    const counts = { input: null, uncached: null, cached: null, cache_write: null, output: null, reasoning: null, cost: null };
    expect((await readLedger(life)).data).toMatchObject([{ ...counts, outcome: "stop" }]);
  });
});

describe("a compaction's cost", () => {
  test("is in its receipt, by the prices of the model that answered", async () => {
    const life = await priced();
    for (const n of [1, 2, 3, 4, 5, 6]) {
      await life.send(`question ${n} ${"word ".repeat(200)}`);
      await life.say({ type: "text", text: `reply ${"word ".repeat(200)}` }, finish(null));
    }
    await life.service.compact(CALLER, { dryRun: false, instructions: null, keepRecent: 256, upTo: null, idempotency: null });
    await settle();
    const id = life.runtime.state.compaction.requested?.id;
    const leased = id && (await life.service.leaseCompaction(CALLER, id));
    if (!id || !leased?.ok || leased.value.kind !== "leased") throw new Error("nothing was leased");
    const { token, part } = leased.value;
    const outcome = { ok: true, text: "They spoke.", finish: "stop", model: "m", estimate: 900, usage: USAGE, ms: 5, cost: 0.25 } as const;
    await life.service.recordCompaction(CALLER, { compaction: id, token, outcome, part: part.part, next: null });
    await settle();

    const shown = await life.service.compaction(CALLER, id);
    expect(shown).toMatchObject({ value: { status: "completed", receipt: { cost: 0.25, model: "m" } } });
    expect((await readLedger(life, { order: "desc", limit: 1 })).data).toMatchObject([
      { purpose: "compaction", source: "context_compaction", cost: 0.25, turn_id: null },
    ]);
  });
});
