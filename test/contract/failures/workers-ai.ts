/** Workers AI's errors (developers.cloudflare.com/workers-ai/platform/errors), in the wording of the platform. */

import type { Refusal } from "../../support/stand-in/providers/script.ts";
import { errorBody } from "../../support/stand-in/providers/workers-ai/workers-ai.ts";
import type { ProviderFailures } from "./provider-failure.ts";

const say = (status: number, code: number, description: string, headers: Readonly<Record<string, string>> = {}): Refusal => ({
  status,
  body: errorBody(code, description),
  headers,
});

export const workersAiFailures: ProviderFailures = {
  refusals: [
    {
      kind: "overflow",
      title: "a prompt and a reply above the window",
      limit: 24_000,
      refusal: say(
        400,
        5021,
        "The estimated number of input and maximum output tokens (30256) exceeded this model context window limit (24000).",
      ),
    },
    { kind: "payload", title: "a body that is too large", refusal: say(413, 3006, "Request is too large") },
    {
      kind: "rate_limit",
      title: "no capacity left for the account",
      retry_after_ms: 5_000,
      refusal: say(429, 3040, "Capacity temporarily exceeded, please try again.", { "retry-after": "5" }),
    },
    {
      kind: "quota",
      title: "the day's free allocation",
      refusal: say(
        429,
        3036,
        "You have used up your daily free allocation of 10,000 neurons, please upgrade to Cloudflare's Workers Paid plan if you would like to continue usage.",
      ),
    },
    {
      kind: "media",
      title: "an image that cannot be read",
      refusal: say(400, 3010, "Invalid or incomplete input for the model: failed to decode image: invalid image data"),
    },
    { kind: "not_found", title: "a model that it does not know", refusal: say(400, 5007, "No such model @cf/nobody/nothing or task") },
    {
      kind: "invalid_param",
      title: "a value of a wrong type",
      refusal: say(
        400,
        5006,
        "Error: oneOf at '/' not met, 0 matches: required properties at '/' are 'prompt', Type mismatch of '/max_tokens', 'string' not in 'integer'",
      ),
    },
    { kind: "auth", title: "an account without the right", refusal: say(403, 5018, "The account is not allowed to access this model") },
    { kind: "unavailable", title: "an error of its own", refusal: say(500, 3043, "Internal server error") },
    { kind: "timeout", title: "a request that took too long", refusal: say(408, 3007, "Request timeout") },
  ],
  events: [
    {
      kind: "unavailable",
      title: "an error of its own",
      event: { errors: [{ message: "AiError: Internal server error", code: 3043 }], success: false, result: {}, messages: [] },
    },
    { kind: "timeout", title: "a model that took too long", event: { error: { message: "3046: Request timeout" } } },
  ],
  // It serves every region. Its reply limit is that of the window, and its models end a reply instead of refusing the request.
  unheard: ["output_cap", "refused", "region"],
};
