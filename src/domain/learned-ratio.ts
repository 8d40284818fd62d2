/** How far off the estimator is for this session's text and model, learned from reported usage (docs/field.md: gemini-cli). */
const RATIO_RATE = 0.2;
const RATIO_MAX_STEP = 0.15;
export const RATIO_BOUNDS = { min: 0.5, max: 2 } as const;

export interface LearnedRatio {
  readonly model: string;
  /** Reported tokens over estimated ones. */
  readonly value: number;
  /** The registry's, in a measure: nothing was learned yet. Never stored. */
  readonly given?: true;
}

/** So many models of a session are remembered, those that were asked last. */
const MAX_RATIOS = 8;

/** 1 for a model of which nothing was learned. */
export const ratioFor = (ratios: readonly LearnedRatio[], model: string): number =>
  ratios.find((known) => known.model === model)?.value ?? 1;

interface Heard {
  readonly model: string;
  readonly estimate: number;
  readonly reported: number;
  /** What a ratio of which nothing was learned starts with; absent: 1. */
  readonly start?: number;
}

/** After one more request to `model`, whose raw estimate was `estimate` and whose reported input was `reported` tokens. */
export function learnFrom(ratios: readonly LearnedRatio[], { model, estimate, reported, start = 1 }: Heard): readonly LearnedRatio[] {
  const known = ratios.find((ratio) => ratio.model === model);
  const value = learnRatio(known?.value ?? start, estimate, reported);
  return [{ model, value }, ...ratios.filter((known) => known.model !== model)].slice(0, MAX_RATIOS);
}

/** The ratio after one more request whose raw estimate was `estimate` and whose reported input was `reported` tokens. */
export function learnRatio(ratio: number, estimate: number, reported: number): number {
  if (estimate <= 0 || reported <= 0) return ratio;
  const step = (reported / estimate - ratio) * RATIO_RATE;
  const bounded = Math.max(-RATIO_MAX_STEP, Math.min(RATIO_MAX_STEP, step));
  return Math.max(RATIO_BOUNDS.min, Math.min(RATIO_BOUNDS.max, ratio + bounded));
}
