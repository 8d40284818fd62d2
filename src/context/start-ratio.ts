/**
 * The state as it is measured for a model: with the registry's ratio until the session has learned its own, and with
 * what the model is sent of images and files. Such a state is only measured, never stored.
 */
import type { MediaReader, SessionState } from "../domain/state";

export interface RatedModel extends MediaReader {
  readonly id: string;
  /** Absent: 1. */
  readonly ratio?: number;
}

/** Caches the measured state, because states are immutable. The same object is returned as long as the model is the same. */
const started = new WeakMap<SessionState, { readonly model: RatedModel; readonly state: SessionState }>();

/** The registry's ratio is appended after the learned ones, so that the model asked last stays first. */
export function measuredFor(state: SessionState, model: RatedModel | null): SessionState {
  if (!model) return state;
  const known = started.get(state);
  if (known?.model === model) return known.state;
  const { id, ratio } = model;
  const isGiven = ratio !== undefined && !state.ratios.some((known) => known.model === id);
  const isReader = state.view.media > 0;
  if (!isGiven && !isReader && !state.reader) return state;
  const { reader: _, ...rest } = state;
  const ratios = isGiven ? [...state.ratios, { model: id, value: ratio, given: true as const }] : state.ratios;
  const made = { ...rest, ratios, ...(isReader && { reader: model }) };
  started.set(state, { model, state: made });
  return made;
}
