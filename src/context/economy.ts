/**
 * What reading and rewriting a view costs: the rent of not compacting, and the price of doing it (docs/policy.md, the
 * rent trigger). Sizes are tokens, scaled and unpadded; prices are per token, in any one unit.
 */
import type { SummaryMode } from "../domain/compaction-events";
import type { SessionState } from "../domain/state";

export interface Prices {
  readonly input: number;
  /** Input that is written to the provider's cache; as `input` where that costs nothing more. */
  readonly cache_write: number;
  readonly cached: number;
  readonly output: number;
}

/** Relative prices of a model whose own are unknown (docs/policy.md). */
export const UNKNOWN_PRICES: Prices = { input: 1, cache_write: 1, cached: 0.1, output: 5 };

/** A provider's cache forgets a prefix that was not read for this long (docs/platform-facts.md). */
export const CACHE_TTL_MS = 5 * 60_000;
/** The instruction that a summary request adds. */
export const INSTRUCTION_TOKENS = 400;

/** The view in the parts that a compaction tells apart. */
export interface ViewSizes {
  /** System prompt, tools, pins. */
  readonly fixed: number;
  readonly chain: number;
  /** What lies between the chain and the cut, and goes into the summary. */
  readonly source: number;
  /** What lies there and stays: system messages, by policy. No summary reads them. */
  readonly standing: number;
  readonly tail: number;
  /** What a transcript holds beside the source: the chain that is merged, what was only trimmed, or all that left the view when it is made again. */
  readonly beside: number;
  /** The new summary, expected. */
  readonly summary: number;
  /** Chain and source become one summary. */
  readonly merge: boolean;
  /** The definition of `memory_query`, where the change is the first to offer it. */
  readonly offer: number;
}

export const tokensNow = (sizes: ViewSizes): number => sizes.fixed + sizes.chain + sizes.source + sizes.standing + sizes.tail;
export const tokensAfter = (sizes: ViewSizes): number =>
  sizes.fixed + sizes.offer + (sizes.merge ? 0 : sizes.chain) + sizes.summary + sizes.standing + sizes.tail;
/** Gains below 0 count as 0. */
export const gainOf = (sizes: ViewSizes): number => Math.max(0, tokensNow(sizes) - tokensAfter(sizes));

/**
 * What one more call pays to read again what a compaction would have removed. `free`: so many of the newest tokens are worth reading, so what
 * of them lies before the cut is no rent.
 */
export const rentOf = (sizes: ViewSizes, prices: Prices, free: number): number =>
  prices.cached * Math.max(0, gainOf(sizes) - Math.max(0, free - sizes.tail));

export interface PricedMode {
  readonly mode: SummaryMode;
  readonly price: number;
}

interface Pricing {
  readonly prices: Prices;
  readonly warm: boolean;
  readonly samePrefix: boolean;
  /** Tokens of transcript that one call of the summariser holds. */
  readonly room: number;
}

/** Whether the provider's cache of this epoch's last request can still be there; `now` in epoch milliseconds. */
export const isWarm = ({ anchor, view }: SessionState, now: number): boolean =>
  anchor?.epoch === view.epoch && now - anchor.at < CACHE_TTL_MS;

/** Price of compacting now, in the cheaper of the modes that are open. What is read in parts is asked for, and begun with the summary so far, in each. */
export function priceOf(sizes: ViewSizes, { prices, warm, samePrefix, room }: Pricing): PricedMode {
  const written = prices.input * INSTRUCTION_TOKENS + prices.output * sizes.summary;
  // Tools stand at a request's head: where one is added, nothing behind it is in the cache any more.
  const head = sizes.offer > 0 ? sizes.fixed + sizes.offer : 0;
  const rewrite = warm ? (prices.cache_write - prices.cached) * (head + sizes.standing + sizes.tail + sizes.summary) : 0;
  const read = sizes.source + sizes.beside;
  const parts = Math.max(1, Math.ceil(read / room));
  const transcript = prices.input * (read + (parts - 1) * sizes.summary) + parts * written + rewrite;
  const prefix = prices.cached * (sizes.fixed + sizes.chain + sizes.source + sizes.standing) + written + rewrite;
  return samePrefix && warm && prefix < transcript ? { mode: "same_prefix", price: prefix } : { mode: "transcript", price: transcript };
}
