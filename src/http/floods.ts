/** Refuses floods by the platform's own counter, which is near and approximate. What a tenant is promised is counted by `limitRate`. */
import type { Context } from "hono";
import type { Principal } from "../app/principal";
import type { HttpDeps, HttpEnv } from "./deps";
import type { RateLimitError } from "./rate-problems";

/** The shortest period that the platform counts. */
const RETRY_SECONDS = 10;

/** A valid key has a counter of its own, so that a flood of made-up keys from its address does not end its requests. */
const nameSource = (c: Context<HttpEnv>, principal: Principal | null): string =>
  principal ? `key ${principal.key}` : `address ${c.req.header("cf-connecting-ip") ?? ""}`;

/** Counts the webhooks of a channel, whose platform sends them from few addresses for all of its channels. */
export async function refuseChannelFlood({ countFlood }: HttpDeps, channel: string): Promise<RateLimitError | null> {
  if (!countFlood) return null;
  const isWithin = await countFlood(`channel ${channel}`).catch(() => true);
  return isWithin ? null : { code: "rate_limited", limit: "flood", of: "channel", seconds: RETRY_SECONDS };
}

/** Null: no flood, or the deployment counts none. A counter that fails refuses nothing. */
export async function refuseFlood(c: Context<HttpEnv>, deps: HttpDeps, principal: Principal | null): Promise<RateLimitError | null> {
  if (!deps.countFlood) return null;
  const isWithin = await deps.countFlood(nameSource(c, principal)).catch(() => true);
  return isWithin ? null : { code: "rate_limited", limit: "flood", of: principal ? "key" : "address", seconds: RETRY_SECONDS };
}
