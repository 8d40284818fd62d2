/** Converts prices between US dollars per million tokens, which people read, and per token, which the code uses. */
import type { Prices } from "./economy";

const MILLION = 1_000_000;
/** Significant digits: more than any price has, but few enough to remove floating-point noise, so that 0.15 is 0.15 again. */
const DIGITS = 12;

/** US dollars per million tokens, from US dollars per token. */
export const perMillion = (price: number): number => Number((price * MILLION).toPrecision(DIGITS));
/** US dollars per token, from US dollars per million tokens. */
export const perToken = (price: number): number => price / MILLION;

const mapPrices = ({ input, output, cached, cache_write }: Prices, convert: (price: number) => number): Prices => ({
  input: convert(input),
  output: convert(output),
  cached: convert(cached),
  cache_write: convert(cache_write),
});

export const toPerMillion = (prices: Prices): Prices => mapPrices(prices, perMillion);
export const toPerToken = (prices: Prices): Prices => mapPrices(prices, perToken);
