/** How much a request may weigh, and how much the next one does. Every figure says where it comes from. */
import type { Reduced } from "../domain/compaction-events";
import type { ItemMeta } from "../domain/message";
import { offeredTools, type SessionState, type UsageAnchor } from "../domain/state";
import { reducedWeights } from "../domain/view";
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

export interface Measure {
  readonly tokens: number;
  readonly source: "reported" | "estimated" | "mixed";
  /** How far off `tokens` may be, either way. */
  readonly error_bound: number;
}

/** What this session has taught of the model: reported tokens over estimated ones. */
export const ratioOf = (state: SessionState, model: string): number => (state.ratio.model === model ? state.ratio.value : 1);

/** From a raw estimate to the tokens that are planned with: scaled by what this session has taught, and padded. */
export const scaleOf = (state: SessionState, model: string): number => ratioOf(state, model) * PADDING;

/** Raw estimate of everything that a request holds whatever is compacted: system prompt, tools, pins. */
export function fixedTokens(state: SessionState): number {
  const tools = offeredTools(state);
  const pins = state.pins.reduce((sum, pin) => sum + pin.tokens, 0);
  return (state.settings.system?.tokens ?? 0) + (tools?.tokens ?? 0) + pins;
}

/** Raw estimate of the whole view, as the next request would send it: a running sum, nothing is read again. */
export const rawViewTokens = (state: SessionState): number => fixedTokens(state) + state.view.tokens;

/** Characters that a result shows when the guard must shorten it, both ends together. */
export const SHORTENED_CHARS = 1_000;
/** The most that it can weigh: a token for each character. */
export const SHORTENED_TOKENS = SHORTENED_CHARS;

const weights = new WeakMap<readonly Reduced[], ReadonlyMap<number, number>>();

function weightsOf(reduced: readonly Reduced[]): ReadonlyMap<number, number> {
  const known = weights.get(reduced);
  if (known) return known;
  const made = reducedWeights(reduced);
  weights.set(reduced, made);
  return made;
}

/** What an item weighs in the view: one that is cleared or shortened less than in the record. */
export const itemTokens = (state: SessionState, item: Pick<ItemMeta, "position" | "tokens">): number =>
  weightsOf(state.view.reduced).get(item.position) ?? item.tokens;

/** Whether the view shows an item as less than it is. */
export const isReduced = (state: SessionState, { position }: Pick<ItemMeta, "position">): boolean =>
  weightsOf(state.view.reduced).has(position);

/** What stands in the view for the result of a call that was never answered (`view`, NO_RESULT), with its frame. */
const NO_RESULT_TOKENS = 24;

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
}

/**
 * What the next request would weigh. Anchored on the provider's count of the last request of this epoch; only what came
 * since is estimated. Usage from before an epoch never counts.
 */
export function measureNext(state: SessionState, model: string, { extra = 0, estimator = "by_script" }: MeasureOptions = {}): Measure {
  if (estimator === "chars_4") return measureByCharacters(state, model, extra);
  const scale = scaleOf(state, model);
  const anchor = anchorFor(state, model);
  if (!anchor) {
    const tokens = Math.ceil((rawViewTokens(state) + extra) * scale);
    return { tokens, source: "estimated", error_bound: Math.ceil(tokens * (1 - 1 / PADDING)) };
  }
  const added = extra + addedTools(state, anchor) + addedTokens(state, anchor, (item) => itemTokens(state, item));
  const estimated = Math.ceil(added * scale);
  const tokens = anchor.input + anchor.output + estimated;
  return { tokens, source: added === 0 ? "reported" : "mixed", error_bound: Math.ceil(Math.abs(estimated) * (1 - 1 / PADDING)) };
}

const anchorFor = ({ anchor, view }: SessionState, model: string): UsageAnchor | null =>
  anchor?.epoch === view.epoch && anchor.model === model ? anchor : null;

const addedTools = (state: SessionState, anchor: UsageAnchor): number => (offeredTools(state)?.tokens ?? 0) - anchor.tools;

/** RFC-011's `TokenEstimator` for what no usage was reported for: unpadded, and off by as much as it says itself, a factor of 2. */
function measureByCharacters(state: SessionState, model: string, extra: number): Measure {
  const weigh: Weigh = (item) => (isReduced(state, item) ? itemTokens(state, item) : (item.rough ?? item.tokens));
  const anchor = anchorFor(state, model);
  if (anchor) {
    const added = extra + addedTools(state, anchor) + addedTokens(state, anchor, weigh);
    return { tokens: anchor.input + anchor.output + added, source: added === 0 ? "reported" : "mixed", error_bound: added };
  }
  const overlays = state.view.overlays.reduce((sum, overlay) => sum + overlay.tokens, 0);
  const tokens = extra + fixedTokens(state) + overlays + state.view.items.reduce((sum, item) => sum + weigh(item), 0);
  return { tokens, source: "estimated", error_bound: tokens };
}
