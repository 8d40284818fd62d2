/** Other prices, relative to plain input, and clients that return late. */
import type { Prices } from "../../src/context/economy";
import { PRICES } from "../../src/evaluate/costs";
import { type Conditions, USUAL } from "./engine/setup";

export const PRICE_VARIANTS = {
  usual: PRICES,
  /** A provider without a discount for cached input. */
  "no-discount": { ...PRICES, cached: 1 },
  "cached-0.25": { ...PRICES, cached: 0.25 },
  "cached-0.5": { ...PRICES, cached: 0.5 },
  /** Writing to the cache costs a quarter more. */
  "write-1.25": { ...PRICES, cache_write: 1.25 },
  "output-4": { ...PRICES, output: 4 },
  "output-8": { ...PRICES, output: 8 },
} as const satisfies Record<string, Prices>;
export type PriceName = keyof typeof PRICE_VARIANTS;
export const PRICE_NAMES = Object.keys(PRICE_VARIANTS).filter(isPriceName);

export function isPriceName(name: string): name is PriceName {
  return name in PRICE_VARIANTS;
}

export interface Variant {
  readonly name: string;
  readonly conditions: Conditions;
}

/** The conditions that the page compares with the usual ones: each price, and clients whose cache has expired before every nth turn. */
export const VARIANTS: readonly Variant[] = [
  ...PRICE_NAMES.map((name) => ({ name, conditions: { ...USUAL, prices: PRICE_VARIANTS[name] } })),
  ...[5, 1].map((cold) => ({ name: cold === 1 ? "always cold" : `cold every ${cold}th turn`, conditions: { ...USUAL, cold } })),
];
