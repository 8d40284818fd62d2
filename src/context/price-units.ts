/** Prices as people read them, and as the code reckons with them. */
import type { Prices } from "./economy";

const MILLION = 1_000_000;
/** More than any price has; it takes off what binary fractions leave behind: 0.15 is 0.15 again. */
const DIGITS = 12;

/** US dollars per million tokens, from US dollars per token. */
export const perMillion = (price: number): number => Number((price * MILLION).toPrecision(DIGITS));
/** The other way round. */
export const perToken = (price: number): number => price / MILLION;

const mapPrices = ({ input, output, cached, cache_write }: Prices, convert: (price: number) => number): Prices => ({
  input: convert(input),
  output: convert(output),
  cached: convert(cached),
  cache_write: convert(cache_write),
});

export const toPerMillion = (prices: Prices): Prices => mapPrices(prices, perMillion);
export const toPerToken = (prices: Prices): Prices => mapPrices(prices, perToken);
