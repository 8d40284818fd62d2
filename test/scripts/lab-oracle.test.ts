/** Compares the lab's oracle with every possible schedule, on conversations that are small enough to try them all. */
import { describe, expect, test } from "vitest";
import { toColumn } from "../../scripts/lab/column";
import { filler } from "../../scripts/lab/engine/filler";
import { runColumn, runUnlimited } from "../../scripts/lab/engine/run-column";
import { toSetup } from "../../scripts/lab/engine/setup";
import { toSystem } from "../../scripts/lab/oracle/as-system";
import { findBound } from "../../scripts/lab/oracle/bound";
import { Oracle, type Rules } from "../../scripts/lab/oracle/schedule";
import { type Tape, toTape } from "../../scripts/lab/oracle/tape";
import { runSystem } from "../../scripts/lab/systems/run-system";
import { trueTokens } from "../../scripts/lab/true-tokens";
import type { RecordedMessage } from "../../scripts/replay/recording";

const PRICES = { input: 1, cache_write: 1.25, cached: 0.1, output: 5 };
const RULES: Rules = {
  prices: PRICES,
  limit: 2_600,
  insideAbove: 0,
  keep: 300,
  share: 0.15,
  cap: 200,
  instruction: 40,
  last: 600,
  penalty: 0,
  grain: 1,
};

/** `sizes`: those of the groups. Two more groups are added before each call. */
function buildTape(sizes: readonly number[], cold: readonly number[] = []): Tape {
  const groups = sizes.map((size, index) => ({ from: index + 1, wire: size + 4, transcript: Math.min(size, 250), text: size }));
  const calls = Array.from({ length: sizes.length / 2 }, (_, call) => ({
    groups: 2 * call + 1,
    reply: 10 + call,
    isFirst: call % 2 === 0,
    cold: cold.includes(call),
  }));
  return { head: 300, frame: 30, opening: 20, groups, calls };
}

interface Here {
  readonly call: number;
  readonly cut: number;
  readonly summary: number;
}

/** Tries every schedule, and measures each call's request message by message. */
function cheapest(tape: Tape, rules: Rules, here: Here = { call: 0, cut: 0, summary: 0 }): number {
  const at = tape.calls[here.call];
  if (!at) return 0;
  const { prices } = rules;
  const sum = (from: number, to: number, of: "wire" | "transcript" | "text") =>
    tape.groups.slice(from, to).reduce((total, group) => total + group[of], 0);
  const weigh = (cut: number, summary: number, to: number) => tape.head + (cut > 0 ? tape.frame + summary : 0) + sum(cut, to, "wire");
  const missing = (cut: number) => {
    const all = Math.min(rules.last, sum(0, at.groups, "text"));
    return rules.penalty * (1 - Math.min(rules.last, sum(cut, at.groups, "text")) / all);
  };
  const pay = (tokens: number, cached: number, cut: number) =>
    prices.cached * cached + prices.cache_write * (tokens - cached) + prices.output * at.reply + missing(cut);
  const before = tape.calls[here.call - 1]?.groups ?? 0;
  const asIs = weigh(here.cut, here.summary, at.groups);
  const known = here.call === 0 || at.cold ? 0 : weigh(here.cut, here.summary, before);
  const found = asIs <= rules.limit ? [pay(asIs, known, here.cut) + cheapest(tape, rules, { ...here, call: here.call + 1 })] : [];
  const mayCut = here.call > 0 && (at.isFirst || asIs > rules.insideAbove * rules.limit);
  for (let to = here.cut + 1; mayCut && to <= at.groups; to++) {
    if (sum(to, at.groups, "text") < rules.keep) continue;
    const read = sum(here.cut, to, "transcript");
    const summary = Math.max(1, Math.min(rules.cap, Math.round(rules.share * read)));
    const tokens = weigh(to, summary, at.groups);
    if (tokens > rules.limit) continue;
    const prefix = weigh(here.cut, here.summary, to);
    const asked = prices.input * rules.instruction + prices.output * summary + Math.min(prices.cached * prefix, prices.input * read);
    const cached = at.cold ? 0 : tape.head + tape.opening;
    found.push(asked + pay(tokens, cached, to) + cheapest(tape, rules, { call: here.call + 1, cut: to, summary }));
  }
  return Math.min(Number.POSITIVE_INFINITY, ...found);
}

const SMALL = [120, 260, 90, 400, 150, 80, 300, 210, 60, 500, 130, 170, 240, 90];

describe("the oracle", () => {
  test.each<[string, Tape, Partial<Rules>]>([
    ["before each call", buildTape(SMALL), {}],
    ["between turns, or where the request would not fit", buildTape(SMALL), { insideAbove: 0.8, limit: 1_500 }],
    ["where much must stay", buildTape(SMALL), { keep: 900, limit: 1_900 }],
    ["with a charge for what is not verbatim", buildTape(SMALL), { penalty: 700 }],
    ["with a cache that forgets", buildTape(SMALL, [2, 5]), {}],
    ["where reading from the cache costs as much", buildTape(SMALL), { prices: { ...PRICES, cached: 1, cache_write: 1 } }],
  ])("finds the least that any schedule costs: %s", (_, tape, change) => {
    const rules = { ...RULES, ...change };
    expect(new Oracle(tape, rules).solve().value).toBeCloseTo(cheapest(tape, rules), 6);
  });

  test("never finds more when lengths are rounded, for they are rounded down", () => {
    const exact = new Oracle(buildTape(SMALL), RULES).solve().value;
    const rounded = new Oracle(buildTape(SMALL), { ...RULES, grain: 32 }).solve().value;
    expect(rounded).toBeLessThanOrEqual(exact);
    expect(rounded).toBeGreaterThan(0.97 * exact);
  });

  test("has no schedule where nothing fits", () => {
    expect(new Oracle(buildTape(SMALL), { ...RULES, limit: 500 }).solve().value).toBe(Number.POSITIVE_INFINITY);
  });
});

const talk = (turns: number): RecordedMessage[] =>
  Array.from({ length: turns }, (_, turn): RecordedMessage[] => [
    { role: "user", content: filler(60 + (turn % 5) * 30, `question ${turn}`) },
    { role: "assistant", content: filler(90 + (turn % 7) * 40, `answer ${turn}`) },
  ]).flat();
const column = toColumn("made up", 8_000, [{ id: "c", system: filler(1_200, "system"), messages: talk(120) }]);
const asProduction = { guard: true, eachCall: false, countsChain: false, recall: false };

describe("a column as the oracle reads it", () => {
  const tape = toTape(column, trueTokens);

  test("weighs what the provider counts when nothing leaves the view", () => {
    const last = tape.calls.at(-1);
    const sent = tape.groups.slice(0, last?.groups).reduce((sum, { wire }) => sum + wire, tape.head);
    expect([tape.calls.length, sent]).toEqual([120, runUnlimited(column, trueTokens).peak]);
  });

  test.each(["economy", "balanced", "retain", "verbatim"])(
    "%s costs more than the least, and showing as much is no cheaper than keeping as much",
    (name) => {
      const setup = toSetup(name, { ...asProduction, cacheStep: 1 });
      const figures = runColumn(column, setup, trueTokens);
      const bound = findBound(tape, { setup, figures, window: column.window });
      expect(figures.kept.length).toBeGreaterThan(0);
      expect(bound.keeping).toBeLessThanOrEqual(bound.retaining);
      expect(bound.retaining).toBeLessThan(figures.cost);
    },
  );

  test("the schedule can be carried out, and then costs about what the oracle said", () => {
    const setup = toSetup("balanced", { ...asProduction, cacheStep: 1 });
    const { keeping } = findBound(tape, {
      setup,
      figures: { ...runColumn(column, setup, trueTokens), verbatim_8k: 0 },
      window: column.window,
    });
    const { schedule } = findBound(tape, {
      setup,
      figures: { ...runColumn(column, setup, trueTokens), verbatim_8k: 0 },
      window: column.window,
    });
    const played = runSystem(column, toSystem("oracle", schedule, tape), { segments: trueTokens, conditions: setup });
    expect(played).toMatchObject({ overflows: 0, malformed: [], breaks: 0, compactions: schedule.cuts.length });
    expect(played.cost / keeping).toBeGreaterThan(0.99);
    expect(played.cost / keeping).toBeLessThan(1.03);
  });
});
