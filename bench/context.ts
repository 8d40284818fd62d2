/**
 * Planning and building the view, by how many messages the view holds, and by how many a session had before it was
 * compacted. Pure functions in this process, on a state that is in memory.
 */
import { measureNext } from "../src/context/budget.ts";
import { planGuard } from "../src/context/guard.ts";
import { estimateParts } from "../src/context/item-tokens.ts";
import type { PlanInput } from "../src/context/plan.ts";
import { planCompaction, rentOfCall } from "../src/context/planner.ts";
import { policyOf } from "../src/context/policy-choice.ts";
import { truncateToolResult } from "../src/context/tool-results.ts";
import { buildView } from "../src/context/view.ts";
import { buildConversation, type Conversation } from "./support/conversations.ts";
import { type BenchResult, type Figure, ratio } from "./support/report.ts";
import { timed } from "./support/timed.ts";

const SIZES = [100, 1_000, 10_000, 100_000] as const;
/** Messages of the view by which the goal is set, and the goal itself, in milliseconds. */
const GOAL = { size: 10_000, ms: 1 } as const;
const MEGABYTE = 1_048_576;
const TRUNCATION_GOAL_MS = 10;

/** What a turn plans around a model call: what fits, what it weighs, what re-reading costs, and whether to compact. */
const planTurn = (input: PlanInput): unknown[] => [
  planGuard(input),
  measureNext(input.state, input.limits.model),
  rentOfCall(input),
  planCompaction(input),
];

const inputOf = ({ state }: Conversation, policy: string): PlanInput => ({
  state,
  // A window that all of it fits into: nothing is compacted, which is what nearly every turn finds.
  limits: { model: "bench", window: 100_000_000, maxOutput: 4_096, prices: null },
  policy: policyOf(policy),
  trigger: "threshold",
  now: state.anchor?.at ?? 0,
});

const repeatsFor = (size: number): number => Math.max(1, Math.floor(20_000 / size));

const goalFor = (size: number) => (size === GOAL.size ? { goal: GOAL.ms } : {});

function benchSize(size: number, policy: string): Figure {
  const input = inputOf(buildConversation({ shown: size, compacted: 0 }), policy);
  return timed(`plan a turn, ${policy}, ${size} messages in view`, () => planTurn(input), { repeat: repeatsFor(size), ...goalFor(size) });
}

function benchView(size: number): Figure {
  const { view } = buildConversation({ shown: size, compacted: 0 });
  return timed(`build the view, ${size} messages`, () => buildView(view), { repeat: repeatsFor(size), ...goalFor(size) });
}

function benchCompacted(): Figure[] {
  const [some, many] = [1_000, 1_000_000].map((compacted) => {
    const { state, view } = buildConversation({ shown: 200, compacted });
    const input = inputOf({ state, view }, "balanced");
    return timed(`plan and build 200 messages, ${compacted} compacted`, () => [planTurn(input), buildView(view)], { repeat: 200 });
  });
  return some && many ? [some, many, ratio("1,000,000 compacted against 1,000", [many, some], 1.25)] : [];
}

function benchTruncation(): Figure[] {
  return [1, 10].map((size) => {
    const output = "a line of what a tool has found, and another\n".repeat(Math.ceil((size * MEGABYTE) / 45)).slice(0, size * MEGABYTE);
    return timed(`truncate a result of ${size} MB`, () => truncateToolResult(output), { goal: TRUNCATION_GOAL_MS, repeat: 20 });
  });
}

function benchEstimate(): Figure {
  const parts = [
    { type: "text" as const, text: "It was read aloud, slowly, to a room of nineteen people who had come in from the rain. ".repeat(5) },
  ];
  return timed("estimate a message of 440 characters", () => estimateParts(parts), { repeat: 2_000, unit: "µs" });
}

export function benchContext(): BenchResult {
  const plans = SIZES.flatMap((size) => ["oneclaw", "balanced"].map((policy) => benchSize(size, policy)));
  const views = SIZES.map(benchView);
  return {
    title: "Planning and view building",
    notes: [
      "Wall time in Node; medians of 21. Planning a turn is the guard, the measure, the rent of a call and the soft trigger together.",
      "Every second answer calls two tools; the provider has counted all but the newest exchange.",
    ],
    figures: [...plans, ...views, ...benchCompacted(), ...benchTruncation(), benchEstimate()],
  };
}
