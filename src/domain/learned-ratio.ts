/** How far the token estimator is off for a session's text and model, learned from reported usage (docs/field.md: gemini-cli). */
const RATIO_RATE = 0.2;
const RATIO_MAX_STEP = 0.15;
export const RATIO_BOUNDS = { min: 0.5, max: 2 } as const;

/**
 * What the provider's counts say about the part of a request that no compaction removes. `tokens` (raw estimate) and `bytes` tell whether
 * the next request has the same one.
 */
interface CountedFixed {
  readonly tokens: number;
  readonly bytes: number;
  /** The most tokens that it can weigh. */
  readonly most: number;
  /** Raw estimate of the rest of the request that was counted. The smaller it was, the more exact is `most`. */
  readonly beside: number;
}

export interface LearnedRatio {
  readonly model: string;
  /** Reported tokens divided by estimated tokens. */
  readonly value: number;
  /** Absent: no count is known. */
  readonly fixed?: CountedFixed;
  /** The last request that was counted. */
  readonly last?: CountedRequest;
  /** Absent: no part was counted yet. */
  readonly spread?: Spread;
}

/**
 * By how much the count of what one request added was off its estimate. A tokenizer that counts some scripts otherwise than the estimator
 * shows here, and in no single ratio.
 */
interface Spread {
  /** Of the estimate. The largest, which fades with each later part. */
  readonly share: number;
  /** Estimated tokens of the part that taught it. */
  readonly tokens: number;
}

/** In tokens. */
interface CountedRequest {
  readonly estimate: number;
  readonly reported: number;
}

/** Maximum number of models whose ratio a session keeps: the most recently asked. */
const MAX_RATIOS = 8;

type Weight = Pick<CountedFixed, "tokens" | "bytes">;

/** A text weighs at least this share of its estimate (docs/estimates.md). */
const LEAST_SHARE = 0.8;

interface Heard {
  readonly model: string;
  readonly estimate: number;
  readonly reported: number;
  /** The fixed part of the request, as it is estimated. Null when it has changed since the request was sent. */
  readonly fixed: Weight | null;
  /** The initial ratio of a model without a learned one. Absent: 1. */
  readonly start?: number;
}

/** The ratios after one more request to `model` with the raw estimate `estimate` and the reported input `reported`, both in tokens. */
export function learnFrom(ratios: readonly LearnedRatio[], heard: Heard): readonly LearnedRatio[] {
  const { model, estimate, reported, start = 1 } = heard;
  const known = ratios.find((ratio) => ratio.model === model);
  const value = learnRatio(known?.value ?? start, estimate, reported);
  const fixed = learnFixed(known?.fixed ?? null, value, heard);
  const spread = learnSpread(known, heard);
  const learned = { model, value, last: { estimate, reported }, ...(fixed && { fixed }), ...(spread && { spread }) };
  return [learned, ...ratios.filter((known) => known.model !== model)].slice(0, MAX_RATIOS);
}

/** Less than this many tokens say nothing of an estimate: the frames of messages are a large part of them. */
const LEAST_ADDED_TOKENS = 32;
/** Tokens by which the count of a part may be off without saying anything. */
const SLACK_TOKENS = 8;
const SPREAD_FADE = 0.9;

function learnSpread(known: LearnedRatio | undefined, { estimate, reported }: Heard): Spread | undefined {
  const { last, value = 1, spread } = known ?? {};
  if (!last) return spread;
  const added = (estimate - last.estimate) * value;
  // A count that falls while the request grows says nothing of the text either.
  if (added < LEAST_ADDED_TOKENS || reported <= last.reported) return spread;
  const share = (Math.abs(reported - last.reported - added) - SLACK_TOKENS) / added;
  const faded = (spread?.share ?? 0) * SPREAD_FADE;
  return share > faded ? { share, tokens: Math.round(added) } : spread && { ...spread, share: faded };
}

/** What the fixed part weighs at most: the provider's count of a request, less the least that the rest of it can weigh. */
function learnFixed(known: CountedFixed | null, ratio: number, { estimate, reported, fixed }: Heard): CountedFixed | null {
  if (!fixed) return known;
  const beside = Math.max(0, estimate - fixed.tokens);
  if (known && isSameFixed(known, fixed) && known.beside <= beside) return known;
  return { ...fixed, most: Math.max(0, Math.ceil(reported - beside * ratio * LEAST_SHARE)), beside };
}

export const isSameFixed = (one: Weight, other: Weight): boolean => one.tokens === other.tokens && one.bytes === other.bytes;

/** The ratio after one more request with the raw estimate `estimate` and the reported input `reported`, both in tokens. */
export function learnRatio(ratio: number, estimate: number, reported: number): number {
  if (estimate <= 0 || reported <= 0) return ratio;
  const step = (reported / estimate - ratio) * RATIO_RATE;
  const bounded = Math.max(-RATIO_MAX_STEP, Math.min(RATIO_MAX_STEP, step));
  return Math.max(RATIO_BOUNDS.min, Math.min(RATIO_BOUNDS.max, ratio + bounded));
}
