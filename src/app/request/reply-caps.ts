/**
 * What a model was found to take as the length of a reply, where the registry says more: the cap shrinks, never the history. Kept for
 * the life of the object; a cap that only this request's size leaves room for is kept for this answer.
 */
import { plannedNext } from "../../context/budget";
import type { SessionState } from "../../domain/state";
import type { ModelFailure, ModelSpec, Provider } from "../ports";

/** How often a cap is made smaller for one answer. */
export const SHRINKS = 3;
/** A reply that may only be shorter is no answer. */
const LEAST_TOKENS = 16;

/** The next cap to ask with: what the provider says, or half of what was asked; null: it is as small as it may be. */
export function shrinkCap({ limit }: Pick<ModelFailure, "limit">, asked: number): number | null {
  const next = limit !== undefined && limit < asked ? limit : Math.floor(asked / 2);
  return next >= LEAST_TOKENS ? next : null;
}

interface Known {
  readonly spec: ModelSpec;
  readonly state: SessionState;
}

/** Who must be told a length: Anthropic refuses a request without one, Workers AI ends its reply after 256 tokens. */
const WANTS_LENGTH: ReadonlySet<Provider> = new Set(["anthropic", "workers-ai"]);

/**
 * What the next request asks for at most, with a cap that was found; null: none is named, and the reply has what the window still holds.
 * Request and reply together stay within the window, as providers check it where a length is named: their refusal is an overflow, and an
 * overflow costs history.
 */
export function askedLength(found: number | null, { spec, state }: Known): number | null {
  const cap = found ?? (WANTS_LENGTH.has(spec.provider) ? spec.max_output : null);
  if (cap === null || spec.context_window === null) return cap;
  return Math.max(1, Math.min(cap, spec.context_window - plannedNext(state, spec.id)));
}

/** A cap that fills the window together with its request, nearly, is what that request left of it. */
const LEFT_OF_WINDOW = 0.9;

/** Whether the cap is the model's own. */
export const isOfModel = (cap: number, { spec, state }: Known): boolean =>
  spec.context_window === null || cap + plannedNext(state, spec.id) < spec.context_window * LEFT_OF_WINDOW;
