/**
 * Caps on reply length that models were found to accept, where the registry says more. The cap shrinks, never the history. A cap is kept
 * for the life of the object, unless only this request's size caused it; then it holds for this answer.
 */
import { toReplyReserve } from "../../context/budget";
import type { Provider } from "../../context/model-input";
import { Sizing, toUpperBound } from "../../context/sizing";
import type { SessionState } from "../../domain/state";
import type { ModelFailure, ModelSpec } from "../ports";

/** How often the cap may shrink for one answer. */
export const SHRINKS = 3;
/** The smallest cap to ask with, in tokens. A shorter reply would be no answer. */
const LEAST_TOKENS = 16;

/** The next cap to ask with: the provider's limit, or half of the last cap. Null when it cannot shrink any more. */
export function shrinkCap({ limit }: Pick<ModelFailure, "limit">, asked: number): number | null {
  const next = limit !== undefined && limit < asked ? limit : Math.floor(asked / 2);
  return next >= LEAST_TOKENS ? next : null;
}

interface Known {
  readonly spec: ModelSpec;
  readonly state: SessionState;
}

interface Asking extends Known {
  /** The cap that the generation settings name. Absent: none. */
  readonly most?: number | undefined;
}

/** Providers that need a reply length: Anthropic refuses a request without one, Workers AI ends its reply after 256 tokens. */
const WANTS_LENGTH: ReadonlySet<Provider> = new Set(["anthropic", "workers-ai"]);

/**
 * The reply cap that the next request names; null: none, and the reply may use what is left of the window. `found`: a cap found earlier.
 * The cap is the smallest of that, of the model's own maximum and of what the generation settings name.
 * Request and cap together stay within the window, because providers check the sum where a cap is named: their refusal is an overflow, and
 * an overflow costs history.
 */
export function askedLength(found: number | null, { spec, state, most }: Asking): number | null {
  const ours = found ?? (WANTS_LENGTH.has(spec.provider) ? spec.max_output : null);
  const cap = most === undefined ? ours : Math.min(most, ours ?? spec.max_output);
  if (cap === null || spec.context_window === null) return cap;
  return Math.max(1, Math.min(cap, leftOfWindow(state, spec, spec.context_window)));
}

/** A request that is tried although it fits by its likely size alone has the reserve for its reply. */
function leftOfWindow(state: SessionState, spec: ModelSpec, window: number): number {
  const next = new Sizing(state, spec).next();
  const reserve = toReplyReserve({ window, maxOutput: spec.max_output });
  return Math.max(window - toUpperBound(next), Math.min(reserve, window - next.tokens));
}

/** A cap that nearly fills the window together with its request is what the request left, not a limit of the model. */
const LEFT_OF_WINDOW = 0.9;

/** Whether the cap is the model's own limit, rather than what the request left of the window. */
export const isOfModel = (cap: number, { spec, state }: Known): boolean =>
  spec.context_window === null || cap + new Sizing(state, spec).planned() < spec.context_window * LEFT_OF_WINDOW;
