/** Refusals of what a tenant's limits do not allow now, and allow later: part of the table in `problem`. */
import type { LimitSet } from "../contract/limits";
import type { RouteAnswer } from "./answer";

export interface RateLimitError {
  readonly code: "rate_limited";
  readonly limit: "requests_per_minute";
  readonly of: keyof LimitSet;
  readonly max: number;
  /** Until the window ends. */
  readonly seconds: number;
}

const OWNERS: { readonly [Of in keyof LimitSet]: string } = { tenant: "the tenant", key: "the key", end_user: "the end user" };

export const rateAnswers = {
  rate_limited: ({ limit, of, max, seconds }: RateLimitError): RouteAnswer => ({
    status: 429,
    title: "Rate limited",
    detail: `At most ${max} requests a minute are allowed for ${OWNERS[of]}. Send the request again in ${seconds} s.`,
    extra: { limit, of, max },
    headers: { "Retry-After": String(seconds) },
  }),
};
