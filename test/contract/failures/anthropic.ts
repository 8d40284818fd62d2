/** Anthropic's errors (docs.claude.com/en/api/errors), in the wording of its API. */
import { errorBody } from "../../support/stand-in/providers/anthropic/anthropic.ts";
import type { Refusal } from "../../support/stand-in/providers/script.ts";
import type { ProviderFailures } from "./provider-failure.ts";

const wrong = (message: string): Refusal => ({ status: 400, body: errorBody("invalid_request_error", message) });

export const anthropicFailures: ProviderFailures = {
  refusals: [
    {
      kind: "overflow",
      title: "a prompt above the window",
      limit: 200_000,
      refusal: wrong("prompt is too long: 213462 tokens > 200000 maximum"),
    },
    {
      kind: "overflow",
      title: "a prompt that leaves no room for the reply",
      limit: 200_000,
      refusal: wrong(
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
      ),
    },
    {
      kind: "output_cap",
      title: "a reply longer than the model writes",
      limit: 64_000,
      refusal: wrong("max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5-20250929"),
    },
    {
      kind: "payload",
      title: "a body above 32 MB",
      refusal: { status: 413, body: errorBody("request_too_large", "Request exceeds the maximum size") },
    },
    {
      kind: "rate_limit",
      title: "tokens a minute",
      retry_after_ms: 17_000,
      refusal: {
        status: 429,
        headers: { "retry-after": "17", "anthropic-ratelimit-input-tokens-remaining": "0" },
        body: errorBody(
          "rate_limit_error",
          "This request would exceed your organization's rate limit of 40,000 input tokens per minute. For details, refer to: https://docs.claude.com/en/api/rate-limits.",
        ),
      },
    },
    {
      kind: "quota",
      title: "no credit",
      refusal: wrong(
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
      ),
    },
    {
      kind: "media",
      title: "an image that is too large",
      refusal: wrong("messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 7340032 bytes > 5242880 bytes"),
    },
    {
      kind: "media",
      title: "an image that cannot be fetched",
      refusal: wrong("Unable to download the file. Please verify the URL and try again."),
    },
    { kind: "invalid_param", title: "a field that it does not know", refusal: wrong("output_format: Extra inputs are not permitted") },
    {
      kind: "not_found",
      title: "a model that it does not know",
      refusal: { status: 404, body: errorBody("not_found_error", "model: claude-sonnet-99") },
    },
    { kind: "auth", title: "a wrong key", refusal: { status: 401, body: errorBody("authentication_error", "invalid x-api-key") } },
    {
      kind: "auth",
      title: "a key without the right",
      refusal: { status: 403, body: errorBody("permission_error", "Your API key does not have permission to use the specified resource.") },
    },
    { kind: "refused", title: "output that its filter stops", refusal: wrong("Output blocked by content filtering policy") },
    {
      kind: "unavailable",
      title: "overload",
      refusal: { status: 529, headers: { "x-should-retry": "true" }, body: errorBody("overloaded_error", "Overloaded") },
    },
    { kind: "unavailable", title: "an error of its own", refusal: { status: 500, body: errorBody("api_error", "Internal server error") } },
    {
      kind: "timeout",
      title: "a request that took too long",
      refusal: { status: 504, body: errorBody("timeout_error", "Request timed out") },
    },
  ],
  events: [
    { kind: "unavailable", title: "overload", event: errorBody("overloaded_error", "Overloaded") },
    {
      kind: "rate_limit",
      title: "tokens a minute",
      event: errorBody("rate_limit_error", "This request would exceed your organization's rate limit of 8,000 output tokens per minute."),
    },
    {
      kind: "refused",
      title: "output that its filter stops",
      event: errorBody("invalid_request_error", "Output blocked by content filtering policy"),
    },
  ],
  // It says no more than that a request is not allowed.
  unheard: ["region"],
};
