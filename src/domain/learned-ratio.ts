/** How far off the estimator is for this session's text and model, learned from reported usage (docs/field.md: gemini-cli). */
export const RATIO_RATE = 0.2;
export const RATIO_MAX_STEP = 0.15;
export const RATIO_BOUNDS = { min: 0.5, max: 2 } as const;

/** The ratio after one more request whose raw estimate was `estimate` and whose reported input was `reported` tokens. */
export function learnRatio(ratio: number, estimate: number, reported: number): number {
  if (estimate <= 0 || reported <= 0) return ratio;
  const step = (reported / estimate - ratio) * RATIO_RATE;
  const bounded = Math.max(-RATIO_MAX_STEP, Math.min(RATIO_MAX_STEP, step));
  return Math.max(RATIO_BOUNDS.min, Math.min(RATIO_BOUNDS.max, ratio + bounded));
}
