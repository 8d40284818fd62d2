/** Admits requests by the rates of the caller's tenant, key and end user, and says in each answer how much of them is left. */
import type { MiddlewareHandler } from "hono";
import { listRequestRules } from "../app/limit-owners";
import type { Principal } from "../app/principal";
import type { RateState } from "../app/rate-meter";
import type { LimitSet } from "../contract/limits";
import type { HttpDeps, HttpEnv } from "./deps";
import { sendProblem } from "./problem";
import { listRateHeaders, secondsLeft } from "./rate-headers";
import type { RateLimitError } from "./rate-problems";
import { findVendor } from "./surface/error-formats";

/** Whom a limit counts for, as the sets of limits name it. */
type LimitOwner = keyof LimitSet;

/** Null: no limit applies. The answer for a key came with its look-up; for an access token, which is not looked up, it is cached. */
export async function readLimits({ tenant, access_token, limits }: Principal, deps: HttpDeps): Promise<LimitSet | null> {
  return access_token === undefined ? (limits ?? null) : await deps.limits(tenant);
}

/** Only the access tokens of an end user count for the end user. A key is the server's, whichever end user it speaks for. */
const listRules = ({ key, access_token }: Principal, limits: LimitSet) =>
  listRequestRules({ key, end_user: access_token?.reach.end_user }, limits);

const toRefusal = ({ of, limit, ...state }: RateState<LimitOwner>, now: number): RateLimitError => ({
  code: "rate_limited",
  limit: "requests_per_minute",
  of,
  max: limit,
  seconds: secondsLeft(state, now),
});

/** Null without a limit: then nothing is asked. */
async function admit(principal: Principal, deps: HttpDeps) {
  const limits = await readLimits(principal, deps);
  const rules = limits ? listRules(principal, limits) : [];
  return rules.length === 0 ? null : await deps.requestRates.admit(principal.tenant, rules);
}

/** For requests that come over a socket, which have no headers. Null: admitted. */
export async function refuseRate(principal: Principal, deps: HttpDeps): Promise<RateLimitError | null> {
  const admission = await admit(principal, deps);
  return admission?.refused ? toRefusal(admission.refused, deps.now()) : null;
}

/** Runs after `authenticate`. A request that is refused does not count. */
export function limitRate(deps: HttpDeps): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const principal = c.get("principal");
    const admission = principal ? await admit(principal, deps) : null;
    if (!admission) return await next();
    const now = deps.now();
    const shown = admission.states.filter(({ of }) => of === "end_user" || principal?.access_token?.reach.end_user === undefined);
    // What the tenant uses in all is not an end user's to read.
    if (shown.length > 0) c.set("rateHeaders", listRateHeaders(shown, { vendor: findVendor(c.req.path), now }));
    return admission.refused ? sendProblem(c, toRefusal(admission.refused, now)) : await next();
  };
}
