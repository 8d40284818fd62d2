/** Which models are asked for an answer, in order: the session's own, then those that its policy names to fall back on. */
import { limitOf, plannedNext } from "../../context/budget";
import { policyOf } from "../../context/policy-choice";
import { contentBytes, MAX_CONTENT_BYTES } from "../../context/request-bytes";
import { measuredFor } from "../../context/start-ratio";
import type { SessionState } from "../../domain/state";
import type { ModelSpec } from "../ports";
import { windowOf } from "../request/build-request";

export interface ModelCandidate {
  readonly id: string;
  /** The session's own model: for it the view is made to fit. Any other takes the conversation as it stands, or is passed over. */
  readonly isOwn: boolean;
}

/** Who answered the turn's last call goes on with it: it has the prefix in its cache, and what it signed goes back to it alone. */
export function candidatesOf(state: SessionState): readonly ModelCandidate[] {
  const { settings } = state;
  const ids = [...new Set([settings.model, ...policyOf(settings.policy).fallback_models])];
  const answered = answererOf(state);
  const first = ids.filter((id) => id === answered);
  const others = ids.filter((id) => id !== answered);
  return [...first, ...others].map((id) => ({ id, isOwn: id === settings.model }));
}

/** The model of the turn's last call that was counted; null: there is none. */
function answererOf({ turn, anchor, view }: SessionState): string | null {
  if (!turn || !anchor) return null;
  const last = view.items.findLast((item) => item.position <= anchor.up_to);
  return last?.turn === turn.id ? anchor.model : null;
}

/** Whether the next request as it stands is within the candidate's own window, by our measure, and within the bound in bytes. */
export function fitsCandidate(state: SessionState, spec: ModelSpec): boolean {
  if (contentBytes(state) > MAX_CONTENT_BYTES) return false;
  const limit = limitOf(windowOf(spec, policyOf(state.settings.policy)));
  return limit === null || plannedNext(measuredFor(state, spec), spec.id) <= limit;
}
