/** The registry's ratio of a model, until a session has learned its own: only in what is measured, never in what is stored. */
import type { SessionState } from "../domain/state";

export interface RatedModel {
  readonly id: string;
  /** Absent: 1. */
  readonly ratio?: number;
}

/** States do not change: of each the same one comes back, as long as the model is the same. */
const started = new WeakMap<SessionState, { readonly model: RatedModel; readonly state: SessionState }>();

/** Behind what was learned, so that the model asked last stays in front. */
export function withStartRatio(state: SessionState, model: RatedModel | null): SessionState {
  if (!model || model.ratio === undefined || state.ratios.some((known) => known.model === model.id)) return state;
  const known = started.get(state);
  if (known?.model === model) return known.state;
  const made = { ...state, ratios: [...state.ratios, { model: model.id, value: model.ratio, given: true as const }] };
  started.set(state, { model, state: made });
  return made;
}
