/** How far the token estimator is off for a session's text and model, learned from reported usage (docs/field.md: gemini-cli). */
const RATIO_RATE = 0.2;
const RATIO_MAX_STEP = 0.15;
export const RATIO_BOUNDS = { min: 0.5, max: 2 } as const;

export interface LearnedRatio {
  readonly model: string;
  /** Reported tokens divided by estimated tokens. */
  readonly value: number;
  /** The ratio is the registry's, because none was learned yet. Set only while a request is measured, never stored. */
  readonly given?: true;
}

/** Maximum number of models whose ratio a session keeps: the most recently asked. */
const MAX_RATIOS = 8;

/** The learned ratio of a model, or 1 when none was learned. */
export const ratioFor = (ratios: readonly LearnedRatio[], model: string): number =>
  ratios.find((known) => known.model === model)?.value ?? 1;

interface Heard {
  readonly model: string;
  readonly estimate: number;
  readonly reported: number;
  /** The initial ratio of a model without a learned one. Absent: 1. */
  readonly start?: number;
}

/** The ratios after one more request to `model` with the raw estimate `estimate` and the reported input `reported`, both in tokens. */
export function learnFrom(ratios: readonly LearnedRatio[], { model, estimate, reported, start = 1 }: Heard): readonly LearnedRatio[] {
  const known = ratios.find((ratio) => ratio.model === model);
  const value = learnRatio(known?.value ?? start, estimate, reported);
  return [{ model, value }, ...ratios.filter((known) => known.model !== model)].slice(0, MAX_RATIOS);
}

/** The ratio after one more request with the raw estimate `estimate` and the reported input `reported`, both in tokens. */
export function learnRatio(ratio: number, estimate: number, reported: number): number {
  if (estimate <= 0 || reported <= 0) return ratio;
  const step = (reported / estimate - ratio) * RATIO_RATE;
  const bounded = Math.max(-RATIO_MAX_STEP, Math.min(RATIO_MAX_STEP, step));
  return Math.max(RATIO_BOUNDS.min, Math.min(RATIO_BOUNDS.max, ratio + bounded));
}
