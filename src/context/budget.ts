/** The maximum size of a request. `sizing` measures the next one. */
import type { FitReport } from "../domain/events";
import type { SessionState } from "../domain/state";
import type { Prices } from "./economy";
import { CONSERVATIVE_WINDOW, type Policy } from "./policy";
import { type SizedModel, Sizing } from "./sizing";

/** Maximum number of tokens that are reserved for the reply (docs/context.md). */
const RESERVE_MAX_TOKENS = 4_096;
const RESERVE_WINDOW_SHARE = 16;

export interface ModelLimits {
  readonly model: SizedModel;
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

/** The size of the next request to the model of these limits. */
export const toSizing = ({ state, limits }: { readonly state: SessionState; readonly limits: ModelLimits }): Sizing =>
  new Sizing(state, limits.model);

/** What a request weighs more than it may, by its likely size: nothing is padded. Null: it fits, or the window is unknown. */
export function findExcess(state: SessionState, limits: ModelLimits): FitReport | null {
  const limit = toRequestLimit(limits);
  const { tokens } = toSizing({ state, limits }).next();
  return limit !== null && tokens > limit ? { floor: tokens, limit, biggest: [] } : null;
}

/** Characters that the guard shows of a shortened result, both ends together. */
export const SHORTENED_CHARS = 1_000;
/** Maximum tokens of the notice in a shortened result. An execution's id makes it dense. */
const NOTICE_TOKENS = 56;
/** Maximum tokens of a shortened result: one for each character, and the notice. */
export const SHORTENED_TOKENS = SHORTENED_CHARS + NOTICE_TOKENS;
