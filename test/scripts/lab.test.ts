import { describe, expect, test } from "vitest";
import { toColumn } from "../../scripts/lab/column";
import { PRICE_VARIANTS, type PriceName } from "../../scripts/lab/conditions";
import { findMalformed } from "../../scripts/lab/engine/check-request";
import { filler } from "../../scripts/lab/engine/filler";
import { runColumn, runUnlimited } from "../../scripts/lab/engine/run-column";
import { LabSession } from "../../scripts/lab/engine/session";
import { toSetup, USUAL } from "../../scripts/lab/engine/setup";
import type { Column } from "../../scripts/lab/engine/steps";
import { drawColumn } from "../../scripts/lab/picture";
import { countTokens, trueTokens } from "../../scripts/lab/true-tokens";
import type { RecordedMessage } from "../../scripts/replay/recording";
import { estimateParts, estimateRough } from "../../src/context/item-tokens";
import { toPolicy } from "../../src/context/policy-choice";
import type { ViewMessage } from "../../src/context/view";
import { FIRST_BRANCH } from "../../src/domain/branch";
import type { Part } from "../../src/domain/message";
import type { SessionState } from "../../src/domain/state";
import { relativeCost } from "../../src/evaluate/costs";
import { findRepeatedIdentifiers, identifiersIn } from "../../src/evaluate/identifiers";
import { verbatimShare } from "../../src/evaluate/measures";
import { PromptCache, roundToCached } from "../../src/evaluate/prompt-cache";
import { transcriptCost } from "../../src/evaluate/summary-cost";
import { item } from "../support/builders";

const FRAME = 4;
const asProduction = { guard: true, eachCall: false, countsChain: false, recall: false };

const user = (content: string): RecordedMessage => ({ role: "user", content });
const says = (content: string): RecordedMessage => ({ role: "assistant", content });
const column = (window: number, ...messages: RecordedMessage[]): Column =>
  toColumn("made up", window, [{ id: "c", system: filler(1_020, "system"), messages }]);

describe("what a call costs", () => {
  test("cached input is a tenth, output five times the price of input", () => {
    expect(relativeCost({ input: 2_000, cached: 1_024, output: 10 })).toBeCloseTo(976 + 102.4 + 50);
  });

  test("the cache holds nothing below 1,024 tokens, and from there on steps of 128", () => {
    expect([1_023, 1_024, 1_151, 1_152].map(roundToCached)).toEqual([0, 1_024, 1_024, 1_152]);
  });

  test("a filler has exactly as many tokens as it is asked for, and no identifier", () => {
    expect([1, 7, 400].map((tokens) => countTokens(filler(tokens, "system")))).toEqual([1, 7, 400]);
    expect(identifiersIn(filler(400, 3)).size).toBe(0);
  });

  test("what counts is the longest prefix shared with any earlier request, within a message too", () => {
    const cache = new PromptCache(trueTokens);
    const opening = trueTokens.of("system", filler(1_196, "one"));
    expect(cache.read([opening, trueTokens.of("user", "first")])).toBe(0);
    expect(cache.read([trueTokens.of("system", "another session's prompt")])).toBe(0);
    expect(cache.read([opening, trueTokens.of("user", "second")])).toBe(1_152);
    expect(cache.read([trueTokens.of("system", `${filler(1_100, "one")} and then another end`)])).toBe(1_024);
  });

  test("a request of another role shares nothing", () => {
    const cache = new PromptCache(trueTokens);
    cache.read([trueTokens.of("user", filler(2_000, "one"))]);
    expect(cache.read([trueTokens.of("assistant", filler(2_000, "one"))])).toBe(0);
  });

  test("a source beyond the summariser's room is read in parts, each after the first with the summary so far", () => {
    const one = transcriptCost({ messages: [300, 300], chain: 50, expected: 100, room: 600 });
    expect(one).toEqual({ input: 400 + 50 + 600, cached: 0, output: 100 });
    const two = transcriptCost({ messages: [300, 300], chain: 50, expected: 100, room: 500 });
    expect(two).toEqual({ input: 400 + 50 + 300 + (400 + 100 + 300), cached: 0, output: 200 });
  });

  test("two calls without a limit: the second reads the first one's prompt from the cache, and the reply as new", () => {
    const made = column(16_000, user(filler(96, "a")), says(filler(100, "b")), user(filler(96, "c")), says(filler(100, "d")));
    const { calls, cost, tokens } = runUnlimited(made, trueTokens);
    const first = 1_020 + FRAME + 96 + FRAME;
    const second = first + 100 + FRAME + 96 + FRAME;
    expect({ calls, tokens }).toEqual({ calls: 2, tokens: [first, second] });
    expect(cost).toBeCloseTo(first + 500 + (second - 1_024 + 102.4 + 500));
  });

  test("what other sessions sent is read from the cache: the system prompt at the first call, and again once memory_query stands in front", () => {
    const made = column(
      2_500,
      user(filler(96, "a")),
      says(filler(900, "b")),
      user(filler(96, "c")),
      says(filler(900, "d")),
      user("e"),
      says("f"),
    );
    const [alone, shared] = ([{}, { sharedPrefix: true }] as const).map((by) =>
      runColumn(made, toSetup("balanced", { ...asProduction, recall: true, ...by }), trueTokens),
    );
    expect([alone?.changes, alone?.tokens]).toEqual([[2], shared?.tokens]);
    expect((alone?.cost ?? 0) - (shared?.cost ?? 0)).toBeCloseTo(2 * 0.9 * 1_024);
  });

  test("under other prices the same tokens cost otherwise; what a turn reads as new is written to the cache", () => {
    const made = column(16_000, user(filler(96, "a")), says(filler(100, "b")), user(filler(96, "c")), says(filler(100, "d")));
    const first = 1_020 + FRAME + 96 + FRAME;
    const fresh = first + (first + 100 + FRAME + 96 + FRAME) - 1_024;
    const costUnder = (prices: PriceName) => runUnlimited(made, trueTokens, { ...USUAL, prices: PRICE_VARIANTS[prices] }).cost;
    expect(costUnder("write-1.25")).toBeCloseTo(1.25 * fresh + 102.4 + 1_000);
    expect(costUnder("cached-0.5")).toBeCloseTo(fresh + 512 + 1_000);
    expect(costUnder("no-discount")).toBeCloseTo(fresh + 1_024 + 1_000);
    expect(costUnder("output-8")).toBeCloseTo(fresh + 102.4 + 1_600);
  });

  test("a cold cache reads the next turn as new, every so many turns; the policy knows that its cache is cold", () => {
    const made = column(16_000, ...["a", "b", "c", "d"].flatMap((name) => [user(filler(96, name)), says(filler(100, `${name}!`))]));
    const cachedUnder = (cold: number | null) => runUnlimited(made, trueTokens, { ...USUAL, cold }).cached_share;
    expect(cachedUnder(1)).toBe(0);
    expect(cachedUnder(3)).toBeGreaterThan(0);
    expect(cachedUnder(3)).toBeLessThan(cachedUnder(null));
    expect(cachedUnder(5)).toBe(cachedUnder(null));
  });

  test("a cache that holds prefixes to the token only makes a policy cheaper, and changes nothing that it does", () => {
    const talk = Array.from({ length: 60 }, (_, at) => [user(filler(150, `q${at}`)), says(filler(250, `a${at}`))]).flat();
    const run = (cacheStep: number | null) =>
      runColumn(column(8_000, ...talk), toSetup("balanced", { ...asProduction, cacheStep }), trueTokens);
    expect(run(1).cost).toBeLessThan(run(null).cost);
    expect([run(1).tokens, run(1).changes]).toEqual([run(null).tokens, run(null).changes]);
    expect(run(null).spent.at(-1)).toBe(run(null).cost);
    expect(run(null).kept).toHaveLength(run(null).changes.length);
  });

  test("a conversation that stays short costs exactly the same under every policy", () => {
    const made = column(16_000, user("How are you?"), says("Well."), user("Good."), says("Yes."));
    for (const name of ["oneclaw", "opal", "balanced", "verbatim"])
      expect(runColumn(made, toSetup(name, asProduction), trueTokens).cost).toBe(runUnlimited(made, trueTokens).cost);
  });
});

describe("what a provider would refuse", () => {
  const asks: ViewMessage = { role: "assistant", parts: [{ type: "tool_call", call_id: "x", name: "look_up", arguments: "{}" }] };
  const answers: ViewMessage = {
    role: "tool",
    parts: [{ type: "tool_result", call_id: "x", name: "look_up", output: "1", is_error: false }],
  };
  const asked: ViewMessage = { role: "user", parts: [{ type: "text", text: "hello" }] };
  const check = (...messages: ViewMessage[]) => findMalformed({ system: null, messages, older: 0 });

  test("a call with its result right after it is well formed, again and again with the same id", () => {
    expect(check(asked, asks, answers, asks, answers)).toBeNull();
  });

  test("a call without its result, a result without its call, and a result twice are not", () => {
    expect(check(asks, asked)).toBe("message 1: x has no result");
    expect(check(asks)).toBe("the end: x has no result");
    expect(check(asked, answers)).toBe("message 1: a result for x, which was not called");
    expect(check(asks, answers, answers)).toBe("message 2: a result for x, which was not called");
  });
});

describe("what is measured of the memory", () => {
  test("identifiers are addresses, mixed words and long numbers; amounts, dates and times are not", () => {
    const text =
      "Mia (mia.li3818@example.com, mia_li_3668) flies HAT069 on 2024-05-20 at 06:00 for $1,200; case 7504069, seat 12A, May 20th";
    expect([...identifiersIn(text)].sort()).toEqual(["7504069", "HAT069", "mia.li3818@example.com", "mia_li_3668"]);
  });

  test("an identifier is lost when it is said again and the request does not show it", () => {
    const earlier = new Set(["HAT069", "HAT083", "HAT999"]);
    const shown = ["HAT069 leaves at six"];
    expect(findRepeatedIdentifiers({ earlier, shown, said: "Book HAT069 and HAT083, not HAT111" })).toEqual({ needed: 2, lost: 1 });
  });

  test("the verbatim share counts tokens from the newest back, half an item at the edge, a preview for what it shows", () => {
    const record = [1, 2, 3].map((position) => {
      const text = filler(100, position);
      return {
        meta: item(position, "user"),
        parts: [{ type: "text" as const, text }],
        text,
        tokens: countTokens(text),
        chars: text.length,
      };
    });
    const view = {
      epoch: 1,
      overlays: [],
      reduced: [],
      signed_from: 0,
      tokens: 0,
      rough: 0,
      system: 0,
      media: 0,
      items: record.slice(1).map(({ meta }) => meta),
    };
    const on = (shown: SessionState["view"]) => ({ view: shown, branch: FIRST_BRANCH });
    expect(verbatimShare(record, on(view), 200)).toBe(1);
    expect(verbatimShare(record, on(view), 250)).toBe(0.8);
    expect(verbatimShare(record, on(view), 9_000)).toBeCloseTo(2 / 3);
    const chars = (record[1]?.text.length ?? 0) / 4;
    const reduced = [{ position: 2, tokens: 25, how: "shortened" as const, chars }];
    expect(verbatimShare(record, on({ ...view, reduced }), 200)).toBeCloseTo((100 + 25) / 200);
  });
});

describe("what a message of the lab weighs", () => {
  const session = new LabSession({
    model: "m",
    system: null,
    policyText: "oneclaw",
    policy: toPolicy("oneclaw"),
    recall: false,
    segments: trueTokens,
  });

  test.each<[Part["type"], Part]>([
    ["text", { type: "text", text: 'Grüße aus Köln, "wie immer"' }],
    ["tool_call", { type: "tool_call", call_id: "x", name: "a_long_name", arguments: '{"order":"ORD1"}' }],
    ["tool_result", { type: "tool_result", call_id: "x", name: "a_long_name", output: '{"a":1}', is_error: false }],
  ])("is what production would store of it, by both estimators: %s", (_type, part) => {
    const { tokens, rough } = session.draft("user", [part], { turn: null });
    expect([tokens, rough]).toEqual([estimateParts([part]), estimateRough([part])]);
  });
});

describe("a request that does not fit", () => {
  const made = column(8_000, user("Hello"), says("Hello."), user(filler(9_000, "long")), says("I see."), user("Go on"), says("I do."));

  test("is a failed turn without the guard; the conversation goes on as it was recorded", () => {
    const { turns, calls, overflows, refused } = runColumn(made, toSetup("oneclaw", { ...asProduction, guard: false }), trueTokens);
    expect({ turns, calls, overflows, refused }).toMatchObject({ turns: 3, calls: 3, overflows: 2, refused: 0 });
  });

  test("is not sent with it", () => {
    const { calls, overflows, refused, peak } = runColumn(made, toSetup("oneclaw", asProduction), trueTokens);
    expect({ calls, overflows, refused }).toEqual({ calls: 2, overflows: 0, refused: 1 });
    expect(peak).toBeLessThanOrEqual(7_500);
  });
});

describe("before a call, what would not fit", () => {
  const pairs = Array.from({ length: 12 }, (_, n) => [user(filler(900, `asks ${n}`)), says(filler(300, `says ${n}`))]).flat();
  const runTriggers = (name: string) => runColumn(column(8_000, ...pairs), toSetup(name, asProduction), trueTokens).triggers;

  test("is the guard's alone under a policy without summaries, as in production", () => {
    expect(runTriggers("odincode")).toEqual({ guard: expect.any(Number) });
  });

  test("is summarised inline under one that has them", () => {
    expect(runTriggers("oneclaw")).toMatchObject({ inline: expect.any(Number) });
  });
});

describe("a picture", () => {
  test("has one line a policy with one point a call, and names that cannot close a tag", () => {
    const made = { ...column(8_000, user("Hello"), says("Hello."), user("Go on"), says("I do.")), name: "<a&b>" };
    const setup = toSetup("balanced", asProduction);
    const drawn = drawColumn({
      column: made,
      unlimited: runUnlimited(made, trueTokens),
      rows: [{ setup, figures: runColumn(made, setup, trueTokens) }],
    });
    expect(drawn.match(/points="([^"]*)"/)?.[1]?.split(" ")).toHaveLength(2);
    expect(drawn).toContain("&lt;a&amp;b&gt;: tokens of each request");
  });
});
