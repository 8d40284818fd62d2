/** Examples of what the model reads: compactions, requests, comparisons and look-ups. */
import type { z } from "@hono/zod-openapi";
import { presets } from "../../context/presets";
import type { compactionView } from "../../contract/compaction";
import type { summaryComparison } from "../../contract/comparison";
import type { contextDiff, contextReport } from "../../contract/context";
import type { evaluation } from "../../contract/evaluation";
import type { shownPlan } from "../../contract/plan";
import type { recallReport } from "../../contract/recall";
import { ANSWER, AT, COMPACTION, KEY, QUESTION, REVERSAL, SECOND, SESSION, TURN } from "./shared";

const estimated = (tokens: number) => ({ tokens, source: "estimated", error_bound: Math.round(tokens / 10) }) as const;
const range = { from: 1, to: 40 };

export const compactionExample: z.input<typeof compactionView> = {
  id: COMPACTION,
  seq: 212,
  trigger: "manual",
  status: "completed",
  did_compact: true,
  requested_at: AT,
  finished_at: AT + 4 * SECOND,
  attempts: 1,
  failure: null,
  epoch: 1,
  range,
  keep_recent: null,
  up_to: null,
  instructions: "Keep every order number.",
  rebuild: false,
  model: null,
  policy: null,
  summary: "Ada asked about the weather in Lisbon and ordered an umbrella (order 7719-B).",
  ops: [{ op: "summarize" }],
  receipt: {
    tokens_before: estimated(9_800),
    tokens_after: estimated(2_100),
    items_before: 48,
    items_after: 9,
    model: "gpt-5-mini",
    usage: { input: 8_000, output: 260, cached: 0, reasoning: 0 },
    ms: 3_900,
    cost: 0.002,
    economy: { read_cost_before: 9_100, read_cost_after: 2_300, price: 5_400, cache_kept: 0 },
    rungs: [{ rung: "summarize", gain: 7_700, reason: "asked for by hand" }],
    mode: "transcript",
    attempts: 1,
    breaker_open: false,
    dropped_items: 0,
    summary_instructions: "applied",
    files: null,
  },
  draft: null,
  cache: null,
  reverted: null,
};

export const runningExample: z.input<typeof compactionView> = {
  ...compactionExample,
  status: "requested",
  did_compact: false,
  finished_at: null,
  attempts: 0,
  epoch: null,
  summary: null,
  ops: [],
  receipt: null,
};

export const draftExample: z.input<typeof compactionView> = {
  ...compactionExample,
  status: "drafted",
  did_compact: false,
  epoch: null,
  ops: [],
  draft: { edits: 1, edited_by: KEY, edited_at: AT + 60 * SECOND },
};

export const revertedExample: z.input<typeof compactionView> = {
  ...compactionExample,
  status: "reverted",
  reverted: { by: REVERSAL, at: AT + 60 * SECOND },
};

const closedBreaker = { open: false, failures: 0, fruitless: 0, closes_after: null };

export const planExample: z.input<typeof shownPlan> = {
  kind: "none",
  reason: "below_threshold",
  next: estimated(2_100),
  breaker: closedBreaker,
};

const weights = {
  context_window: 128_000,
  assumed_window: null,
  limit: 119_808,
  reserve: 8_192,
  total: estimated(412),
  parts: [
    { part: "system", position: null, tokens: 9, source: "estimated", error_bound: 1 },
    { part: "message", position: 1, tokens: 12, source: "estimated", error_bound: 1 },
  ],
} as const;
const body = '{"model":"gpt-5","input":[{"role":"user","content":"What is the weather in Lisbon?"}]}';

export const contextExample: z.input<typeof contextReport> = {
  model: "gpt-5",
  policy: "balanced",
  epoch: 0,
  ...weights,
  compaction_first: null,
  request: { url: null, body },
};

const side = { call: null, model: "gpt-5", epoch: 0 };
const none = { count: 0, tokens: 0, data: [] };

export const contextDiffExample: z.input<typeof contextDiff> = {
  from: { ...side, turn_id: TURN, call: 1, seq: 4, tokens: 21 },
  to: { ...side, turn_id: null, seq: 9, tokens: 35 },
  changed: { model: false, policy: false, system: false, tools: false, pins: false },
  prefix: { messages: 2, tokens: 21 },
  both: { count: 1, tokens: 12 },
  left: none,
  came: { count: 1, tokens: 14, data: [{ id: ANSWER, position: 2, kind: "assistant", tokens: 14 }] },
  less: none,
  more: none,
  summaries: { left: none, came: none },
  epochs: [],
};

export const recallExample: z.input<typeof recallReport> = {
  data: [
    {
      id: QUESTION,
      position: 1,
      kind: "user",
      created_at: AT,
      execution_id: null,
      in_view: true,
      snippet: "What is the weather in Lisbon?",
      score: 2.4,
      neighbours: [{ position: 2, kind: "assistant", snippet: "It is sunny in Lisbon, 21 °C." }],
    },
  ],
  text: "[1] user: What is the weather in Lisbon?",
  tokens: estimated(12),
  next: null,
};

const summary = { range, model: "gpt-5-mini", summary_instructions: "applied" as const, edited: null, kept: 1 };

export const comparisonExample: z.input<typeof summaryComparison> = {
  a: { ...summary, summary: COMPACTION, text: "Ada ordered an umbrella (order 7719-B).", tokens: estimated(14) },
  b: { ...summary, summary: "current", text: "Ada ordered an umbrella.", tokens: estimated(9), kept: 0 },
  terms: [{ term: "7719-B", kind: "identifier", count: 2, in_a: true, in_b: false }],
  terms_complete: true,
  diff: [
    { in: "a", line: "Ada ordered an umbrella (order 7719-B)." },
    { in: "b", line: "Ada ordered an umbrella." },
  ],
  model: null,
  questions: [],
};

const counted = {
  turns: 12,
  calls: 12,
  tokens: { input: 40_000, cached: 31_000, output: 2_400 },
  summary_tokens: { input: 0, cached: 0, output: 0 },
  cached_share: 0.77,
};
const cost = { amount: 0.03, summaries: 0, source: "mixed", error_bound: 0.003 } as const;
const changes = {
  compactions: 0,
  epochs: 0,
  changes: [],
  changes_truncated: false,
  record: { verbatim: 5_200, reduced: 0, summarized: 0, dropped: 0, withdrawn: 0 },
};
const run: z.input<typeof evaluation>["current"] = {
  policy: "balanced",
  effective_policy: presets.balanced,
  ...counted,
  cost,
  peak_tokens: 5_200,
  relative_cost: 1,
  would_not_fit: 0,
  breaks: 0,
  verbatim_8k: 1,
  identifiers: { needed: 3, out_of_view: 0, examples: [] },
  ...changes,
};

export const evaluationExample: z.input<typeof evaluation> = {
  session_id: SESSION,
  model: "gpt-5",
  context_window: 128_000,
  unit: "usd",
  from_position: 1,
  messages: 24,
  messages_left_out: 0,
  everything: { ...counted, cost, peak_tokens: 5_200 },
  recorded: { ...counted, failed_calls: 0, cost: { usd: 0.03, summaries_usd: 0, unpriced_calls: 0 }, ...changes },
  current: run,
  proposed: { ...run, policy: "economy", effective_policy: presets.economy },
  ratio: 1,
};
