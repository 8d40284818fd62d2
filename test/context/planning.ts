/** Shared helpers for planning tests: conversations by their sizes, a plan under a policy, and the state after a plan. */
import type { ModelLimits } from "../../src/context/budget";
import { buildChangeFromRungs, buildChangeFromSummary } from "../../src/context/epoch-change";
import type { Plan, PlanInput, Rung, SummarizeRung } from "../../src/context/plan";
import { planCompaction } from "../../src/context/planner";
import { toPolicy } from "../../src/context/policy-choice";
import type { Overlay } from "../../src/domain/compaction-events";
import { evolve } from "../../src/domain/evolve";
import type { ItemMeta } from "../../src/domain/message";
import { fixedTokens, type SessionState } from "../../src/domain/state";
import { toWeighedView } from "../../src/domain/view";
import { call, id, item, plainModel, result, turnId, viewing } from "../support/builders";

export const MODEL = "test-model";

export const toLimits = (window: number | null, maxOutput = 1_024): ModelLimits => ({
  model: plainModel(MODEL),
  window,
  maxOutput,
  prices: null,
});

/** Questions and answers of `tokens` each, beginning with a question. */
export const chat = (count: number, tokens: number, first = 1): ItemMeta[] =>
  Array.from({ length: count }, (_, index) => item(first + index, index % 2 === 0 ? "user" : "assistant", { tokens }));

/** Rounds of one call and its result, all in one turn. */
export const rounds = (count: number, tokens: number, first: number): ItemMeta[] =>
  Array.from({ length: count }, (_, n) => [
    call(first + 2 * n, first + 2 * n, { tokens: 10, turn: turnId(first) }),
    result(first + 2 * n + 1, first + 2 * n, { tokens, turn: turnId(first) }),
  ]).flat();

/** The provider counted all of it as `input` tokens, at time `at`. */
export const counted = (state: SessionState, input: number, at = 0): SessionState => {
  const last = state.view.items.at(-1)?.position ?? 0;
  return {
    ...state,
    anchor: {
      epoch: state.view.epoch,
      holds_in: state.view.epoch,
      model: MODEL,
      up_to: last,
      input,
      output: 0,
      reply_to: last,
      fixed: fixedTokens(state),
      at,
    },
  };
};

export const buildSummary = (n: number, from: number, to: number, tokens = 300, generation = 0): Overlay => ({
  id: id("ovl", n),
  kind: "summary",
  from,
  to,
  items: to - from + 1,
  tokens,
  boundary_timestamp: to + 1,
  generation,
});

export const behind = (overlays: readonly Overlay[], items: readonly ItemMeta[], change: Partial<SessionState> = {}): SessionState => {
  const state = viewing(items);
  return { ...state, view: toWeighedView({ ...state.view, overlays }), ...change };
};

/** `memory_query` is never offered, for tests of other parts. `recall-weight.test.ts` covers it. */
export const withoutRecall = (state: SessionState): SessionState => ({ ...state, settings: { ...state.settings, recall: false } });

/** A running turn without open calls. */
export const RUNNING: SessionState["turn"] = {
  id: turnId(1),
  incarnation: "a",
  attempt: 1,
  stalled_lives: 1,
  started_at: 1,
  phase: "generating",
  open_calls: [],
  tools: null,
  calls: 1,
  rounds: 1,
};

type Asked = Partial<Omit<PlanInput, "state" | "policy">>;

/** With the soft trigger and a cold cache by default. */
export const planUnder = (policy: string, state: SessionState, { limits = toLimits(16_000), ...asked }: Asked = {}): Plan =>
  planCompaction({ state, limits, policy: toPolicy(policy), trigger: "threshold", now: 10 ** 12, ...asked });

export const listRungs = (plan: Plan): readonly Rung[] => (plan.kind === "compact" ? plan.rungs : []);

export function findSummarizeRung(plan: Plan): SummarizeRung {
  const rung = listRungs(plan).find((step) => step.rung === "summarize");
  if (!rung) throw new Error(`no summary is planned: ${JSON.stringify(plan)}`);
  return rung;
}

/** The state after a plan. A summary that it requests has `tokens`. */
export function carriedOut(state: SessionState, plan: Plan, { tokens = 200, limits = toLimits(16_000), n = 50 } = {}): SessionState {
  if (plan.kind !== "compact") return state;
  const { trigger } = plan;
  const newOverlay = () => id("ovl", n);
  const input = { state, limits, trigger, newOverlay, read: () => [], summarizer: null, economy: plan.economy, now: 0 };
  const rung = plan.rungs.find((step) => step.rung === "summarize");
  const also = plan.rungs.filter((step) => step.rung !== "summarize");
  const summary = { text: "They spoke.", tokens };
  const change = rung
    ? buildChangeFromSummary({ summary, plan: rung, overlay: newOverlay(), also }, input)
    : buildChangeFromRungs(plan.rungs, input);
  const event = { type: "EpochChanged", epoch: change.base_epoch + 1, trigger, compaction: id("cmp", n), ...change } as const;
  return evolve(state, { ...event, seq: state.seq + 1, at: 1 });
}
