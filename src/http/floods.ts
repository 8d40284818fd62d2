/** Refuses floods by the platform's own counter, which is near and approximate. What a tenant is promised is counted by `limitRate`. */
import type { Context } from "hono";
import { digestEndUser } from "../app/end-user-digest";
import type { Principal } from "../app/principal";
import type { HttpDeps, HttpEnv } from "./deps";
import type { RateLimitError } from "./rate-problems";

/** The shortest period that the platform counts. */
const RETRY_SECONDS = 10;

interface Source {
  readonly of: "key" | "end_user" | "session" | "address";
  /** The counter's name. It has a digest in place of an end user's name. */
  readonly name: string;
}

/**
 * A valid key has a counter of its own, so that a flood of made-up keys from its address does not end its requests. So has each end user, and each
 * session, that an access token of the key is for: one browser does not end the requests of all others.
 */
function findSource(c: Context<HttpEnv>, principal: Principal | null): Source {
  if (!principal) return { of: "address", name: `address ${c.req.header("cf-connecting-ip") ?? ""}` };
  const { key, tenant, access_token } = principal;
  const { end_user, session } = access_token?.reach ?? {};
  if (end_user !== undefined) return { of: "end_user", name: `end_user ${digestEndUser(tenant, end_user)}` };
  return session === undefined ? { of: "key", name: `key ${key}` } : { of: "session", name: `session ${session}` };
}

/** Counts the webhooks of a channel, whose platform sends them from few addresses for all of its channels. */
export async function refuseChannelFlood({ countFlood }: HttpDeps, channel: string): Promise<RateLimitError | null> {
  if (!countFlood) return null;
  const isWithin = await countFlood(`channel ${channel}`).catch(() => true);
  return isWithin ? null : { code: "rate_limited", limit: "flood", of: "channel", seconds: RETRY_SECONDS };
}

/** Null: no flood, or the deployment counts none. A counter that fails refuses nothing. */
export async function refuseFlood(c: Context<HttpEnv>, deps: HttpDeps, principal: Principal | null): Promise<RateLimitError | null> {
  if (!deps.countFlood) return null;
  const { of, name } = findSource(c, principal);
  const isWithin = await deps.countFlood(name).catch(() => true);
  return isWithin ? null : { code: "rate_limited", limit: "flood", of, seconds: RETRY_SECONDS };
}
