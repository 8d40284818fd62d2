/** Google's errors (ai.google.dev/gemini-api/docs/troubleshooting), in the wording of its API. */
import { errorBody } from "../../support/stand-in/providers/google/google.ts";
import type { Refusal } from "../../support/stand-in/providers/script.ts";
import type { ProviderFailures } from "./provider-failure.ts";

type GoogleError = Parameters<typeof errorBody>[0];

const say = (error: GoogleError): Refusal => ({ status: error.code, body: errorBody(error) });
const wrong = (message: string): Refusal => say({ code: 400, status: "INVALID_ARGUMENT", message });

const exhausted = (message: string, quotaId: string, retryDelay: string): Refusal =>
  say({
    code: 429,
    status: "RESOURCE_EXHAUSTED",
    message,
    details: [
      {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        violations: [{ quotaMetric: "generativelanguage.googleapis.com/generate_content_free_tier_requests", quotaId }],
      },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay },
    ],
  });

export const googleFailures: ProviderFailures = {
  refusals: [
    {
      kind: "overflow",
      title: "a prompt above the window",
      limit: 1_048_576,
      refusal: wrong("The input token count (1196265) exceeds the maximum number of tokens allowed (1048576)."),
    },
    {
      kind: "output_cap",
      title: "a reply longer than the model writes",
      limit: 65_536,
      refusal: wrong(
        "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.",
      ),
    },
    { kind: "payload", title: "a body above 20 MB", refusal: wrong("Request payload size exceeds the limit: 20971520 bytes.") },
    {
      kind: "rate_limit",
      title: "requests a minute",
      retry_after_ms: 27_000,
      refusal: exhausted(
        "Resource has been exhausted (e.g. check quota). Please retry in 27s.",
        "GenerateRequestsPerMinutePerProjectPerModel",
        "27s",
      ),
    },
    {
      kind: "quota",
      title: "credit that is used up",
      refusal: say({
        code: 429,
        status: "RESOURCE_EXHAUSTED",
        message: "Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing.",
      }),
    },
    {
      kind: "media",
      title: "an image that cannot be read",
      refusal: wrong(
        "Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting",
      ),
    },
    { kind: "media", title: "a type that it does not take", refusal: wrong("Unsupported MIME type: application/x-shockwave-flash") },
    {
      kind: "invalid_param",
      title: "a field that it does not know",
      refusal: wrong('Invalid JSON payload received. Unknown name "top_k": Cannot find field.'),
    },
    {
      kind: "not_found",
      title: "a model that it does not know",
      refusal: say({
        code: 404,
        status: "NOT_FOUND",
        message:
          "models/gemini-99 is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.",
      }),
    },
    {
      kind: "auth",
      title: "a wrong key",
      refusal: say({
        code: 400,
        status: "INVALID_ARGUMENT",
        message: "API key not valid. Please pass a valid API key.",
        details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "googleapis.com" }],
      }),
    },
    {
      kind: "auth",
      title: "a key without the right",
      refusal: say({ code: 403, status: "PERMISSION_DENIED", message: "The caller does not have permission" }),
    },
    {
      kind: "region",
      title: "a place that is not served",
      refusal: say({ code: 400, status: "FAILED_PRECONDITION", message: "User location is not supported for the API use." }),
    },
    {
      kind: "unavailable",
      title: "overload",
      refusal: say({ code: 503, status: "UNAVAILABLE", message: "The model is overloaded. Please try again later." }),
    },
    {
      kind: "unavailable",
      title: "an error of its own",
      refusal: say({
        code: 500,
        status: "INTERNAL",
        message: "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting",
      }),
    },
    {
      kind: "timeout",
      title: "a request that took too long",
      refusal: say({ code: 504, status: "DEADLINE_EXCEEDED", message: "Deadline expired before operation could complete." }),
    },
  ],
  events: [
    {
      kind: "unavailable",
      title: "overload",
      status: 503,
      event: errorBody({ code: 503, status: "UNAVAILABLE", message: "The model is overloaded. Please try again later." }),
    },
    {
      kind: "rate_limit",
      title: "requests a minute",
      status: 429,
      retry_after_ms: 27_400,
      event: errorBody({
        code: 429,
        status: "RESOURCE_EXHAUSTED",
        message: "Resource has been exhausted (e.g. check quota).",
        details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "27.4s" }],
      }),
    },
    {
      kind: "refused",
      title: "a prompt that its filter stops",
      event: {
        promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
        usageMetadata: { promptTokenCount: 12, totalTokenCount: 12 },
        modelVersion: "gemini-3.5-flash",
      },
    },
  ],
};
