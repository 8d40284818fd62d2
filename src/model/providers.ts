/** The providers that are called through their packages of the AI SDK. A package is loaded when it is first used. */
import type { LanguageModelV4, LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { ModelRequest } from "../app/ports";
import { markPrompt } from "./cache-marks";
import { toClaudeOptions } from "./claude-options";
import { findParallel, findStrictness, toGenerationOptions } from "./generation-options";
import { anthropicRules, googleRules, openAiRules, type SupportedUrls } from "./prompt-rules";
import type { ProviderAdapter } from "./provider-model";
import { type PromptRules, type SdkCall, toSdkPrompt } from "./sdk-prompt";
import { anthropicEvents, googleEvents, responsesEvents } from "./whole-answers";
import { asObject, asText } from "./wire-chunk";

/** The providers' own addresses. They are named here because the packages would otherwise read them from the environment. */
export const OPENAI_URL = "https://api.openai.com/v1";
const ANTHROPIC_URL = "https://api.anthropic.com/v1";
const GOOGLE_URL = "https://generativelanguage.googleapis.com/v1beta";

/** The packages demand a key when they are created. The real key replaces this one when the request is sent. */
const NO_KEY = "none";

const readSupportedUrls = async (model: LanguageModelV4): Promise<SupportedUrls> => model.supportedUrls;

/** Null leaves the limit to the provider. */
const toOutputCap = (maxOutput: number | null): { maxOutputTokens?: number } => (maxOutput === null ? {} : { maxOutputTokens: maxOutput });

/** Turns thinking off, but only for a model that thinks. The package knows what each model calls the switch. */
const toReasoningOption = ({ reasoning, model }: ModelRequest): { reasoning?: "none" } =>
  reasoning === "off" && model.capabilities?.reasoning !== false ? { reasoning: "none" } : {};

export function plainCall(request: ModelRequest, rules: PromptRules): PlainCall {
  const { messages, tools } = toSdkPrompt(request, rules);
  return {
    prompt: messages.map(({ message }) => message),
    tools: [...tools],
    ...toOutputCap(request.maxOutput),
    ...toReasoningOption(request),
    ...toGenerationOptions(request, tools),
  };
}

interface PlainCall extends SdkCall {
  readonly tools: LanguageModelV4FunctionTool[];
}

/** The Responses API with nothing stored at OpenAI: thinking is sent back encrypted (`reasoning.encrypted_content`). */
export const openAi: ProviderAdapter = {
  reply: {
    key: "openai",
    // A reasoning item is encrypted at its end. Metadata before that would name an item that OpenAI does not store.
    isWhole: (part) => part.type !== "reasoning-start" && part.type !== "reasoning-delta",
    events: new Set([
      "response.output_item.added",
      "response.output_item.done",
      "response.output_text.delta",
      "response.refusal.delta",
      "response.reasoning_summary_text.delta",
      "response.function_call_arguments.delta",
      "response.completed",
      "response.incomplete",
      "response.failed",
      "error",
    ]),
    isEnd: ({ type }) => type === "response.completed" || type === "response.incomplete" || type === "response.failed",
  },
  async load({ base_url, upstream_id }, fetch) {
    const { createOpenAI } = await import("@ai-sdk/openai");
    return createOpenAI({ baseURL: base_url ?? OPENAI_URL, apiKey: NO_KEY, fetch }).responses(upstream_id);
  },
  async toCall(request, model) {
    const { cacheKey, model: spec } = request;
    const call = plainCall(request, openAiRules(await readSupportedUrls(model)));
    const parallel = findParallel(request, call.tools);
    const strict = findStrictness(request);
    const options = {
      store: false,
      // The package would ask for a summary of the thinking with every effort that it sends. OpenAI refuses that to accounts
      // that are not verified.
      reasoningSummary: null,
      ...(cacheKey === undefined ? {} : { promptCacheKey: cacheKey }),
      // If the package does not know the model by name, the registry says whether it thinks.
      ...(spec.capabilities?.reasoning === true ? { forceReasoning: true } : {}),
      ...(parallel !== null && { parallelToolCalls: parallel }),
      ...(strict !== null && { strictJsonSchema: strict }),
    };
    return { ...call, providerOptions: { openai: options } };
  },
  toEvents: responsesEvents,
  authorize: setBearer,
};

export const anthropic: ProviderAdapter = {
  reply: {
    key: "anthropic",
    isWhole: () => true,
    // Anthropic adds events without notice: "your code should handle unknown event types gracefully".
    events: new Set([
      "message_start",
      "message_delta",
      "message_stop",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "error",
    ]),
    isEnd: ({ type }) => type === "message_stop",
  },
  async load({ base_url, upstream_id }, fetch) {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return createAnthropic({ baseURL: base_url ?? ANTHROPIC_URL, apiKey: NO_KEY, fetch })(upstream_id);
  },
  async toCall(request, model) {
    const marked = markPrompt(toSdkPrompt(request, anthropicRules(await readSupportedUrls(model))), request);
    // Anthropic requires `max_tokens`.
    const cap = request.maxOutput ?? request.model.max_output;
    const { reasoning: _, ...settings } = toGenerationOptions(request, marked.tools);
    const own = toClaudeOptions(request, { ...marked, cap });
    return { ...marked, maxOutputTokens: cap, ...toReasoningOption(request), ...settings, ...own };
  },
  toEvents: anthropicEvents,
  authorize: (headers, key) => setHeader(headers, "x-api-key", key),
};

export const google: ProviderAdapter = {
  reply: {
    key: "google",
    isWhole: () => true,
    events: null,
    isRefusal: (event) => asText(asObject(asObject(event)?.promptFeedback)?.blockReason) !== null,
    isEnd: ({ candidates }) => Array.isArray(candidates) && asText(asObject(candidates[0])?.finishReason) !== null,
  },
  async load({ base_url, upstream_id }, fetch) {
    const { createGoogle } = await import("@ai-sdk/google");
    return createGoogle({ baseURL: base_url ?? GOOGLE_URL, apiKey: NO_KEY, fetch })(upstream_id);
  },
  toCall: async (request, model) => plainCall(request, googleRules(await readSupportedUrls(model))),
  toEvents: googleEvents,
  authorize: (headers, key) => setHeader(headers, "x-goog-api-key", key),
};

function setHeader(headers: Headers, name: string, value: string | null): void {
  if (value === null) headers.delete(name);
  else headers.set(name, value);
}

export function setBearer(headers: Headers, key: string | null): void {
  setHeader(headers, "authorization", key === null ? null : `Bearer ${key}`);
}
