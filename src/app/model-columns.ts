/** A model's settings beyond its limits, as columns that the tenant's object and the read model share. */
import { toPerMillion } from "../context/price-units";
import type { ModelOverride } from "./model-entry";

export type ModelColumns = {
  /** JSON. */
  readonly capabilities: string | null;
  readonly ratio: number | null;
  /** US dollars per million tokens, for all four prices. */
  readonly price_input: number | null;
  readonly price_output: number | null;
  readonly price_cached: number | null;
  readonly price_cache_write: number | null;
  readonly credential: string | null;
  readonly endpoint: string | null;
  /** JSON. */
  readonly quirks: string | null;
};

type Said = Pick<ModelOverride, "capabilities" | "ratio" | "prices" | "credential" | "endpoint" | "quirks">;

/** A column is null when its value was not configured. */
export function toModelColumns(said: Said): ModelColumns {
  const prices = said.prices && toPerMillion(said.prices);
  return {
    capabilities: said.capabilities ? JSON.stringify(said.capabilities) : null,
    ratio: said.ratio ?? null,
    price_input: prices?.input ?? null,
    price_output: prices?.output ?? null,
    price_cached: prices?.cached ?? null,
    price_cache_write: prices?.cache_write ?? null,
    credential: said.credential ?? null,
    endpoint: said.endpoint ?? null,
    quirks: said.quirks ? JSON.stringify(said.quirks) : null,
  };
}
