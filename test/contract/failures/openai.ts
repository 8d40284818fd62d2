/** OpenAI's own errors, on each of its APIs. */
import { openAiError } from "../../support/stand-in/providers/openai/errors.ts";
import { type OpenAiError, say, sharedFailures } from "./openai-shared.ts";
import type { ProviderFailures } from "./provider-failure.ts";

const inStream = (error: OpenAiError): unknown => ({ type: "error", ...openAiError(error) });

export const responsesFailures: ProviderFailures = {
  refusals: [
    ...sharedFailures,
    {
      kind: "overflow",
      title: "input above the window, without a number",
      refusal: say(400, {
        message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
        param: "input",
        code: "context_length_exceeded",
      }),
    },
  ],
  events: [
    {
      kind: "overflow",
      title: "input above the window",
      event: inStream({
        message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
        param: "input",
        code: "context_length_exceeded",
      }),
    },
    {
      kind: "rate_limit",
      title: "tokens a minute",
      event: {
        type: "error",
        code: "rate_limit_exceeded",
        message:
          "Rate limit reached for gpt-6-sol on tokens per min (TPM): Limit 30000, Used 30000, Requested 900. Please try again in 1.8s. Visit https://platform.openai.com/account/rate-limits to learn more.",
        param: null,
      },
      retry_after_ms: 1_800,
    },
    {
      kind: "unavailable",
      title: "a response that failed",
      event: {
        type: "response.failed",
        response: {
          id: "resp_1",
          object: "response",
          created_at: 1,
          status: "failed",
          model: "gpt-6-sol",
          output: [],
          error: { code: "server_error", message: "The model failed to generate a response." },
          usage: null,
          incomplete_details: null,
        },
      },
    },
  ],
};

export const chatFailures: ProviderFailures = {
  refusals: sharedFailures,
  events: [
    {
      kind: "unavailable",
      title: "an error of its own",
      event: openAiError({ message: "The server had an error while processing your request. Sorry about that!", type: "server_error" }),
    },
    {
      kind: "rate_limit",
      title: "tokens a minute",
      event: openAiError({
        message: "Rate limit reached for gpt-4o. Please try again in 340ms.",
        type: "tokens",
        code: "rate_limit_exceeded",
      }),
      retry_after_ms: 340,
    },
  ],
};
