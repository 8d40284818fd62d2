/** The maximum size of a request, and the size of the next one. Every figure states its source. */
import type { Reduced } from "../domain/compaction-events";
import type { FitReport } from "../domain/events";
import { type CountedFixed, isSameFixed, ratioFor } from "../domain/learned-ratio";
import type { ItemMeta } from "../domain/message";
import type { Certainty } from "../domain/receipt";
import { fixedTokens, isRecallOffered, recallToolTokens, type SessionState, type UsageAnchor, weighFixed } from "../domain/state";
import { NO_RESULT_TOKENS, reducedWeights, signedTokens } from "../domain/view";
import type { Prices } from "./economy";
import { savedByWords } from "./media";
import { CONSERVATIVE_WINDOW, type Policy } from "./policy";
import { estimateTokens, MESSAGE_OVERHEAD_TOKENS } from "./tokens";

/** Maximum number of tokens that are reserved for the reply (docs/context.md). */
const RESERVE_MAX_TOKENS = 4_096;
const RESERVE_WINDOW_SHARE = 16;
/**
 * Text that no provider has counted may weigh a quarter more or less than its estimate (docs/estimates.md). Decisions
 * use the upper bound.
 */
export const PADDING = 1.25;
/** Minimum error of an estimate in tokens, because the relative error of a short text is larger. */
const LEAST_ERROR_TOKENS = 8;

export interface ModelLimits {
  readonly model: string;
  readonly window: number | null;
  readonly maxOutput: number;
  /** Prices per token, in any unit. Null when unknown. */
  readonly prices: Prices | null;
  /** The most bytes of a request. Absent: as for every model (`MAX_REQUEST_BYTES`). */
  readonly bytes?: number;
}

/** Replaces an unknown window by the one that the policy assumes, if any (`unknown_window`). */
export const assumeWindow = (limits: ModelLimits, policy: Policy): ModelLimits =>
  limits.window === null ? { ...limits, window: assumedWindow(policy) } : limits;

/** The window that the policy assumes for a model of unknown window. Null when it assumes none. */
export const assumedWindow = ({ unknown_window }: Pick<Policy, "unknown_window">): number | null =>
  unknown_window === "conservative" ? CONSERVATIVE_WINDOW : unknown_window;

/** Tokens kept free for the reply. 0 with an unknown window. */
export function toReplyReserve({ window, maxOutput }: Pick<ModelLimits, "window" | "maxOutput">): number {
  if (window === null) return 0;
  return Math.min(maxOutput, RESERVE_MAX_TOKENS, Math.floor(window / RESERVE_WINDOW_SHARE));
}

/** Maximum tokens of a request. Null with an unknown window. */
export const toRequestLimit = (limits: Pick<ModelLimits, "window" | "maxOutput">): number | null =>
  limits.window === null ? null : limits.window - toReplyReserve(limits);

/** What a request weighs more than it may, by its likely size: nothing is padded. Null: it fits, or the window is unknown. */
export function findExcess(state: SessionState, limits: ModelLimits): FitReport | null {
  const limit = toRequestLimit(limits);
  const { tokens } = measureNext(state, limits.model);
  return limit !== null && tokens > limit ? { floor: tokens, limit, biggest: [] } : null;
}

export interface Measure extends Certainty {
  readonly tokens: number;
}

/** Reported tokens divided by estimated tokens, as this session has learned for the model. */
export const toSessionRatio = (state: SessionState, model: string): number => ratioFor(state.ratios, model);

/** Factor from a raw estimate to its upper bound: the learned ratio, padded. */
export const toPaddedRatio = (state: SessionState, model: string): number => toSessionRatio(state, model) * PADDING;

interface Counted {
  /** Tokens by which the fixed part's estimate exceeds the most that it can weigh. */
  readonly tokens: number;
  /** Tokens by which the upper bound of that estimate exceeds it. */
  readonly padded: number;
}

const UNCOUNTED: Counted = { tokens: 0, padded: 0 };

/** What the provider's counts take off an estimate of the fixed part: what was counted is not padded. */
export function countedOff(state: SessionState, model: string): Counted {
  const fixed = findCounted(state, model);
  if (!fixed) return UNCOUNTED;
  const tokens = fixed.tokens * toSessionRatio(state, model);
  return { tokens: Math.max(0, tokens - fixed.most), padded: Math.max(0, tokens * PADDING - fixed.most) };
}

function findCounted(state: SessionState, model: string): CountedFixed | null {
  const fixed = state.ratios.find((known) => known.model === model)?.fixed;
  return fixed && isSameFixed(fixed, weighFixed(state)) ? fixed : null;
}

/** Raw estimate of the next request as the view is now. Reads running sums only. */
export const rawViewTokens = (state: SessionState): number => fixedTokens(state) + viewTokens(state);

/** Raw estimate of what the view shows: overlays, items, and placeholders for missing results. */
export const viewTokens = (state: SessionState): number => state.view.tokens - savedByWords(state).total;

/** Raw estimate of the system messages that the view shows. */
export const systemTokens = (state: SessionState): number => state.view.system - savedByWords(state).system;

/** Characters that the guard shows of a shortened result, both ends together. */
export const SHORTENED_CHARS = 1_000;
/** Maximum tokens of the notice in a shortened result. An execution's id makes it dense. */
const NOTICE_TOKENS = 56;
/** Maximum tokens of a shortened result: one for each character, and the notice. */
export const SHORTENED_TOKENS = SHORTENED_CHARS + NOTICE_TOKENS;

/**
 * Raw tokens that the first change of the view adds to the request, because it makes `memory_query` available. 0 when
 * it is offered already or never.
 */
export const toPendingRecallTokens = (state: SessionState): number =>
  state.settings.recall === false || isRecallOffered(state) ? 0 : recallToolTokens(state);

const weights = new WeakMap<readonly Reduced[], ReadonlyMap<number, number>>();

function toWeights(reduced: readonly Reduced[]): ReadonlyMap<number, number> {
  const known = weights.get(reduced);
  if (known) return known;
  const made = reducedWeights(reduced);
  weights.set(reduced, made);
  return made;
}

/** Raw tokens of an item in the view: less than recorded if it is cleared or shortened, and media as what the model is sent of them. */
export const itemTokens = (state: SessionState, item: Pick<ItemMeta, "position" | "tokens" | "signed">): number =>
  (toWeights(state.view.reduced).get(item.position) ?? item.tokens - savedOn(state, item)) + signedTokens(state.view, item);

const savedOn = (state: SessionState, { position }: Pick<ItemMeta, "position">): number =>
  savedByWords(state).byPosition.get(position) ?? 0;

/** Whether the view shows the item shortened or replaced. */
export const isReduced = (state: SessionState, { position }: Pick<ItemMeta, "position">): boolean =>
  toWeights(state.view.reduced).has(position);

type Weigh = (item: ItemMeta) => number;

/** Tokens that the provider's count of a reply leaves out and the next request sends: the frame of each item, and the ids of calls. */
const countUncounted = ({ tool }: ItemMeta): number => MESSAGE_OVERHEAD_TOKENS + (tool ? estimateTokens(tool.call_id) : 0);

/**
 * Raw estimate of what the view holds beyond the provider's count: newer items, placeholders for missing results and,
 * if there are any of these, what the reply's count left out.
 */
function addedTokens(state: SessionState, anchor: UsageAnchor, weigh: Weigh): number {
  const answered = new Set<string | undefined>();
  let added = 0;
  let uncounted = 0;
  for (let index = state.view.items.length - 1; index >= 0; index--) {
    const item = state.view.items[index];
    if (!item || item.position <= anchor.up_to) break;
    if (item.position > anchor.reply_to) added += weigh(item);
    else uncounted += countUncounted(item);
    if (item.kind === "tool_result") answered.add(item.tool?.execution);
    else if (item.kind === "tool_call" && !answered.has(item.tool?.execution)) added += NO_RESULT_TOKENS;
  }
  return added > 0 ? added + uncounted : 0;
}

interface MeasureOptions {
  /** Additional raw tokens. */
  readonly extra?: number;
  readonly estimator?: Policy["estimator"];
  /** Accepts only a count of the current epoch: usage of an earlier epoch never triggers a compaction. */
  readonly ofEpoch?: boolean;
}

/**
 * The estimated size of the next request and its maximum error. It starts from the provider's count of the last request
 * whose items are still the beginning of this epoch's view. Only what came since, and what changed before those items,
 * is estimated.
 */
export function measureNext(state: SessionState, model: string, { extra = 0 }: Pick<MeasureOptions, "extra"> = {}): Measure {
  return measureFrom(state, { model, anchor: anchorFor(state, model, false), extra });
}

/** The size that decisions use: the upper bound of the next request. With the `chars_4` estimator: that estimator's figure, unpadded. */
export function plannedNext(state: SessionState, model: string, options: MeasureOptions = {}): number {
  const { extra = 0, estimator = "by_script", ofEpoch = false } = options;
  const anchor = anchorFor(state, model, ofEpoch);
  if (estimator === "chars_4") return countByCharacters(state, anchor, extra);
  return toUpperBound(measureFrom(state, { model, anchor, extra }));
}

/** The upper bound of a measure. */
export const toUpperBound = ({ tokens, error_bound }: Measure): number => tokens + error_bound;

interface Measuring {
  readonly model: string;
  readonly anchor: UsageAnchor | null;
  readonly extra: number;
}

function measureFrom(state: SessionState, { model, anchor, extra }: Measuring): Measure {
  const ratio = toSessionRatio(state, model);
  if (!anchor) return withCounted(estimated(0, (rawViewTokens(state) + extra) * ratio), countedOff(state, model));
  const head = addedInFront(state, anchor);
  const added = extra + addedTokens(state, anchor, (item) => itemTokens(state, item));
  if (added === 0 && head === 0) return { tokens: anchor.input + anchor.output, source: "reported", error_bound: 0 };
  return { ...estimated(anchor.input + anchor.output, (added + head) * ratio, (added + Math.abs(head)) * ratio), source: "mixed" };
}

/** The size of a text or a request that is only estimated, with the same bound as the estimated part of a request. */
export const toEstimate = (tokens: number): Measure => estimated(0, tokens);

function withCounted({ tokens, error_bound, source }: Measure, off: Counted): Measure {
  if (off.padded === 0) return { tokens, error_bound, source };
  const less = Math.floor(off.tokens);
  return { tokens: tokens - less, error_bound: Math.max(0, error_bound - Math.floor(off.padded) + less), source: "mixed" };
}

/** `counted` tokens plus `guessed` ones, which may be negative. `uncertain`: how many of them are only estimated. */
function estimated(counted: number, guessed: number, uncertain: number = Math.abs(guessed)): Measure {
  const error_bound = Math.ceil(uncertain * (PADDING - 1)) + LEAST_ERROR_TOKENS;
  return { tokens: Math.max(0, Math.ceil(counted + guessed)), source: "estimated", error_bound };
}

/**
 * The size of the next request after a change of the view: the measure from before (`measured`), times the share of it
 * that stays by the estimate. So counted and estimated tokens are not compared with each other. The error is a quarter
 * of what stays or of what left, whichever is less.
 */
export function measureAfter(
  after: SessionState,
  { state, measured }: { readonly state: SessionState; readonly measured: Measure },
  model: string,
): Measure {
  const then = measureNext(after, model);
  if (anchorFor(after, model, false)) return then;
  const stays = estimated(0, measured.tokens * (rawViewTokens(after) / Math.max(1, rawViewTokens(state))));
  const byChange = measureWithout(measured, measured.tokens - stays.tokens);
  return byChange.error_bound < stays.error_bound ? byChange : { ...stays, source: byChange.source };
}

/**
 * An upper bound of the same request if it ended with position `to`. What comes after is subtracted: a counted reply as
 * it was counted, other counted items with the lower bound of their estimate, and estimated items with the upper bound
 * that they were added with.
 */
export function measureUpTo(state: SessionState, model: string, to: number): number {
  const anchor = anchorFor(state, model, false);
  const scale = toPaddedRatio(state, model);
  let behind = anchor && to <= anchor.up_to ? anchor.output : 0;
  for (let index = state.view.items.length - 1; index >= 0; index--) {
    const item = state.view.items[index];
    if (!item || item.position <= to) break;
    if (!anchor || item.position > anchor.reply_to) behind += itemTokens(state, item) * scale;
    else if (item.position <= anchor.up_to) behind += (itemTokens(state, item) * scale) / PADDING ** 2;
  }
  return Math.max(0, Math.ceil(plannedNext(state, model) - behind));
}

/** `measured` less `gain` estimated tokens. */
export const measureWithout = ({ tokens, source, error_bound }: Measure, gain: number): Measure => ({
  tokens: Math.max(0, Math.ceil(tokens - gain)),
  source: source === "reported" ? "mixed" : source,
  error_bound: error_bound + Math.ceil(Math.abs(gain) * (PADDING - 1)),
});

const anchorFor = ({ anchor, view }: SessionState, model: string, ofEpoch: boolean): UsageAnchor | null =>
  anchor?.holds_in === view.epoch && anchor.model === model && !(ofEpoch && anchor.epoch !== view.epoch) ? anchor : null;

const addedInFront = (state: SessionState, anchor: UsageAnchor): number => fixedTokens(state) - anchor.fixed;

/** The `chars_4` estimate of the next request, for what no usage was reported for: unpadded, and off by up to a factor of 2. */
function countByCharacters(state: SessionState, anchor: UsageAnchor | null, extra: number): number {
  if (!anchor) return extra + fixedTokens(state) + state.view.rough - savedByWords(state).total;
  const weigh: Weigh = (item) => (isReduced(state, item) ? itemTokens(state, item) : (item.rough ?? item.tokens) - savedOn(state, item));
  return anchor.input + anchor.output + extra + addedInFront(state, anchor) + addedTokens(state, anchor, weigh);
}
