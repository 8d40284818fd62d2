/** The cache read cost and its trigger (docs/policy.md, rules 1 to 3), by numbers worked out by hand. */
import { describe, expect, test } from "vitest";
import {
  CACHE_TTL_MS,
  computeGain,
  INSTRUCTION_TOKENS,
  toCacheReadCost,
  toCompactionPrice,
  tokensAfter,
  tokensNow,
  type ViewSizes,
} from "../../src/context/economy";
import { toCallCacheReadCost } from "../../src/context/planner";
import { toPolicy, toPolicyText } from "../../src/context/policy-choice";
import type { Overlay } from "../../src/domain/compaction-events";
import type { SessionState } from "../../src/domain/state";
import { id, viewing } from "../support/builders";
import { behind, buildSummary, chat, counted, findSummarizeRung, planUnder, toLimits, withoutRecall } from "./planning";

/** 500 tokens fixed, a chain of 300, 6,000 that would be removed, 2,000 that stay, a summary of 900. */
const sizes: ViewSizes = {
  fixed: 500,
  chain: 300,
  source: 6_000,
  standing: 0,
  tail: 2_000,
  beside: 0,
  summary: 900,
  merge: false,
  offer: 0,
};
const prices = { input: 3, cache_write: 3.75, cached: 0.3, output: 15 };

describe("what a compaction changes", () => {
  test("appended, the chain stays beside the new summary", () => {
    expect([tokensNow(sizes), tokensAfter(sizes), computeGain(sizes)]).toEqual([8_800, 3_700, 5_100]);
  });

  test("merged, the new summary takes the chain's place", () => {
    expect([tokensAfter({ ...sizes, merge: true }), computeGain({ ...sizes, merge: true })]).toEqual([3_400, 5_400]);
  });

  test("a gain below nothing is nothing", () => {
    expect(computeGain({ ...sizes, source: 800 })).toBe(0);
  });

  test("items before the cut that stay are read, are written again, and are no gain", () => {
    const held = { ...sizes, source: 5_000, standing: 1_000 };
    expect([tokensNow(held), tokensAfter(held), computeGain(held)]).toEqual([8_800, 4_700, 4_100]);
  });

  test("rent is the gain read once more from the cache", () => {
    expect(toCacheReadCost(sizes, prices, 0)).toBeCloseTo(0.3 * 5_100);
  });

  test("what lies before the cut but among the newest tokens that are wanted is no rent", () => {
    expect(toCacheReadCost(sizes, prices, sizes.tail)).toBeCloseTo(0.3 * 5_100);
    expect(toCacheReadCost(sizes, prices, sizes.tail + 1_100)).toBeCloseTo(0.3 * 4_000);
    expect(toCacheReadCost(sizes, prices, sizes.tail + sizes.source + 1)).toBe(0);
  });
});

describe("the price of compacting now", () => {
  const price = (change: Partial<ViewSizes>, by: { warm: boolean; samePrefix: boolean; room?: number; instruction?: number }) =>
    toCompactionPrice({ ...sizes, ...change }, { prices, room: 30_000, instruction: INSTRUCTION_TOKENS, ...by });
  /** i · instruction + o · S. */
  const written = 3 * 400 + 15 * 900;

  test("counts an instruction of 400 tokens", () => {
    expect(INSTRUCTION_TOKENS).toBe(400);
  });

  test("counts a client's own words with it, once for each part that is read", () => {
    const by = { warm: false, samePrefix: false, room: sizes.source };
    const parts = Math.ceil((sizes.source + sizes.beside) / sizes.source);
    const { price: plain } = price({}, by);
    expect(price({}, { ...by, instruction: INSTRUCTION_TOKENS + 1_000 }).price - plain).toBeCloseTo(parts * 3 * 1_000);
  });

  test("with the turn's own prefix, warm: c·prefix + i·instruction + o·S + (w − c)·(tail + S)", () => {
    const { mode, price: paid } = price({}, { warm: true, samePrefix: true });
    expect(mode).toBe("same_prefix");
    expect(paid).toBeCloseTo(0.3 * (500 + 300 + 6_000) + written + 3.45 * (2_000 + 900));
  });

  test("as a transcript, warm: i·transcript + i·instruction + o·S + (w − c)·(tail + S)", () => {
    const { mode, price: paid } = price({}, { warm: true, samePrefix: false });
    expect(mode).toBe("transcript");
    expect(paid).toBeCloseTo(3 * 6_000 + written + 3.45 * 2_900);
  });

  test("what a transcript holds beside the source is read too", () => {
    expect(price({ merge: true, beside: 300 }, { warm: true, samePrefix: false }).price).toBeCloseTo(3 * 6_300 + written + 3.45 * 2_900);
  });

  test("cold: no prefix to read, and nothing that must be written again", () => {
    const { mode, price: paid } = price({}, { warm: false, samePrefix: true });
    expect(mode).toBe("transcript");
    expect(paid).toBeCloseTo(3 * 6_000 + written);
  });

  test("of a transcript that takes several calls counts an instruction and an answer for each, and the summary so far from the second on", () => {
    const cold = { warm: false, samePrefix: false };
    expect(price({ beside: 24_000 }, { ...cold, room: 30_000 }).price).toBeCloseTo(3 * 30_000 + written);
    expect(price({ beside: 24_001 }, { ...cold, room: 30_000 }).price).toBeCloseTo(3 * (30_001 + 900) + 2 * written);
  });

  test("is that of the cheaper mode: a huge prefix for little source is a transcript", () => {
    expect(price({ fixed: 70_000 }, { warm: true, samePrefix: true }).mode).toBe("transcript");
  });
});

/**
 * 40 messages of 400 in a window of 32,000 under `balanced`, with unknown prices (1, 1, 0.1, 5). The tail is a keep of
 * 4,000 tokens: ten messages. 12,000 would be removed, and 0.15 of them, 1,800, would be the summary.
 */
const policy = toPolicyText({
  preset: "balanced",
  trigger: { min_gain_ratio: 0.2, rent_free_tokens: 0 },
  keep: { cut: "fills", max_tokens: 4_000, ratio: 0.9, min_tokens: 0 },
  summary: { max_tokens: 4_000, chain_ratio: 0.5 },
});
const limits = toLimits(32_000, 4_000);
const GAIN = 12_000 - 1_800;
const K_TRANSCRIPT = 12_000 + 400 + 5 * 1_800 + 0.9 * (4_000 + 1_800);
const K_SAME_PREFIX = 0.1 * 12_000 + 400 + 5 * 1_800 + 0.9 * (4_000 + 1_800);
const BETA = toPolicy(policy).trigger.rent_factor ?? 0;

const talked = (change: Partial<SessionState["compaction"]> = {}): SessionState => {
  const state = withoutRecall(counted(viewing(chat(40, 400)), 16_000, 1_000));
  return { ...state, compaction: { ...state.compaction, ...change } };
};
const at = (state: SessionState, now: number, text = policy) => planUnder(text, state, { limits, now });
const WARM = 1_000 + CACHE_TTL_MS - 1;
const COLD = 1_000 + CACHE_TTL_MS;

describe("rent is due", () => {
  test("a call pays the cached price of what a compaction would have removed", () => {
    expect(toCallCacheReadCost({ state: talked(), limits, policy: toPolicy(policy), now: WARM })).toBeCloseTo(0.1 * GAIN);
    expect(toCallCacheReadCost({ state: talked(), limits, policy: toPolicy("oneclaw"), now: WARM })).toBe(0);
    // Of the newest 6,000 tokens, 2,000 lie before the cut, so they are wanted.
    const wanted = toPolicyText({ ...JSON.parse(policy), trigger: { rent_free_tokens: 6_000 } });
    expect(toCallCacheReadCost({ state: talked(), limits, policy: toPolicy(wanted), now: WARM })).toBeCloseTo(0.1 * (GAIN - 2_000));
    expect(
      toCallCacheReadCost({ state: talked(), limits: toLimits(null), policy: toPolicy("balanced"), now: WARM }),
    ).toBeGreaterThanOrEqual(0);
  });

  test("from β times the price on, which while the cache is warm is that of the turn's own prefix", () => {
    const due = BETA * K_SAME_PREFIX;
    expect(at(talked({ rent: due - 1 }), WARM)).toMatchObject({ kind: "none", reason: "below_threshold" });
    const plan = at(talked({ rent: due + 1 }), WARM);
    expect(plan).toMatchObject({ kind: "compact", trigger: "rent" });
    expect(findSummarizeRung(plan).mode).toBe("same_prefix");
    expect(plan.kind === "compact" && plan.economy?.price).toBeCloseTo(K_SAME_PREFIX);
  });

  test("where only transcripts are asked for, from β times their price on", () => {
    const text = toPolicyText({ ...JSON.parse(policy), summary: { max_tokens: 4_000, chain_ratio: 0.5, mode: "transcript" } });
    const due = BETA * K_TRANSCRIPT;
    expect(at(talked({ rent: due - 1 }), WARM, text).kind).toBe("none");
    expect(findSummarizeRung(at(talked({ rent: due + 1 }), WARM, text)).mode).toBe("transcript");
  });

  test("sooner when the cache has gone cold: nothing is rewritten, and what would go need not be written again", () => {
    const cold = 12_000 + 400 + 5 * 1_800;
    const due = BETA * cold - GAIN;
    expect(at(talked({ rent: due - 1 }), COLD).kind).toBe("none");
    expect(at(talked({ rent: due + 1 }), COLD)).toMatchObject({ kind: "compact", trigger: "rent" });
  });

  test("never for a gain below a fifth of the request", () => {
    // The gain of 10,200 is more than a fifth of 16,000 + 34,000, and less than a fifth of 16,000 + 36,000.
    const heavy = (tokens: number) => {
      const state = talked({ rent: 10 ** 9 });
      return { ...state, settings: { ...state.settings, system: { body: id("bod", 1), bytes: 1, tokens } } };
    };
    const window = toLimits(200_000, 4_000);
    expect(planUnder(policy, heavy(34_000), { limits: window, now: WARM }).kind).toBe("compact");
    expect(planUnder(policy, heavy(36_000), { limits: window, now: WARM }).kind).toBe("none");
  });

  test("never under a policy without it", () => {
    expect(at(talked({ rent: 10 ** 9 }), WARM, "verbatim").kind).toBe("none");
  });

  test("with the share that the session has learned, the price and the gain follow", () => {
    const plan = at(talked({ rent: 10 ** 9, summary_share: 0.05 }), WARM);
    expect(findSummarizeRung(plan)).toMatchObject({ expected: 600, gain: 12_000 - 600 });
  });
});

describe("a session's own prices", () => {
  test("decide instead of the unknown ones", () => {
    const dear = { ...limits, prices: { input: 1, cache_write: 1, cached: 0.1, output: 500 } };
    const rent = BETA * K_SAME_PREFIX + 1;
    expect(planUnder(policy, talked({ rent }), { limits, now: WARM }).kind).toBe("compact");
    expect(planUnder(policy, talked({ rent }), { limits: dear, now: WARM }).kind).toBe("none");
  });
});

describe("a fold that reads the record again", () => {
  /** A full chain over 400 old items. `generation`: the number of merges. */
  const folded = (generation: number, rebuild_after: number | null) => {
    const state = counted(behind([buildSummary(1, 1, 400, 15_000, generation)], chat(40, 400, 401)), 16_000, 1_000);
    const text = toPolicyText({ ...JSON.parse(policy), summary: { max_tokens: 4_000, chain_ratio: 0.5, rebuild_after } });
    const plan = planUnder(text, { ...state, compaction: { ...state.compaction, rent: 10 ** 9 } }, { limits, now: COLD });
    return plan.kind === "compact" ? plan.economy?.price : null;
  };
  /** A usable 30,000 minus the instruction and twice the cap. */
  const room = 30_000 - 400 - 2 * 4_000;

  test("pays for all that it reads: the chain, what is new, and of the record twice that", () => {
    const read = 15_000 + 3 * 12_000;
    const parts = Math.ceil(read / room);
    expect(folded(2, 2)).toBeCloseTo(read + (parts - 1) * 4_000 + parts * (400 + 5 * 4_000));
  });

  test("at any other time, for the chain and what is new", () => {
    const read = 15_000 + 12_000;
    expect(folded(1, 2)).toBeCloseTo(read + 4_000 + 2 * (400 + 5 * 4_000));
    expect(folded(2, null)).toBe(folded(1, 2));
  });
});

test("what was only trimmed is read by the next summary, and paid for", () => {
  const trimmed: Overlay = { id: id("ovl", 1), kind: "dropped", from: 1, to: 20, items: 20, tokens: 0 };
  const state = counted(behind([trimmed], chat(40, 400, 21)), 16_000, 1_000);
  const plan = at({ ...state, compaction: { ...state.compaction, rent: 10 ** 9 } }, COLD);
  expect(plan.kind === "compact" && plan.economy?.price).toBeCloseTo(20 * 400 + 12_000 + 400 + 5 * 1_800);
});

test("a short conversation is never compacted: there is nothing that could go", () => {
  const state = { ...counted(behind([buildSummary(1, 1, 4)], chat(4, 100, 5)), 900, 1_000) };
  expect(at({ ...state, compaction: { ...state.compaction, rent: 10 ** 9 } }, WARM).kind).toBe("none");
});
