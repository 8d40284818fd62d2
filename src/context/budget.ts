/** How much a request may weigh, and how much the next one does. Every figure says where it comes from. */
import type { Certainty, Reduced } from "../domain/compaction-events";
import { ratioFor } from "../domain/learned-ratio";
import type { ItemMeta } from "../domain/message";
import { fixedTokens, isRecallOffered, RECALL_TOOL_TOKENS, type SessionState, type UsageAnchor } from "../domain/state";
import { NO_RESULT_TOKENS, reducedWeights, signedTokens } from "../domain/view";
import type { Prices } from "./economy";
import { CONSERVATIVE_WINDOW, type Policy } from "./policy";

/** What is always left for the reply, at most (docs/design.md §5, the guard). */
const RESERVE_MAX_TOKENS = 4_096;
const RESERVE_WINDOW_SHARE = 16;
/** New text counts this much more until the provider has counted it (docs/policy.md: the simulator's constants). */
export const PADDING = 1.25;

export interface ModelLimits {
  readonly model: string;
  readonly window: number | null;
  readonly maxOutput: number;
  /** Per token, in any unit; null: unknown. */
  readonly prices: Prices | null;
}

/** What the policy takes an unknown window to be (ADR 097: 8,192; Opal: 128,000; FEAT-011: null, never compact). */
export function assumeWindow(limits: ModelLimits, { unknown_window }: Policy): ModelLimits {
  if (limits.window !== null || unknown_window === null) return limits;
  return { ...limits, window: unknown_window === "conservative" ? CONSERVATIVE_WINDOW : unknown_window };
}

/** Tokens kept free for the reply; 0 with an unknown window. */
export function reserveOf({ window, maxOutput }: Pick<ModelLimits, "window" | "maxOutput">): number {
  if (window === null) return 0;
  return Math.min(maxOutput, RESERVE_MAX_TOKENS, Math.floor(window / RESERVE_WINDOW_SHARE));
}

/** The most that a request may weigh; null with an unknown window. */
export const limitOf = (limits: Pick<ModelLimits, "window" | "maxOutput">): number | null =>
  limits.window === null ? null : limits.window - reserveOf(limits);

export interface Measure extends Certainty {
  readonly tokens: number;
}

/** What this session has taught of the model: reported tokens over estimated ones. */
export const ratioOf = (state: SessionState, model: string): number => ratioFor(state.ratios, model);

/** From a raw estimate to the tokens that are planned with: scaled by what this session has taught, and padded. */
export const scaleOf = (state: SessionState, model: string): number => ratioOf(state, model) * PADDING;

/** Raw estimate of the whole view, as the next request would send it: a running sum, nothing is read again. */
export const rawViewTokens = (state: SessionState): number => fixedTokens(state) + state.view.tokens;

/** Characters that a result shows when the guard must shorten it, both ends together. */
export const SHORTENED_CHARS = 1_000;
/** What its notice weighs at most, with the way to have all of it, which an execution's id makes dense. */
const NOTICE_TOKENS = 56;
/** The most that it can weigh: a token for each character, and the notice. */
export const SHORTENED_TOKENS = SHORTENED_CHARS + NOTICE_TOKENS;

/** Raw tokens that the first change of the view adds to whatever it leaves: from then on `memory_query` is offered. */
export const recallToCome = (state: SessionState): number =>
  state.settings.recall === false || isRecallOffered(state) ? 0 : RECALL_TOOL_TOKENS;

const weights = new WeakMap<readonly Reduced[], ReadonlyMap<number, number>>();

function weightsOf(reduced: readonly Reduced[]): ReadonlyMap<number, number> {
  const known = weights.get(reduced);
  if (known) return known;
  const made = reducedWeights(reduced);
  weights.set(reduced, made);
  return made;
}

/** What an item weighs in the view: one that is cleared or shortened less than in the record. */
export const itemTokens = (state: SessionState, item: Pick<ItemMeta, "position" | "tokens" | "signed">): number =>
  (weightsOf(state.view.reduced).get(item.position) ?? item.tokens) + signedTokens(state.view, item);

/** Whether the view shows an item as less than it is. */
export const isReduced = (state: SessionState, { position }: Pick<ItemMeta, "position">): boolean =>
  weightsOf(state.view.reduced).has(position);

type Weigh = (item: ItemMeta) => number;

/** Raw estimate of what the view holds beyond what the provider has counted: newer items, and what stands for missing results. */
function addedTokens(state: SessionState, anchor: UsageAnchor, weigh: Weigh): number {
  const answered = new Set<string | undefined>();
  let added = 0;
  for (let index = state.view.items.length - 1; index >= 0; index--) {
    const item = state.view.items[index];
    if (!item || item.position <= anchor.up_to) break;
    if (item.position > anchor.reply_to) added += weigh(item);
    if (item.kind === "tool_result") answered.add(item.tool?.execution);
    else if (item.kind === "tool_call" && !answered.has(item.tool?.execution)) added += NO_RESULT_TOKENS;
  }
  return added;
}

export interface MeasureOptions {
  /** Raw tokens more. */
  readonly extra?: number;
  readonly estimator?: Policy["estimator"];
  /** Only what was counted in this very epoch may say so: usage from before it never triggers. */
  readonly ofEpoch?: boolean;
}

/**
 * What the next request would weigh. Anchored on the provider's count of the last request whose items this epoch's view still begins
 * with; only what came since is estimated, and what changed in front of them.
 */
export function measureNext(state: SessionState, model: string, options: MeasureOptions = {}): Measure {
  const { extra = 0, estimator = "by_script", ofEpoch = false } = options;
  const anchor = anchorFor(state, model, ofEpoch);
  if (estimator === "chars_4") return measureByCharacters(state, anchor, extra);
  const scale = scaleOf(state, model);
  if (!anchor) {
    const tokens = Math.ceil((rawViewTokens(state) + extra) * scale);
    return { tokens, source: "estimated", error_bound: Math.ceil(tokens * (1 - 1 / PADDING)) };
  }
  const head = addedInFront(state, anchor);
  const added = extra + Math.max(0, head) + addedTokens(state, anchor, (item) => itemTokens(state, item));
  // What is gone from the front is not padded: it would be taken for more than it was.
  const estimated = Math.ceil(added * scale + (Math.min(0, head) * scale) / PADDING ** 2);
  const tokens = anchor.input + anchor.output + estimated;
  return {
    tokens,
    source: added === 0 && head === 0 ? "reported" : "mixed",
    error_bound: Math.ceil((added - Math.min(0, head)) * scale * (1 - 1 / PADDING)),
  };
}

/**
 * What the next request would weigh after a change of the view, in the measure of what was there before (`by`): a view that was never counted
 * is padded only where the one before it was.
 */
export function measureAfter(
  after: SessionState,
  by: { readonly state: SessionState; readonly measured: Measure },
  model: string,
): Measure {
  const { state, measured } = by;
  const then = measureNext(after, model);
  if (then.source !== "estimated") return then;
  const isPadded = measured.source === "estimated";
  const perToken = isPadded ? scaleOf(state, model) : ratioOf(state, model);
  const change = (rawViewTokens(after) - rawViewTokens(state)) * perToken;
  const tokens = Math.max(0, Math.ceil(measured.tokens + change));
  if (isPadded) return { tokens, source: "estimated", error_bound: Math.ceil(tokens * (1 - 1 / PADDING)) };
  return { tokens, source: "mixed", error_bound: measured.error_bound + Math.ceil(Math.abs(change) * (PADDING - 1)) };
}

/**
 * What the same request would weigh if it ended with position `to`, and rather more than less: a reply behind it is taken off as it was
 * counted, what only the estimate knows as carefully as it was put on.
 */
export function measureUpTo(state: SessionState, model: string, to: number): number {
  const anchor = anchorFor(state, model, false);
  const scale = scaleOf(state, model);
  let behind = anchor && to <= anchor.up_to ? anchor.output : 0;
  for (let index = state.view.items.length - 1; index >= 0; index--) {
    const item = state.view.items[index];
    if (!item || item.position <= to) break;
    if (!anchor || item.position > anchor.reply_to) behind += itemTokens(state, item) * scale;
    else if (item.position <= anchor.up_to) behind += (itemTokens(state, item) * scale) / PADDING ** 2;
  }
  return Math.max(0, Math.ceil(measureNext(state, model).tokens - behind));
}

/** What `measured` comes to without `gain` tokens that only the estimate knows. */
export const measureWithout = ({ tokens, error_bound }: Measure, gain: number): Measure => ({
  tokens: Math.max(0, tokens - gain),
  source: "estimated",
  error_bound: error_bound + Math.ceil(gain * (PADDING - 1)),
});

const anchorFor = ({ anchor, view }: SessionState, model: string, ofEpoch: boolean): UsageAnchor | null =>
  anchor?.holds_in === view.epoch && anchor.model === model && !(ofEpoch && anchor.epoch !== view.epoch) ? anchor : null;

const addedInFront = (state: SessionState, anchor: UsageAnchor): number => fixedTokens(state) - anchor.fixed;

/** RFC-011's `TokenEstimator` for what no usage was reported for: unpadded, and off by as much as it says itself, a factor of 2. */
function measureByCharacters(state: SessionState, anchor: UsageAnchor | null, extra: number): Measure {
  if (anchor) {
    const weigh: Weigh = (item) => (isReduced(state, item) ? itemTokens(state, item) : (item.rough ?? item.tokens));
    const added = extra + addedInFront(state, anchor) + addedTokens(state, anchor, weigh);
    return { tokens: anchor.input + anchor.output + added, source: added === 0 ? "reported" : "mixed", error_bound: Math.abs(added) };
  }
  const tokens = extra + fixedTokens(state) + state.view.rough;
  return { tokens, source: "estimated", error_bound: tokens };
}
