/** What a plan costs and saves, as its receipt states it. */
import { assertNever } from "../lib/assert-never";
import { toSizing } from "./budget";
import { tokensNow, UNKNOWN_PRICES } from "./economy";
import type { PlanEconomy, PlanInput, Rung } from "./plan";
import type { Proposal } from "./proposal";
import type { Measure } from "./sizing";

interface Taken {
  readonly proposal: Proposal;
  readonly next: Measure;
  readonly rungs: readonly Rung[];
  readonly gain: number;
}

/** Without a summary the price is only the cache's: everything from the first change on is written again. */
export function buildPlanEconomy({ state, limits, policy }: PlanInput, { proposal, next, rungs, gain }: Taken): PlanEconomy {
  const { sizes, priced, merge, warm } = proposal;
  const prices = limits.prices ?? UNKNOWN_PRICES;
  const summarizes = rungs.some((rung) => rung.rung === "summarize");
  const changed = Math.min(...rungs.map(firstChanged));
  const sizing = toSizing({ state, limits });
  const before = state.view.items.reduce((sum, item) => sum + (item.position < changed ? sizing.item(item) : 0), 0);
  const stays = sizes.fixed + (merge && summarizes ? 0 : sizes.chain) + before * sizing.ratio;
  // With that placement, summaries stand before the system prompt. A newly offered tool stands at the head of the request.
  const isNewHead = sizes.offer > 0 || (changed === IN_FRONT && policy.summary.placement === "system-prefix");
  const cache_kept = isNewHead ? 0 : stays;
  const rewritten = Math.max(0, tokensNow(sizes) - gain - cache_kept);
  return {
    rent: state.compaction.rent,
    price: summarizes ? priced.price : warm ? (prices.cache_write - prices.cached) * rewritten : 0,
    read_cost_before: prices.cached * next.tokens,
    read_cost_after: prices.cached * Math.max(0, next.tokens - gain),
    cache_kept: Math.floor(cache_kept),
  };
}

/** Before the first message, where summaries and the count of trimmed messages stand. */
const IN_FRONT = 0;

/** The first position at which the view changes. */
function firstChanged(rung: Rung): number {
  switch (rung.rung) {
    case "summarize":
    case "drop":
      return IN_FRONT;
    case "clear_results":
    case "evict_media":
    case "shorten":
      return rung.items[0]?.position ?? Number.POSITIVE_INFINITY;
    default:
      return assertNever(rung);
  }
}
