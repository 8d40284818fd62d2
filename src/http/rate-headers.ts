/**
 * What an answer says of the rates that apply to its caller: the fields of draft-ietf-httpapi-ratelimit-headers, and those that the clients of
 * other vendors read.
 */
import { RATE_WINDOW_MS } from "../app/rate-grants";
import type { RateState } from "../app/rate-meter";
import type { Vendor } from "./surface/error-formats";

const toSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

/** Whole seconds until the window ends, at least one. */
export const secondsLeft = ({ ends_at }: Pick<RateState, "ends_at">, now: number): number => toSeconds(ends_at - now);

type Headers_ = Readonly<Record<string, string>>;

/** Vendors' fields have one limit: the one that has least left. */
const vendors: { readonly [V in Vendor]: (tightest: RateState, now: number) => Headers_ } = {
  openai: ({ limit, remaining, ...state }, now) => ({
    "x-ratelimit-limit-requests": String(limit),
    "x-ratelimit-remaining-requests": String(remaining),
    "x-ratelimit-reset-requests": `${secondsLeft(state, now)}s`,
  }),
  anthropic: ({ limit, remaining, ends_at }) => ({
    "anthropic-ratelimit-requests-limit": String(limit),
    "anthropic-ratelimit-requests-remaining": String(remaining),
    "anthropic-ratelimit-requests-reset": new Date(ends_at).toISOString(),
  }),
};

/** `states`: at least one. `vendor`: whose words the path has. Null: ours. */
export function listRateHeaders(
  states: readonly RateState[],
  { vendor, now }: { readonly vendor: Vendor | null; readonly now: number },
): Headers_ {
  const [tightest] = [...states].sort((one, other) => one.remaining - other.remaining);
  return {
    "RateLimit-Policy": states.map(({ of, limit }) => `"${of}";q=${limit};w=${RATE_WINDOW_MS / 1_000}`).join(", "),
    RateLimit: states.map((state) => `"${state.of}";r=${state.remaining};t=${secondsLeft(state, now)}`).join(", "),
    ...(vendor && tightest && vendors[vendor](tightest, now)),
  };
}
