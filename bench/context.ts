/**
 * Planning and building the view, by the number of messages in the view and by the number of messages before the last
 * compaction. Pure functions in this process, on a state in memory.
 */
import { type ModelLimits, toSizing } from "../src/context/budget.ts";
import { stateAfter } from "../src/context/epoch-change.ts";
import { planGuard } from "../src/context/guard.ts";
import { estimateParts } from "../src/context/item-tokens.ts";
import type { PlanInput } from "../src/context/plan.ts";
import { planCompaction, toCallCacheReadCost } from "../src/context/planner.ts";
import { toPolicy } from "../src/context/policy-choice.ts";
import { planResults } from "../src/context/results-rung.ts";
import { type ChunkCursor, takeChunk } from "../src/context/summary-chunks.ts";
import { truncateToolResult } from "../src/context/tool-results.ts";
import { buildView } from "../src/context/view.ts";
import type { SessionState } from "../src/domain/state.ts";
import { item } from "../test/support/builders.ts";
import { buildConversation, type Conversation } from "./support/conversations.ts";
import { type BenchResult, type Figure, ratio } from "./support/report.ts";
import { timed } from "./support/timed.ts";

const SIZES = [100, 1_000, 10_000, 100_000] as const;
/** The size of the view for which there is a goal: planning, and building the view, in less than a millisecond each. */
const GOAL_SIZE = 10_000;
const MEGABYTE = 1_048_576;
/** The goal in microseconds. */
const TRUNCATION_GOAL = 10_000;

/** A turn's planning around a model call: the limit, the size, the cost of re-reading, and whether to compact. */
const planTurn = (input: PlanInput): unknown[] => [
  planGuard(input),
  toSizing(input).next(),
  toCallCacheReadCost(input),
  planCompaction(input),
];

const toInput = ({ state }: Conversation, policy: string): PlanInput => ({
  state,
  // A window into which everything fits, so that nothing is compacted, as in nearly every turn.
  limits: { model: { id: "bench", provider: "unknown" }, window: 100_000_000, maxOutput: 4_096, prices: null },
  policy: toPolicy(policy),
  trigger: "threshold",
  now: state.anchor?.at ?? 0,
});

const repeatsFor = (size: number): number => Math.max(1, Math.floor(20_000 / size));

function benchPlan(size: number, policy: string): Figure {
  const input = toInput(buildConversation({ shown: size, compacted: 0 }), policy);
  const goal = size === GOAL_SIZE ? { goal: 1_000 } : {};
  return timed(`plan a turn, ${policy}, ${size} in view`, () => planTurn(input), { repeat: repeatsFor(size), unit: "µs", ...goal });
}

/** A turn in which a compaction is due: the whole ladder, which is rare. */
function benchLadder(size: number): Figure {
  const input = { ...toInput(buildConversation({ shown: size, compacted: 0 }), "balanced"), trigger: "manual" } as const;
  return timed(`plan a compaction, balanced, ${size} in view`, () => planCompaction(input), { repeat: repeatsFor(size), unit: "µs" });
}

/** A first turn after an import, in a window that holds little of it. The object serves no other request during this one block. */
function benchRoom(size: number): Figure {
  const asked = toInput(buildConversation({ shown: size, compacted: 0 }), "balanced");
  const input = { ...asked, limits: { ...asked.limits, window: 128_000 }, trigger: "inline" } as const;
  return timed(`plan room in a window of 128,000, ${size} in view`, () => planCompaction(input), { repeat: repeatsFor(size), unit: "µs" });
}

const ODINCODE = toPolicy("odincode");

/** OdinCode's rule on a view that was never cleared: all but three of its results are cleared, and the view is measured again. */
function benchClear(size: number): Figure {
  const { state, limits } = toInput(buildConversation({ shown: size, compacted: 0 }), "odincode");
  return timed(`clear old results, ${size} in view`, () => clear(state, limits), { repeat: repeatsFor(size), unit: "µs" });
}

/** The rule before each of the later calls, when one more result is old. */
function benchClearAgain(size: number): Figure {
  const { state, limits } = toInput(buildConversation({ shown: size, compacted: 0 }), "odincode");
  const { tokens, reduced } = clear(state, limits).view;
  const again = { ...state, view: { ...state.view, tokens, reduced: reduced.slice(0, -1) } };
  return timed(`clear one more, ${size} in view`, () => clear(again, limits), { repeat: repeatsFor(size), unit: "µs" });
}

function clear(state: SessionState, limits: ModelLimits): SessionState {
  const plan = planResults({ state, limits, policy: ODINCODE });
  const ops =
    plan.kind === "compact"
      ? plan.rungs.flatMap((rung) => (rung.rung === "clear_results" ? [{ op: rung.rung, items: rung.items }] : []))
      : [];
  return stateAfter(state, ops, "results");
}

function benchView(size: number): Figure {
  const { view } = buildConversation({ shown: size, compacted: 0 });
  const goal = size === GOAL_SIZE ? { goal: 1_000 } : {};
  return timed(`build the view, ${size} messages`, () => buildView(view), { repeat: repeatsFor(size), unit: "µs", ...goal });
}

function benchCompacted(): Figure[] {
  const [some, many] = [1_000, 1_000_000].map((compacted) => {
    const { state, view } = buildConversation({ shown: 200, compacted });
    const input = toInput({ state, view }, "balanced");
    return timed(`plan and build 200 messages, ${compacted} compacted`, () => [planTurn(input), buildView(view)], {
      repeat: 200,
      unit: "µs",
    });
  });
  return some && many ? [some, many, ratio("1,000,000 compacted against 1,000", [many, some], 1.25)] : [];
}

function benchTruncation(): Figure[] {
  return [1, 10].map((size) => {
    const output = "a line of what a tool has found, and another\n".repeat(Math.ceil((size * MEGABYTE) / 45)).slice(0, size * MEGABYTE);
    return timed(`truncate a result of ${size} MB`, () => truncateToolResult(output), { goal: TRUNCATION_GOAL, repeat: 20, unit: "µs" });
  });
}

function benchEstimate(): Figure {
  const parts = [
    { type: "text" as const, text: "It was read aloud, slowly, to a room of nineteen people who had come in from the rain. ".repeat(5) },
  ];
  return timed("estimate a message of 440 characters", () => estimateParts(parts), { repeat: 2_000, unit: "µs" });
}

/** One message of 1 MB, read in parts as a summariser with a small window must. The cost of each part depends on its own size. */
function benchFold(): Figure {
  const text = "It was read aloud, slowly, to a room of nineteen people who had come in from the rain. ".repeat(12_000);
  const entries = [{ meta: item(1, "user"), parts: [{ type: "text" as const, text }] }];
  const readAll = (): number => {
    let parts = 0;
    for (let next: ChunkCursor | null = { position: 1, chars: 0 }; next; parts++) next = takeChunk(entries, next, 5_000).next;
    return parts;
  };
  return timed("read a message of 1 MB in parts of 5,000 tokens", readAll);
}

/** The longest view against the one before it. A ratio near 1 does not grow with the view. */
function withRatio(figures: readonly Figure[]): Figure[] {
  const [shorter, longest] = figures.slice(-2);
  return shorter && longest ? [...figures, ratio(`${longest.name} against a tenth of it`, [longest, shorter])] : [...figures];
}

/** 10,000 messages in view against 100: linear is 100. */
function withGrowth(figures: readonly Figure[]): Figure[] {
  const [few, , many] = figures;
  return few && many ? [...figures, ratio(`${many.name} against ${SIZES[0]}`, [many, few])] : [...figures];
}

export function benchContext(): BenchResult {
  const plans = ["oneclaw", "balanced"].flatMap((policy) => withGrowth(withRatio(SIZES.map((size) => benchPlan(size, policy)))));
  const ladders = [benchLadder, benchRoom].flatMap((bench) => withGrowth(withRatio(SIZES.map(bench))));
  const clearing = [benchClear, benchClearAgain].flatMap((bench) => withGrowth(SIZES.map(bench)));
  const views = SIZES.map(benchView);
  return {
    title: "Planning and view building",
    notes: [
      "Wall time in Node; medians of 21. Planning a turn is the guard, the measure, the rent of a call and the soft trigger together.",
      "Every second answer calls two tools; the provider has counted all but the newest exchange.",
    ],
    figures: [...plans, ...ladders, ...clearing, ...views, ...benchCompacted(), ...benchTruncation(), benchFold(), benchEstimate()],
  };
}
