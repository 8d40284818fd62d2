/** How much a request may weigh, and how much the next one does. Every figure says where it comes from. */
import type { Certainty, Reduced } from "../domain/compaction-events";
import { ratioFor } from "../domain/learned-ratio";
import type { ItemMeta } from "../domain/message";
import { fixedTokens, isRecallOffered, recallToolTokens, type SessionState, type UsageAnchor } from "../domain/state";
import { NO_RESULT_TOKENS, reducedWeights, signedTokens } from "../domain/view";
import type { Prices } from "./economy";
import { savedByWords } from "./media";
import { CONSERVATIVE_WINDOW, type Policy } from "./policy";
import { estimateTokens, MESSAGE_OVERHEAD_TOKENS } from "./tokens";

/** What is always left for the reply, at most (docs/design.md §5, the guard). */
const RESERVE_MAX_TOKENS = 4_096;
const RESERVE_WINDOW_SHARE = 16;
/** What nobody has counted may weigh a quarter more, or less, than it is estimated (docs/estimates.md). Decisions go by the most. */
export const PADDING = 1.25;
/** And so many tokens, however little that is: a short text is further off than its share. */
const LEAST_ERROR_TOKENS = 8;

export interface ModelLimits {
  readonly model: string;
  readonly window: number | null;
  readonly maxOutput: number;
  /** Per token, in any unit; null: unknown. */
  readonly prices: Prices | null;
}

/** What the policy takes an unknown window to be (ADR 097: 8,192; Opal: 128,000; FEAT-011: null, never compact). */
export const assumeWindow = (limits: ModelLimits, policy: Policy): ModelLimits =>
  limits.window === null ? { ...limits, window: assumedWindow(policy) } : limits;

/** Null: none is assumed. */
export const assumedWindow = ({ unknown_window }: Pick<Policy, "unknown_window">): number | null =>
  unknown_window === "conservative" ? CONSERVATIVE_WINDOW : unknown_window;

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

/** From a raw estimate to the most that it is planned with: scaled by what this session has taught, and padded. */
export const scaleOf = (state: SessionState, model: string): number => ratioOf(state, model) * PADDING;

/** Raw estimate of the whole view, as the next request would send it: a running sum, nothing is read again. */
export const rawViewTokens = (state: SessionState): number => fixedTokens(state) + viewTokens(state);

/** The same of what the view shows: overlays, items, and what stands for results that are missing. */
export const viewTokens = (state: SessionState): number => state.view.tokens - savedByWords(state).total;

/** Raw estimate of the system messages that the view shows. */
export const systemTokens = (state: SessionState): number => state.view.system - savedByWords(state).system;

/** Characters that a result shows when the guard must shorten it, both ends together. */
export const SHORTENED_CHARS = 1_000;
/** What its notice weighs at most, with the way to have all of it, which an execution's id makes dense. */
const NOTICE_TOKENS = 56;
/** The most that it can weigh: a token for each character, and the notice. */
export const SHORTENED_TOKENS = SHORTENED_CHARS + NOTICE_TOKENS;

/** Raw tokens that the first change of the view adds to whatever it leaves: from then on `memory_query` is offered. */
export const recallToCome = (state: SessionState): number =>
  state.settings.recall === false || isRecallOffered(state) ? 0 : recallToolTokens(state);

const weights = new WeakMap<readonly Reduced[], ReadonlyMap<number, number>>();

function weightsOf(reduced: readonly Reduced[]): ReadonlyMap<number, number> {
  const known = weights.get(reduced);
  if (known) return known;
  const made = reducedWeights(reduced);
  weights.set(reduced, made);
  return made;
}

/** What an item weighs in the view: one that is cleared or shortened less than in the record, and media as what is sent of it. */
export const itemTokens = (state: SessionState, item: Pick<ItemMeta, "position" | "tokens" | "signed">): number =>
  (weightsOf(state.view.reduced).get(item.position) ?? item.tokens - savedOn(state, item)) + signedTokens(state.view, item);

const savedOn = (state: SessionState, { position }: Pick<ItemMeta, "position">): number =>
  savedByWords(state).byPosition.get(position) ?? 0;

/** Whether the view shows an item as less than it is. */
export const isReduced = (state: SessionState, { position }: Pick<ItemMeta, "position">): boolean =>
  weightsOf(state.view.reduced).has(position);

type Weigh = (item: ItemMeta) => number;

/** What a provider's count of a reply leaves out and the next request sends: what frames each item, and the ids of calls. */
const uncountedOf = ({ tool }: ItemMeta): number => MESSAGE_OVERHEAD_TOKENS + (tool ? estimateTokens(tool.call_id) : 0);

/**
 * Raw estimate of what the view holds beyond what the provider has counted: newer items, what stands for missing results, and, with
 * anything new behind it, what the reply's count left out.
 */
function addedTokens(state: SessionState, anchor: UsageAnchor, weigh: Weigh): number {
  const answered = new Set<string | undefined>();
  let added = 0;
  let uncounted = 0;
  for (let index = state.view.items.length - 1; index >= 0; index--) {
    const item = state.view.items[index];
    if (!item || item.position <= anchor.up_to) break;
    if (item.position > anchor.reply_to) added += weigh(item);
    else uncounted += uncountedOf(item);
    if (item.kind === "tool_result") answered.add(item.tool?.execution);
    else if (item.kind === "tool_call" && !answered.has(item.tool?.execution)) added += NO_RESULT_TOKENS;
  }
  return added > 0 ? added + uncounted : 0;
}

interface MeasureOptions {
  /** Raw tokens more. */
  readonly extra?: number;
  readonly estimator?: Policy["estimator"];
  /** Only what was counted in this very epoch may say so: usage from before it never triggers. */
  readonly ofEpoch?: boolean;
}

/**
 * What the next request is believed to weigh, and how far off that may be. Anchored on the provider's count of the last request whose items
 * this epoch's view still begins with; only what came since is estimated, and what changed in front of them.
 */
export function measureNext(state: SessionState, model: string, { extra = 0 }: Pick<MeasureOptions, "extra"> = {}): Measure {
  return measureFrom(state, { model, anchor: anchorFor(state, model, false), extra });
}

/** What decisions go by: the most that the next request may weigh, whatever of it nobody has counted; under RFC-011's estimator what that says. */
export function plannedNext(state: SessionState, model: string, options: MeasureOptions = {}): number {
  const { extra = 0, estimator = "by_script", ofEpoch = false } = options;
  const anchor = anchorFor(state, model, ofEpoch);
  if (estimator === "chars_4") return countByCharacters(state, anchor, extra);
  return mostOf(measureFrom(state, { model, anchor, extra }));
}

/** The most that a figure may truly be. */
export const mostOf = ({ tokens, error_bound }: Measure): number => tokens + error_bound;

interface Measuring {
  readonly model: string;
  readonly anchor: UsageAnchor | null;
  readonly extra: number;
}

function measureFrom(state: SessionState, { model, anchor, extra }: Measuring): Measure {
  const ratio = ratioOf(state, model);
  if (!anchor) return estimated(0, (rawViewTokens(state) + extra) * ratio);
  const head = addedInFront(state, anchor);
  const added = extra + addedTokens(state, anchor, (item) => itemTokens(state, item));
  if (added === 0 && head === 0) return { tokens: anchor.input + anchor.output, source: "reported", error_bound: 0 };
  return { ...estimated(anchor.input + anchor.output, (added + head) * ratio, (added + Math.abs(head)) * ratio), source: "mixed" };
}

/** `counted` tokens and `guessed` more, or less; `uncertain`: what of them only the estimate knows. */
function estimated(counted: number, guessed: number, uncertain: number = Math.abs(guessed)): Measure {
  const error_bound = Math.ceil(uncertain * (PADDING - 1)) + LEAST_ERROR_TOKENS;
  return { tokens: Math.max(0, Math.ceil(counted + guessed)), source: "estimated", error_bound };
}

/**
 * What the next request weighs after a change of the view: that share of what was there before (`by`) which stays by the estimate, so that
 * what the provider counted is not weighed against what it did not. Off by a quarter of what stays, or of what went, whichever is less.
 */
export function measureAfter(
  after: SessionState,
  { state, measured }: { readonly state: SessionState; readonly measured: Measure },
  model: string,
): Measure {
  const then = measureNext(after, model);
  if (then.source !== "estimated") return then;
  const stays = estimated(0, measured.tokens * (rawViewTokens(after) / Math.max(1, rawViewTokens(state))));
  const byChange = measureWithout(measured, measured.tokens - stays.tokens);
  return byChange.error_bound < stays.error_bound ? byChange : { ...stays, source: byChange.source };
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
  return Math.max(0, Math.ceil(plannedNext(state, model) - behind));
}

/** What `measured` comes to without `gain` tokens that only the estimate knows. */
export const measureWithout = ({ tokens, source, error_bound }: Measure, gain: number): Measure => ({
  tokens: Math.max(0, Math.ceil(tokens - gain)),
  source: source === "reported" ? "mixed" : source,
  error_bound: error_bound + Math.ceil(Math.abs(gain) * (PADDING - 1)),
});

const anchorFor = ({ anchor, view }: SessionState, model: string, ofEpoch: boolean): UsageAnchor | null =>
  anchor?.holds_in === view.epoch && anchor.model === model && !(ofEpoch && anchor.epoch !== view.epoch) ? anchor : null;

const addedInFront = (state: SessionState, anchor: UsageAnchor): number => fixedTokens(state) - anchor.fixed;

/** RFC-011's `TokenEstimator` for what no usage was reported for: unpadded, and off by a factor of 2. */
function countByCharacters(state: SessionState, anchor: UsageAnchor | null, extra: number): number {
  if (!anchor) return extra + fixedTokens(state) + state.view.rough - savedByWords(state).total;
  const weigh: Weigh = (item) => (isReduced(state, item) ? itemTokens(state, item) : (item.rough ?? item.tokens) - savedOn(state, item));
  return anchor.input + anchor.output + extra + addedInFront(state, anchor) + addedTokens(state, anchor, weigh);
}
