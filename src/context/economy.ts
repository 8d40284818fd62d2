/**
 * What reading and rewriting a view costs: the cache read cost of not compacting, and the price of a compaction (docs/policy.md,
 * rules 1 to 3). Sizes are tokens, scaled and unpadded. Prices are per token, in any one unit.
 */
import type { SummaryMode } from "../domain/receipt";
import type { SessionState } from "../domain/state";

export interface Prices {
  readonly input: number;
  /** Price of input that is written to the provider's cache. Equal to `input` where that costs nothing extra. */
  readonly cache_write: number;
  readonly cached: number;
  readonly output: number;
}

/** Relative prices for a model whose prices are unknown (docs/policy.md, the rules). */
export const UNKNOWN_PRICES: Prices = { input: 1, cache_write: 1, cached: 0.1, output: 5 };

/** Lifetime of a prefix in a provider's cache that is not read again, in milliseconds: Anthropic's, which is the shortest. */
export const CACHE_TTL_MS = 5 * 60_000;
/** Tokens of the instruction that a summary request adds, without a client's own words. */
export const INSTRUCTION_TOKENS = 400;

/** The parts of the view that a compaction treats differently, in tokens. */
export interface ViewSizes {
  /** System prompt, tools and pins. */
  readonly fixed: number;
  readonly chain: number;
  /** What lies between the chain and the cut and goes into the summary. */
  readonly source: number;
  /** System messages before the cut that the policy keeps. No summary reads them. */
  readonly standing: number;
  readonly tail: number;
  /** What a transcript holds beside the source: the chain that is merged, trimmed items, and what is read again of the record. */
  readonly beside: number;
  /** The expected size of the new summary. */
  readonly summary: number;
  /** Chain and source are merged into one summary. */
  readonly merge: boolean;
  /** The definition of `memory_query`, if this change is the first to offer it. Else 0. */
  readonly offer: number;
}

export const tokensNow = (sizes: ViewSizes): number => sizes.fixed + sizes.chain + sizes.source + sizes.standing + sizes.tail;
export const tokensAfter = (sizes: ViewSizes): number =>
  sizes.fixed + sizes.offer + (sizes.merge ? 0 : sizes.chain) + sizes.summary + sizes.standing + sizes.tail;
/** A gain below 0 counts as 0. */
export const computeGain = (sizes: ViewSizes): number => Math.max(0, tokensNow(sizes) - tokensAfter(sizes));

/**
 * What one more call pays to re-read tokens that a compaction would have removed. `free`: the number of newest tokens that are
 * worth re-reading. If the kept tail is shorter than `free`, the difference adds no cost.
 */
export const toCacheReadCost = (sizes: ViewSizes, prices: Prices, free: number): number =>
  prices.cached * Math.max(0, computeGain(sizes) - Math.max(0, free - sizes.tail));

export interface PricedMode {
  readonly mode: SummaryMode;
  readonly price: number;
}

interface Pricing {
  readonly prices: Prices;
  readonly warm: boolean;
  readonly samePrefix: boolean;
  /** Tokens of transcript that one call of the summariser can hold. */
  readonly room: number;
  /** Tokens of the instruction that each call reads. */
  readonly instruction: number;
}

/** Whether the provider's cache can still hold this epoch's last request. `now`: epoch milliseconds. */
export const isWarm = ({ anchor, view }: SessionState, now: number): boolean =>
  anchor?.epoch === view.epoch && now - anchor.at < CACHE_TTL_MS;

/**
 * The price of compacting now, in the cheaper of the available modes. A transcript that is read in parts pays its
 * instruction and the summary so far in each part.
 */
export function toCompactionPrice(sizes: ViewSizes, { prices, warm, samePrefix, room, instruction }: Pricing): PricedMode {
  const written = prices.input * instruction + prices.output * sizes.summary;
  // Tools stand at the head of a request. When one is added, the cache holds nothing after it any more.
  const head = sizes.offer > 0 ? sizes.fixed + sizes.offer : 0;
  const rewrite = warm ? (prices.cache_write - prices.cached) * (head + sizes.standing + sizes.tail + sizes.summary) : 0;
  const read = sizes.source + sizes.beside;
  const parts = Math.max(1, Math.ceil(read / room));
  const transcript = prices.input * (read + (parts - 1) * sizes.summary) + parts * written + rewrite;
  const prefix = prices.cached * (sizes.fixed + sizes.chain + sizes.source + sizes.standing) + written + rewrite;
  return samePrefix && warm && prefix < transcript ? { mode: "same_prefix", price: prefix } : { mode: "transcript", price: transcript };
}
