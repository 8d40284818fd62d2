/** Refusals of what a tenant's limits do not allow now, and allow later: part of the table in `problem`. */
import type { LimitSet } from "../contract/limits";
import type { RouteAnswer } from "./answer";

/** `seconds`: until the request may be sent again. */
export type RateLimitError = { readonly code: "rate_limited"; readonly seconds: number } & (
  | { readonly limit: "requests_per_minute"; readonly of: keyof LimitSet; readonly max: number }
  /** Far more requests than any limit allows, from one key or one address. */
  | { readonly limit: "flood"; readonly of: "key" | "address" }
);

const OWNERS: { readonly [Of in RateLimitError["of"]]: string } = {
  tenant: "the tenant",
  key: "the key",
  end_user: "the end user",
  address: "the address",
};

const toReason = (error: RateLimitError): string =>
  error.limit === "flood"
    ? `Too many requests of ${OWNERS[error.of]} arrive.`
    : `At most ${error.max} requests a minute are allowed for ${OWNERS[error.of]}.`;

export const rateAnswers = {
  rate_limited: (error: RateLimitError): RouteAnswer => ({
    status: 429,
    title: "Rate limited",
    detail: `${toReason(error)} Send the request again in ${error.seconds} s.`,
    extra: { limit: error.limit, of: error.of, max: error.limit === "flood" ? null : error.max },
    headers: { "Retry-After": String(error.seconds) },
  }),
};
