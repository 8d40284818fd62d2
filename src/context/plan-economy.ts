/** What a plan costs and saves, as its receipt will say. */
import { assertNever } from "../lib/assert-never";
import { itemTokens, type Measure, ratioOf } from "./budget";
import { tokensNow, UNKNOWN_PRICES } from "./economy";
import type { PlanEconomy, PlanInput, Rung } from "./plan";
import type { Proposal } from "./proposal";

interface Taken {
  readonly proposal: Proposal;
  readonly next: Measure;
  readonly rungs: readonly Rung[];
  readonly gain: number;
}

/** Without a summary the price is that of the cache alone: all from the first item that changes on is written again. */
export function economyOf({ state, limits }: PlanInput, { proposal, next, rungs, gain }: Taken): PlanEconomy {
  const { sizes, priced, merge, warm } = proposal;
  const prices = limits.prices ?? UNKNOWN_PRICES;
  const summarizes = rungs.some((rung) => rung.rung === "summarize");
  const changed = Math.min(...rungs.map(firstChanged));
  const before = state.view.items.reduce((sum, item) => sum + (item.position < changed ? itemTokens(state, item) : 0), 0);
  const cache_kept = sizes.fixed + (merge && summarizes ? 0 : sizes.chain) + before * ratioOf(state, limits.model);
  const rewritten = Math.max(0, tokensNow(sizes) - gain - cache_kept);
  return {
    rent: state.compaction.rent,
    price: summarizes ? priced.price : warm ? (prices.cache_write - prices.cached) * rewritten : 0,
    read_cost_before: prices.cached * next.tokens,
    read_cost_after: prices.cached * Math.max(0, next.tokens - gain),
    cache_kept: Math.floor(cache_kept),
  };
}

/** The position from which on the view is another one. */
function firstChanged(rung: Rung): number {
  switch (rung.rung) {
    case "summarize":
      return rung.range.from;
    case "drop":
      return rung.from;
    case "clear_results":
    case "evict_media":
    case "shorten":
      return rung.items[0]?.position ?? Number.POSITIVE_INFINITY;
    default:
      return assertNever(rung);
  }
}
