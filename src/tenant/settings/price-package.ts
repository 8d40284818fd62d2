/**
 * Published prices of models, for models without registered prices: the installed data of @pydantic/genai-prices,
 * without its network updates. The source has 830 KB, so the tenant's object loads it on first use, and not when a
 * Worker starts.
 */
import type { ModelPrice, PriceOptions } from "@pydantic/genai-prices";
import type { ModelOverride } from "../../app/model-entry";
import type { Clock } from "../../app/ports";
import type { Prices } from "../../context/economy";
import { perToken } from "../../context/price-units";
import type { FindPrices } from "./describe-model";

type Named = Pick<ModelOverride, "provider" | "upstream_id" | "base_url">;
type Where = { readonly providerId: string } | { readonly providerApiUrl: string };

/** The package's name for the seller. Null when the package has no prices for that provider. */
const SELLERS = {
  openai: "openai",
  "openai-chat": "openai",
  anthropic: "anthropic",
  google: "google",
  "workers-ai": "cloudflare",
  embedded: null,
  "openai-compatible": null,
} as const satisfies Readonly<Record<ModelOverride["provider"], string | null>>;

/**
 * The seller of a model. At an address of its own, only a seller that the package knows by that address counts: the
 * model's name alone says nothing about its price there.
 */
function findSeller({ provider, base_url }: Named): Where | null {
  if (base_url !== null) return { providerApiUrl: base_url };
  const providerId = SELLERS[provider];
  return providerId === null ? null : { providerId };
}

/** The price of the lowest tier, where prices depend on size. */
function readBasePrice(price: ModelPrice[string]): number | null {
  const base = typeof price === "object" ? price.base : price;
  return base === undefined || !Number.isFinite(base) || base < 0 ? null : base;
}

/** Null when the input or output price is unknown. A missing cache price counts as the input price. */
function toPrices(found: ModelPrice): Prices | null {
  const [input, output] = [readBasePrice(found.input_mtok), readBasePrice(found.output_mtok)];
  if (input === null || output === null) return null;
  const cached = readBasePrice(found.cache_read_mtok) ?? input;
  const cache_write = readBasePrice(found.cache_write_mtok) ?? input;
  return { input: perToken(input), output: perToken(output), cached: perToken(cached), cache_write: perToken(cache_write) };
}

const UNKNOWN: FindPrices = () => null;

/** The package's `calcPrice`, as far as it is used here: without usage it returns the prices that it would apply. */
type PriceOf = (usage: Record<never, never>, model: string, options: PriceOptions) => { readonly model_price: ModelPrice } | null;

/**
 * A look-up takes half a millisecond, because it matches patterns over all models, so answers are cached. Some prices
 * change by the hour.
 */
const KEPT_MS = 10 * 60_000;
const MAX_KEPT = 500;

export function buildFindPrices(findPrice: PriceOf, now: Clock): FindPrices {
  const kept = new Map<string, { readonly prices: Prices | null; readonly until: number }>();

  function ask(upstreamId: string, where: Where, at: number): Prices | null {
    try {
      const found = findPrice({}, upstreamId, { ...where, timestamp: new Date(at) });
      return found && toPrices(found.model_price);
    } catch {
      return null;
    }
  }
  return (model) => {
    const where = findSeller(model);
    if (!where) return null;
    const at = now();
    const key = JSON.stringify([where, model.upstream_id]);
    const known = kept.get(key);
    if (known && known.until > at) return known.prices;
    if (kept.size >= MAX_KEPT) kept.clear();
    const prices = ask(model.upstream_id, where, at);
    kept.set(key, { prices, until: at + KEPT_MS });
    return prices;
  };
}

let loading: Promise<FindPrices> | null = null;

/** Never rejects. When the package cannot be loaded, its prices are unknown. */
export async function loadPrices(now: Clock): Promise<FindPrices> {
  try {
    loading ??= import("@pydantic/genai-prices").then((module) => buildFindPrices(module.calcPrice, now));
    return await loading;
  } catch {
    loading = null;
    return UNKNOWN;
  }
}
