/** System messages before the cut that a policy keeps verbatim: they stay, no summary reads them, and they do not count as removed. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toPolicy, toPolicyText } from "../../src/context/policy-choice";
import { FIRST_SUMMARY_SHARE, propose } from "../../src/context/proposal";
import type { ItemMeta } from "../../src/domain/message";
import type { SessionState } from "../../src/domain/state";
import { appendToView, toWeighedView } from "../../src/domain/view";
import { item, sized, viewing } from "../support/builders";
import { carriedOut, chat, findSummarizeRung, planUnder, toLimits, withoutRecall } from "./planning";

const WINDOW = 8_000;
/** 7,000 tokens, of which the first 3,000 belong to a system message. */
const said = (kind: "system" | "user"): SessionState => withoutRecall(viewing([item(1, kind, { tokens: 3_000 }), ...chat(20, 200, 2)]));
const keeping = (system_messages: boolean): string =>
  toPolicyText({ preset: "balanced", keep: { system_messages }, trigger: { rent_factor: null } });

const proposed = (state: SessionState, system_messages = true) => {
  const policy = toPolicy(keeping(system_messages));
  const proposal = propose({ state, limits: toLimits(WINDOW), policy, trigger: "threshold", now: 0 });
  if (!proposal) throw new Error("nothing can leave");
  return proposal;
};

describe("what is planned", () => {
  test("has them beside its source, under a policy that keeps them", () => {
    const [kept, read, none] = [proposed(said("system")), proposed(said("system"), false), proposed(said("user"))];
    expect([kept.sizes.standing, read.sizes.standing, none.sizes.standing]).toEqual([3_000, 0, 0]);
    expect([kept.sizes.source, read.sizes.source]).toEqual([none.sizes.source - 3_000, none.sizes.source]);
    expect(kept.sizes.summary).toBeLessThan(read.sizes.summary);
  });

  test("says of its source what a summary will read, and of its gain what will go", () => {
    const state = said("system");
    const plan = planUnder(keeping(true), state, { limits: toLimits(WINDOW) });
    const rung = findSummarizeRung(plan);
    expect(rung.keeps).toEqual([1]);
    expect(rung.tokens).toBe(rung.items * 200);
    expect(rung.expected).toBe(Math.ceil(rung.items * 200 * FIRST_SUMMARY_SHARE));
    const after = carriedOut(state, plan, { limits: toLimits(WINDOW), tokens: rung.expected });
    expect(sized(state).raw - sized(after).raw).toBe(rung.gain);
  });

  test("counts none in the tail twice", () => {
    const items = chat(40, 400);
    const last = items.at(-2);
    const state = withoutRecall(viewing(items.map((each): ItemMeta => (each === last ? { ...each, kind: "system" } : each))));
    expect(proposed(state).sizes.standing).toBe(0);
  });
});

test("their weight is a running sum, whatever is appended, shown as less or left out", () => {
  const kinds = fc.constantFrom("system" as const, "user" as const, "assistant" as const);
  const drawn = fc.array(fc.tuple(kinds, fc.integer({ min: 1, max: 500 }), fc.boolean()), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(drawn, fc.nat(20), (said, split) => {
      const items = said.map(([kind, tokens], index) => item(index + 1, kind, { tokens }));
      const reduced = said.flatMap(([, , isEvicted], index) =>
        isEvicted && index < split ? [{ position: index + 1, tokens: 7, how: "evicted" as const }] : [],
      );
      const { view } = viewing([]);
      const grown = appendToView(toWeighedView({ ...view, items: items.slice(0, split), reduced }), items.slice(split));
      const less = new Map(reduced.map(({ position, tokens }) => [position, tokens]));
      const truly = items.reduce((sum, { kind, position, tokens }) => sum + (kind === "system" ? (less.get(position) ?? tokens) : 0), 0);
      expect(grown.system).toBe(truly);
    }),
  );
});
