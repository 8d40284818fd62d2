/** Refusals of what a tenant's limits do not allow now, and allow later: part of the table in `problem`. */
import type { LimitSet } from "../contract/limits";
import type { SlotRefusal } from "../domain/rejection";
import type { RouteAnswer } from "./answer";

/** `seconds`: until the request may be sent again. */
export type RateLimitError = { readonly code: "rate_limited"; readonly seconds: number } & (
  | { readonly limit: "requests_per_minute"; readonly of: keyof LimitSet; readonly max: number }
  | SlotRefusal
  /** Far more requests than any limit allows, from one source, or to one channel. */
  | { readonly limit: "flood"; readonly of: "key" | "end_user" | "session" | "address" | "channel" }
);

const OWNERS: { readonly [Of in RateLimitError["of"]]: string } = {
  tenant: "the tenant",
  key: "the key",
  end_user: "the end user",
  session: "the session",
  address: "the address",
  channel: "the channel",
};

const COUNTED: { readonly [L in Exclude<RateLimitError["limit"], "flood">]: string } = {
  requests_per_minute: "requests a minute",
  concurrent_turns: "turns at one time",
  concurrent_streams: "streams at one time",
};

const toReason = (error: RateLimitError): string =>
  error.limit === "flood"
    ? `Too many requests of ${OWNERS[error.of]} arrive.`
    : `At most ${error.max} ${COUNTED[error.limit]} are allowed for ${OWNERS[error.of]}.`;

export const rateAnswers = {
  rate_limited: (error: RateLimitError): RouteAnswer => ({
    status: 429,
    title: "Rate limited",
    detail: `${toReason(error)} Send the request again in ${error.seconds} s.`,
    extra: { limit: error.limit, of: error.of, max: error.limit === "flood" ? null : error.max },
    headers: { "Retry-After": String(error.seconds) },
  }),
};
