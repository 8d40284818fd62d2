/** Events of a log other than plain turns have the same effect in the evaluation as they had in the session. */
import { describe, expect, test } from "vitest";
import type { PolicyChoice } from "../../src/context/policy-choice";
import { CALLER, failure, type Life, settle } from "../session/life";
import { append, cutOff, ask as draft, newest, newLife, retry, SUMMARY, say, useTools, work } from "../session/talk";
import { evaluate, lived, SMALL, words } from "./support";

const CLEARS: PolicyChoice = "odincode";
const sumValues = (record: object): number => Object.values(record).reduce((sum: number, tokens: number) => sum + tokens, 0);
const tokensIn = async (life: Life): Promise<number> => {
  const page = await life.service.items(CALLER, { after: null, limit: 200, order: "asc" });
  if (!page.ok) throw new Error(page.error.code);
  return page.value.data.reduce((sum, { tokens }) => sum + tokens.tokens, 0);
};

describe("in a session's log", () => {
  test("what a retry took back is in no request after it, and the record says so", async () => {
    const life = await newLife({ spec: SMALL });
    await say(life, "first", words(100, "one"));
    await cutOff(life, "second", words(300, "begun"));
    await retry(life, words(50, "again"));
    await say(life, "third", "done");

    const { current, recorded, everything } = await evaluate(life, { policy: CLEARS });

    expect(current.record.withdrawn).toBeGreaterThan(200);
    expect(current.record).toEqual(recorded.record);
    expect(current.peak_tokens).toBeLessThan(400);
    expect(everything.peak_tokens).toBe(current.peak_tokens);
  });

  test("a call that failed without a word costs nothing and is counted apart", async () => {
    const life = await newLife({ spec: SMALL });
    await say(life, "first", "one");
    await life.send("second");
    life.calls.at(-1)?.say(failure("auth"));
    await settle();

    const { current, recorded } = await evaluate(life, { policy: CLEARS });

    expect({ calls: current.calls, really: recorded.calls, failed: recorded.failed_calls }).toEqual({ calls: 1, really: 1, failed: 1 });
    expect(current.turns).toBe(2);
  });

  test("imports count in later requests, and no model was called for them", async () => {
    const life = await newLife({ spec: SMALL });
    await append(life, "user", [{ type: "text", text: words(400, "imported") }]);
    await append(life, "assistant", [{ type: "text", text: words(400, "answer") }]);
    await say(life, "and now?", "well");

    const { current } = await evaluate(life, { policy: CLEARS });

    expect(current.calls).toBe(1);
    expect(current.peak_tokens).toBeGreaterThan(800);
  });

  test("every token of the record is somewhere: shown, reduced, summarised, dropped or taken back", async () => {
    const life = await newLife({ spec: SMALL });
    for (let n = 0; n < 12; n++) await useTools(life, words(100, `asks${n}`), [words(400, `first${n}`), words(400, `second${n}`)]);

    const { current, proposed } = await evaluate(life, { policy: CLEARS });

    const all = await tokensIn(life);
    expect([current.record, proposed.record].map(sumValues)).toEqual([all, all]);
    expect(proposed.record.reduced).toBeGreaterThan(0);
  });

  test("a policy's own place in time is kept: a cache that was not read for five minutes is cold", async () => {
    const life = await newLife({ spec: SMALL });
    await append(life, "user", [{ type: "text", text: words(3_000, "long") }]);
    await say(life, "one", "one");
    await say(life, "two", "two");
    const { everything: warm } = await evaluate(life, { policy: CLEARS });
    life.time.advance(300_001);
    await say(life, "three", "three");

    const { everything, current } = await evaluate(life, { policy: CLEARS });

    expect(warm.tokens.cached).toBeGreaterThan(2_500);
    expect([everything.tokens.cached, current.tokens.cached]).toEqual([warm.tokens.cached, warm.tokens.cached]);
  });
});

describe("another policy than the session's", () => {
  test("that keeps less costs less, and says by position what was come back to and not shown", async () => {
    const life = await lived("verbatim", 40);

    const { current, proposed, ratio } = await evaluate(life, { policy: "economy" });

    expect(ratio).toBeLessThan(1);
    expect(proposed.verbatim_8k).toBeLessThan(current.verbatim_8k);
    const roomy = await evaluate(life, { policy: "oneclaw", window: 200_000 });
    expect(proposed.identifiers.out_of_view).toBeGreaterThan(0);
    expect(roomy.proposed.identifiers).toEqual({ needed: proposed.identifiers.needed, out_of_view: 0, examples: [] });
    for (const { position, said_at } of proposed.identifiers.examples) expect(said_at).toBeLessThan(position);
    expect(JSON.stringify(proposed)).not.toMatch(/ORD|CUST|SKU/);
  });

  test("says where its figures rest on estimates: what the session did itself was counted, but the summaries", async () => {
    const life = await lived("oneclaw", 12, { ...SMALL, context_window: 200_000 });

    const { current, proposed } = await evaluate(life, { policy: "balanced", window: 8_000 });
    const { current: roomy } = await evaluate(life, { policy: "balanced", window: 200_000 });

    expect(roomy.cost).toMatchObject({ source: "reported", error_bound: 0 });
    expect([current.cost.source, proposed.cost.source]).toEqual(["mixed", "mixed"]);
    expect(proposed.cost.error_bound).toBeGreaterThan(0);
  });

  test("at a window that a request of the record does not fit into, says how many would have had no room", async () => {
    const life = await newLife({ spec: { ...SMALL, context_window: 200_000 } });
    await say(life, words(6_000, "long"), "I see.");
    await say(life, "short", "yes");

    const { current } = await evaluate(life, { policy: "oneclaw", window: 4_096 });

    expect(current.would_not_fit).toBe(1);
  });

  test("is priced in dollars where prices are known or named, and else relative to plain input", async () => {
    const life = await lived("oneclaw", 5);
    const million = 1_000_000;
    const prices = { input: 3 / million, cached: 0.3 / million, cache_write: 3.75 / million, output: 15 / million };

    const relative = await evaluate(life, { policy: "economy" });
    const priced = await evaluate(life, { policy: "economy", prices });

    expect([relative.unit, priced.unit]).toEqual(["relative", "usd"]);
    const { input, cached, output } = priced.everything.tokens;
    expect(priced.everything.cost.amount).toBeCloseTo(
      (input - cached) * prices.cache_write + cached * prices.cached + output * prices.output,
    );
  });
});

describe("what was asked about summaries", () => {
  test("is no cost of the session's: neither a draft that waits nor a comparison's calls change what a policy comes to", async () => {
    const life = await lived("oneclaw", 20);
    await draft(life, { keepRecent: 300, draft: true });
    await work(life, SUMMARY);
    const before = await evaluate(life, { policy: "balanced" });
    const compaction = newest(life);
    if (!compaction) throw new Error("no summary stands");

    const compared = life.service.compareSummaries(CALLER, {
      a: compaction,
      b: "current",
      questions: [{ question: "What of it?", expect: null }],
      model: null,
    });
    for (const _side of ["a", "b"]) await settle();
    for (const call of life.calls.filter(({ request }) => request.purpose === "comparison")) {
      call.say(
        { type: "text", text: "Nothing." },
        { type: "finish", finish: "stop", usage: { input: 500, output: 9, cached: 0, reasoning: 0 } },
      );
    }
    expect(await compared).toMatchObject({ ok: true });

    expect(await evaluate(life, { policy: "balanced" })).toEqual(before);
  });
});

describe("the newest part alone", () => {
  test("begins between two turns, and the rest is as if it had not been said", async () => {
    const life = await lived("oneclaw", 20);

    const whole = await evaluate(life, { policy: "balanced" });
    const part = await evaluate(life, { policy: "balanced", last: 10 });

    expect([whole.messages_left_out, whole.from_position]).toEqual([0, 1]);
    expect(part.messages).toBeLessThanOrEqual(10);
    expect(part.messages + part.messages_left_out).toBe(whole.messages);
    expect(part.current.turns).toBeLessThan(whole.current.turns);
    expect(part.current.peak_tokens).toBeLessThan(whole.everything.peak_tokens);
    expect(part.recorded.turns).toBe(part.current.turns);
  });

  test("of a long session that was never compacted is all there is in the figures", async () => {
    const life = await newLife({ policy: "verbatim" });
    for (let n = 0; n < 1_100; n++) await append(life, "user", [{ type: "text", text: `line ${n}` }]);
    await say(life, "and now?", "well");

    const { messages_left_out, messages, recorded } = await evaluate(life, { policy: "balanced", last: 10, window: 200_000 });

    expect([messages, messages_left_out]).toEqual([10, 1_092]);
    const { verbatim, ...rest } = recorded.record;
    expect(verbatim).toBe(sumValues(recorded.record));
    expect(verbatim).toBeGreaterThan(0);
    expect(sumValues(rest)).toBe(0);
  });
});
