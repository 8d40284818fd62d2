/** How much a request may weigh, and how much the next one does. Every figure says where it comes from. */
import { offeredTools, type SessionState, type UsageAnchor } from "../domain/state";

/** What is always left for the reply, at most (docs/design.md §5, the guard). */
const RESERVE_MAX_TOKENS = 4_096;
const RESERVE_WINDOW_SHARE = 16;
/** New text counts this much more until the provider has counted it (docs/policy.md: the simulator's constants). */
export const PADDING = 1.25;

export interface ModelLimits {
  readonly model: string;
  readonly window: number | null;
  readonly maxOutput: number;
}

/** Tokens kept free for the reply; 0 with an unknown window. */
export function reserveOf(limits: ModelLimits): number {
  if (limits.window === null) return 0;
  return Math.min(limits.maxOutput, RESERVE_MAX_TOKENS, Math.floor(limits.window / RESERVE_WINDOW_SHARE));
}

/** The most that a request may weigh; null with an unknown window. */
export const limitOf = (limits: ModelLimits): number | null => (limits.window === null ? null : limits.window - reserveOf(limits));

export interface Measure {
  readonly tokens: number;
  readonly source: "reported" | "estimated" | "mixed";
  readonly error_bound: number;
}

/** From a raw estimate to the tokens that are planned with: scaled by what this session has taught, and padded. */
export const scaleOf = (state: SessionState, model: string): number => (state.ratio.model === model ? state.ratio.value : 1) * PADDING;

/** Raw estimate of everything that a request holds whatever is compacted: system prompt, tools, pins. */
export function fixedTokens(state: SessionState): number {
  const tools = offeredTools(state);
  const pins = state.pins.reduce((sum, pin) => sum + pin.tokens, 0);
  return (state.settings.system?.tokens ?? 0) + (tools?.tokens ?? 0) + pins;
}

/** Raw estimate of the whole view, as the next request would send it. */
export function rawViewTokens(state: SessionState): number {
  const { overlays, items } = state.view;
  const older = overlays.reduce((sum, overlay) => sum + overlay.tokens, 0);
  return fixedTokens(state) + older + items.reduce((sum, item) => sum + itemTokens(state, item), 0);
}

/** Characters that a shortened tool result shows, both ends together. */
export const SHORTENED_CHARS = 1_000;
/** The most that it can weigh: a token for each character. */
const SHORTENED_TOKENS = SHORTENED_CHARS;

/** What an item weighs in the view: a shortened result less than in the record. */
export function itemTokens(state: SessionState, item: { readonly position: number; readonly tokens: number }): number {
  return state.view.shortened.includes(item.position) ? Math.min(item.tokens, SHORTENED_TOKENS) : item.tokens;
}

/** What stands in the view for the result of a call that was never answered (`view`, NO_RESULT), with its frame. */
const NO_RESULT_TOKENS = 24;

/** Raw estimate of what the view holds beyond what the provider has counted: newer items, and what stands for missing results. */
function addedTokens(state: SessionState, anchor: UsageAnchor): number {
  const answered = new Set<string | undefined>();
  let added = 0;
  for (let index = state.view.items.length - 1; index >= 0; index--) {
    const item = state.view.items[index];
    if (!item || item.position <= anchor.up_to) break;
    if (item.position > anchor.reply_to) added += itemTokens(state, item);
    if (item.kind === "tool_result") answered.add(item.tool?.execution);
    else if (item.kind === "tool_call" && !answered.has(item.tool?.execution)) added += NO_RESULT_TOKENS;
  }
  return added;
}

/**
 * What the next request would weigh, with `extra` raw tokens more. Anchored on the provider's count of the last
 * request of this epoch; only what came since is estimated. Usage from before an epoch never counts.
 */
export function measureNext(state: SessionState, model: string, extra = 0): Measure {
  const scale = scaleOf(state, model);
  const { anchor } = state;
  if (anchor?.epoch !== state.view.epoch || anchor.model !== model) {
    const tokens = Math.ceil((rawViewTokens(state) + extra) * scale);
    return { tokens, source: "estimated", error_bound: Math.ceil(tokens * (1 - 1 / PADDING)) };
  }
  const tools = (offeredTools(state)?.tokens ?? 0) - anchor.tools;
  const added = extra + tools + addedTokens(state, anchor);
  const estimated = Math.ceil(added * scale);
  const tokens = anchor.input + anchor.output + estimated;
  return { tokens, source: added === 0 ? "reported" : "mixed", error_bound: Math.ceil(Math.abs(estimated) * (1 - 1 / PADDING)) };
}
