/** OpenAI's errors (platform.openai.com/docs/guides/error-codes) in its wording, which both of its APIs and compatible endpoints share. */
import { openAiError } from "../../support/stand-in/providers/openai/errors.ts";
import type { Refusal } from "../../support/stand-in/providers/script.ts";
import type { ProviderFailure } from "./provider-failure.ts";

export type OpenAiError = Parameters<typeof openAiError>[0];

export const say = (status: number, error: OpenAiError, headers: Readonly<Record<string, string>> = {}): Refusal => ({
  status,
  body: openAiError(error),
  headers,
});

/** Errors of both APIs. */
export const sharedFailures: readonly ProviderFailure[] = [
  {
    kind: "overflow",
    title: "a prompt above the window",
    limit: 128_000,
    refusal: say(400, {
      message:
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130211 tokens. Please reduce the length of the messages.",
      param: "messages",
      code: "context_length_exceeded",
    }),
  },
  {
    kind: "output_cap",
    title: "a reply longer than the model writes",
    limit: 16_384,
    refusal: say(400, {
      message: "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.",
      param: "max_tokens",
      code: "invalid_value",
    }),
  },
  {
    kind: "payload",
    title: "a body that the edge does not take",
    refusal: { status: 413, body: "<html><head><title>413 Request Entity Too Large</title></head></html>" },
  },
  {
    kind: "rate_limit",
    title: "tokens a minute",
    retry_after_ms: 1_400,
    refusal: say(
      429,
      {
        message:
          "Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Used 29500, Requested 1200. Please try again in 1.4s. Visit https://platform.openai.com/account/rate-limits to learn more.",
        type: "tokens",
        code: "rate_limit_exceeded",
      },
      { "retry-after": "2", "retry-after-ms": "1400" },
    ),
  },
  {
    kind: "quota",
    title: "no credit",
    refusal: say(429, {
      message:
        "You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.",
      type: "insufficient_quota",
      code: "insufficient_quota",
    }),
  },
  {
    kind: "media",
    title: "an image that cannot be fetched",
    refusal: say(400, {
      message: "Error while downloading https://example.com/a.png. Upstream status code: 404.",
      param: "url",
      code: "invalid_image_url",
    }),
  },
  {
    kind: "media",
    title: "an image of a wrong type",
    refusal: say(400, {
      message:
        "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
      code: "invalid_image_format",
    }),
  },
  {
    kind: "invalid_param",
    title: "a parameter that the model does not take",
    refusal: say(400, {
      message: "Unsupported parameter: 'temperature' is not supported with this model.",
      param: "temperature",
      code: "unsupported_parameter",
    }),
  },
  {
    kind: "not_found",
    title: "a model that it does not know",
    refusal: say(404, { message: "The model `gpt-99` does not exist or you do not have access to it.", code: "model_not_found" }),
  },
  {
    kind: "auth",
    title: "a wrong key",
    refusal: say(401, {
      message: "Incorrect API key provided: sk-wrong. You can find your API key at https://platform.openai.com/account/api-keys.",
      code: "invalid_api_key",
    }),
  },
  {
    kind: "region",
    title: "a country that is not served",
    refusal: say(403, {
      message: "Country, region, or territory not supported",
      type: "request_forbidden",
      code: "unsupported_country_region_territory",
    }),
  },
  {
    kind: "refused",
    title: "a prompt that breaks the rules of use",
    refusal: say(400, {
      message:
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt.",
      code: "invalid_prompt",
    }),
  },
  {
    kind: "unavailable",
    title: "overload",
    retry_after_ms: 30_000,
    refusal: say(
      503,
      { message: "The engine is currently overloaded, please try again later", type: "server_error" },
      { "retry-after": "30" },
    ),
  },
  {
    kind: "unavailable",
    title: "an error of its own",
    refusal: say(500, { message: "The server had an error while processing your request. Sorry about that!", type: "server_error" }),
  },
  {
    kind: "unavailable",
    title: "overload until a date",
    retry_after_ms: 90_000,
    refusal: say(
      503,
      { message: "The engine is currently overloaded, please try again later", type: "server_error" },
      { date: "Sun, 22 Nov 2026 10:00:00 GMT", "retry-after": "Sun, 22 Nov 2026 10:01:30 GMT" },
    ),
  },
  {
    kind: "unavailable",
    title: "an edge without an origin",
    refusal: { status: 502, body: "<html><head><title>502 Bad Gateway</title></head></html>" },
  },
  {
    kind: "timeout",
    title: "an edge that waited too long",
    refusal: { status: 524, body: "<html><title>api.openai.com | 524: A timeout occurred</title></html>" },
  },
  {
    kind: "timeout",
    title: "a request that took too long",
    refusal: say(408, { message: "Request timed out.", type: "server_error", code: "request_timeout" }),
  },
];
