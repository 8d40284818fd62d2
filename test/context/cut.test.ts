import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findTail, keptTokens, viewGroups } from "../../src/context/cut";
import { NewestGroups } from "../../src/context/groups";
import type { PlanInput } from "../../src/context/plan";
import type { Policy } from "../../src/context/policy";
import { toPolicy } from "../../src/context/policy-choice";
import type { CompactionTrigger } from "../../src/domain/compaction-events";
import type { ItemMeta } from "../../src/domain/message";
import type { SessionState } from "../../src/domain/state";
import { call, id, item, result, turnId, viewing } from "../support/builders";
import { chat, RUNNING, rounds, toLimits } from "./planning";

interface Asked {
  readonly cut?: Policy["keep"]["cut"];
  readonly trigger?: CompactionTrigger;
  readonly options?: PlanInput["options"];
  readonly change?: Partial<SessionState>;
}

function input(items: readonly ItemMeta[], { cut = "fits", trigger = "threshold", options = null, change = {} }: Asked = {}): PlanInput {
  const base = toPolicy("oneclaw");
  const policy = { ...base, keep: { ...base.keep, cut } };
  return { state: viewing(items, change), limits: toLimits(16_000), policy, trigger, now: 0, options };
}

/** The first position that stays when `tokens` are to be kept. */
const staysFrom = (items: readonly ItemMeta[], budget: number, asked: Asked = {}) => findTail(input(items, asked), budget)[0]?.from;

/** Answers only, so that there is no user message to extend the tail to. */
const answers = (...tokens: number[]): ItemMeta[] => tokens.map((weight, n) => item(n + 1, "assistant", { tokens: weight }));

describe("the tail", () => {
  test.each([
    ["fits", 1_000, 3],
    ["fits", 999, 4],
    ["fits", 1_299, 3],
    ["fills", 1_000, 3],
    ["fills", 1_001, 2],
    ["fills", 999, 3],
    ["next_user", 1_000, 2],
    ["next_user", 999, 3],
    ["next_user", 1_300, 1],
  ] as const)("by `%s` of a budget of %i tokens begins at %i", (cut, budget, from) => {
    // Sums from the newest item back: 500, 1,000, 1,300, 1,700.
    expect(staysFrom(answers(400, 300, 500, 500), budget, { cut })).toBe(from);
  });

  test("holds the newest group, though it alone is over the budget", () => {
    expect(staysFrom(answers(100, 100, 9_000), 500)).toBe(3);
  });

  test("is everything when everything fits", () => {
    for (const cut of ["fits", "fills", "next_user"] as const) expect(staysFrom(answers(100, 100), 500, { cut })).toBe(1);
  });

  test("of nothing is nothing", () => {
    for (const cut of ["fits", "fills", "next_user"] as const) expect(findTail(input([], { cut }), 500)).toEqual([]);
  });

  test.each([
    ["a quarter of the budget", 250, 2],
    ["more than that", 251, 3],
  ])("goes back to a message of the user that is within %s", (_what, tokens, from) => {
    const items = [item(1, "user", { tokens: 2_000 }), item(2, "user", { tokens }), item(3, "assistant", { tokens: 1_000 })];
    expect(staysFrom(items, 1_000)).toBe(from);
  });

  test("by `next_user` begins with the first message of the user after the budget is exceeded, or else where it is", () => {
    const items = [
      ...chat(4, 300),
      item(5, "assistant", { tokens: 800 }),
      item(6, "user", { tokens: 300 }),
      item(7, "assistant", { tokens: 300 }),
    ];
    expect(staysFrom(items, 1_000, { cut: "next_user" })).toBe(6);
    expect(
      staysFrom([...chat(3, 300), ...answers(900, 300).map((meta) => ({ ...meta, position: meta.position + 3 }))], 1_000, {
        cut: "next_user",
      }),
    ).toBe(4);
  });

  test("never begins inside a group", () => {
    const items = [...chat(2, 500), call(3, 1), result(4, 1, { tokens: 900 }), item(5, "user", { tokens: 900 })];
    expect(staysFrom(items, 1_000)).toBe(5);
    expect(staysFrom(items, 1_900)).toBe(3);
  });

  test("by the ratio that the session has learned", () => {
    const change = { ratios: [{ model: "test-model", value: 2 }] };
    expect(staysFrom(answers(400, 300, 500, 500), 1_000, { change })).toBe(4);
  });
});

describe("an open call", () => {
  const owed = { execution: id("exe", 3), call_id: "call_3", name: "look_up" };
  const items = [
    ...chat(2, 900),
    call(3, 3, { tokens: 900 }),
    item(4, "user", { tokens: 900 }),
    ...answers(900).map((meta) => ({ ...meta, position: 5 })),
  ];
  const waiting = { turn: { ...RUNNING, open_calls: [owed] } as SessionState["turn"] };

  test("stays, with all that came after it", () => {
    expect([staysFrom(items, 900), staysFrom(items, 900, { change: waiting })]).toEqual([5, 3]);
  });

  test("stays also when the cut must be, and when it was imported", () => {
    expect(staysFrom(items, 900, { change: waiting, trigger: "overflow" })).toBe(3);
    expect(staysFrom(items, 900, { change: { imported_calls: [owed] } })).toBe(3);
  });

  test("beside an answered one of the same response stays with it", () => {
    const turn = turnId(1);
    const response = [call(3, 3, { turn }), call(4, 4, { turn }), result(5, 4), item(6, "user", { tokens: 900 })];
    expect(staysFrom([...chat(2, 900), ...response], 900, { change: waiting })).toBe(3);
  });
});

describe("what is asked for by hand", () => {
  const options = (change: Partial<NonNullable<PlanInput["options"]>>) => ({
    keep_recent: null,
    up_to: null,
    instructions: null,
    ...change,
  });
  const items = chat(20, 100);

  test("`keep_recent` is the budget, whatever the policy says", () => {
    expect(keptTokens(input(items, { trigger: "manual", options: options({ keep_recent: 777 }) }))).toBe(777);
    const yeoman = { ...input(items, { options: options({ keep_recent: 1_000 }) }), policy: toPolicy("yeoman") };
    expect(findTail(yeoman, keptTokens(yeoman))[0]?.from).toBe(11);
  });

  test.each([
    [6, 7],
    [18, 11],
    [0, 1],
  ])("`up_to` %i: what comes after that position stays, at least", (up_to, from) => {
    expect(staysFrom(items, 1_000, { options: options({ up_to }) })).toBe(from);
  });

  test("`up_to` inside a group leaves the group whole", () => {
    const grouped = [...chat(4, 100), ...rounds(3, 100, 5), ...chat(2, 900, 11)];
    expect(staysFrom(grouped, 1_000, { options: options({ up_to: 7 }) })).toBe(7);
  });
});

describe("the budget", () => {
  const budget = (policy: string, window: number, asked: Partial<PlanInput> = {}) =>
    keptTokens({ ...input([]), policy: toPolicy(policy), limits: toLimits(window, 4_096), ...asked });

  test("of a profile is its share of what a request may weigh, at most and at least what it says", () => {
    const { ratio, max_tokens, min_tokens } = toPolicy("economy").keep;
    const usable = 16_000 - 1_000;
    expect(budget("economy", 16_000)).toBe(Math.max(min_tokens, Math.min(Math.floor(usable * ratio), max_tokens ?? usable)));
    expect(budget("economy", 1_000_000)).toBe(max_tokens);
    expect(budget("economy", 1_000_000, { trigger: "overflow" })).toBe(200_000);
  });

  test("never takes more than half of a small window for the least that is kept", () => {
    expect(budget("balanced", 2_048)).toBe(Math.floor((2_048 - 128) / 2));
  });
});

test("from the newest on, groups are the same as from the oldest", () => {
  const kind = fc.constantFrom("user", "assistant", "system", "tool_call", "tool_result");
  fc.assert(
    fc.property(fc.array(fc.tuple(kind, fc.integer({ min: 1, max: 3 }), fc.boolean()), { maxLength: 40 }), (shape) => {
      let position = 0;
      const items = shape.map(([what, n, gap]): ItemMeta => {
        position += gap ? 2 : 1;
        const turn = turnId(n);
        if (what === "tool_call") return call(position, position, { turn });
        return what === "tool_result" ? result(position, position - n, { turn }) : item(position, what, { turn });
      });
      const all = viewGroups(viewing(items));
      expect(new NewestGroups(items, new Set()).take(all.length + 1)).toEqual(all);
      expect(new NewestGroups(items, new Set()).at(0)).toEqual(all.at(-1));
    }),
  );
});
