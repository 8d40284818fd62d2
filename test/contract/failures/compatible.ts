/** Errors of endpoints that implement OpenAI's chat completions, in their own wording. */
import { chatFailures } from "./openai.ts";
import { say, sharedFailures } from "./openai-shared.ts";
import type { ProviderFailures } from "./provider-failure.ts";

/** The wording of vLLM, SGLang, Groq, OpenRouter and Mistral. */
export const compatibleFailures: ProviderFailures = {
  refusals: [
    ...sharedFailures,
    {
      kind: "overflow",
      title: "vLLM: a prompt above the window",
      limit: 32_768,
      refusal: {
        status: 400,
        body: {
          object: "error",
          message:
            "This model's maximum context length is 32768 tokens. However, you requested 33500 tokens (33000 in the messages, 500 in the completion). Please reduce the length of the messages or completion.",
          type: "BadRequestError",
          param: null,
          code: 400,
        },
      },
    },
    {
      kind: "output_cap",
      title: "vLLM: a reply that does not fit any more",
      limit: 8_142,
      window: 8_192,
      refusal: {
        status: 400,
        body: {
          object: "error",
          message:
            "'max_tokens' or 'max_completion_tokens' is too large: 100000. This model's maximum context length is 8192 tokens and your request has 50 input tokens (100000 > 8192 - 50).",
          type: "BadRequestError",
          param: null,
          code: 400,
        },
      },
    },
    {
      kind: "rate_limit",
      title: "Groq: tokens a minute, as a body that is too large",
      refusal: say(413, {
        message:
          "Request too large for model `x` in organization `y` on tokens per minute (TPM): Limit 8000, Requested 8098, please reduce your message size and try again.",
        type: "tokens",
        code: "rate_limit_exceeded",
      }),
    },
    {
      kind: "quota",
      title: "OpenRouter: no credit",
      refusal: {
        status: 402,
        body: { error: { message: "Insufficient credits. Add more using https://openrouter.ai/settings/credits", code: 402 } },
      },
    },
    {
      kind: "unavailable",
      title: "a gateway's error with status 200",
      refusal: { status: 200, body: { error: { message: "Provider returned error", code: 502 } } },
    },
  ],
  events: [
    ...chatFailures.events,
    {
      kind: "unavailable",
      title: "OpenRouter: an upstream that went away",
      status: 502,
      event: {
        id: "gen-1",
        object: "chat.completion.chunk",
        error: { code: 502, message: "Provider disconnected" },
        choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }],
      },
    },
    {
      kind: "overflow",
      title: "vLLM: a prompt above the window, seen when the answer had begun",
      status: 400,
      limit: 32_768,
      event: {
        error: {
          message: "This model's maximum context length is 32768 tokens. However, your messages resulted in 40000 tokens.",
          type: "BadRequestError",
          code: 400,
        },
      },
    },
  ],
};
