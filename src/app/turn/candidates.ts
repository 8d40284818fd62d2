/** Lists the models to ask for an answer, in order: the turn's own model (the session's, unless the message named one), then the fallback models of its policy. */
import { toRequestLimit } from "../../context/budget";
import { toPolicy } from "../../context/policy-choice";
import { toContentBytes } from "../../context/request-bytes";
import { Sizing } from "../../context/sizing";
import type { SessionState } from "../../domain/state";
import { askedModel } from "../../domain/turn-choices";
import type { ModelSpec } from "../ports";
import { toAssumedLimits } from "../request/build-request";

export interface ModelCandidate {
  readonly id: string;
  /** True for the turn's own model: the view is compacted to fit it. A fallback model takes the view as it is, or is skipped. */
  readonly isOwn: boolean;
}

/** Puts the model that answered the turn's previous call first: it has the prefix in its cache, and only it gets back what it signed. */
export function listCandidates(state: SessionState): readonly ModelCandidate[] {
  const own = askedModel(state);
  const ids = [...new Set([own, ...toPolicy(state.settings.policy).fallback_models])];
  const answered = findAnswerer(state);
  const first = ids.filter((id) => id === answered);
  const others = ids.filter((id) => id !== answered);
  return [...first, ...others].map((id) => ({ id, isOwn: id === own }));
}

/** The model of this turn's last call with reported usage. Null when the turn has none. */
function findAnswerer({ turn, anchor, view }: SessionState): string | null {
  if (!turn || !anchor) return null;
  const last = view.items.findLast((item) => item.position <= anchor.up_to);
  return last?.turn === turn.id ? anchor.model : null;
}

/** Whether the next request, without any compaction, fits the candidate's own window by our measure, and fits the bound in bytes. */
export function fitsCandidate(state: SessionState, spec: ModelSpec): boolean {
  const limits = toAssumedLimits(spec, toPolicy(state.settings.policy));
  const sizing = new Sizing(state, spec);
  if (sizing.bytes() > toContentBytes(limits)) return false;
  const limit = toRequestLimit(limits);
  return limit === null || sizing.planned() <= limit;
}
