/** `ChatModel` for any OpenAI-compatible chat-completions endpoint, and OpenAI's own. */
import type { ChatModel, Credentials } from "../app/ports";
import { findQuirks } from "../context/model-quirks";
import { createChatCompletions } from "./chat-completions";
import { buildChatRequest } from "./chat-request";
import { ReplyDecoder } from "./chat-stream";
import { markThinking } from "./compatible-prompt";
import type { FetchFunction } from "./provider-link";
import { chatEvents } from "./whole-answers";

interface OpenAiCompatibleOptions {
  readonly credentials: Credentials;
  readonly fetch: FetchFunction;
}

export const createOpenAiCompatibleModel = ({ credentials, fetch }: OpenAiCompatibleOptions): ChatModel =>
  createChatCompletions({
    build: buildChatRequest,
    credentials,
    // Redirects are not followed: the key and the conversation must go to no address other than the configured one.
    send: ({ url, headers, body }, signal) => fetch(url, { method: "POST", headers, body, signal, redirect: "manual" }),
    toEvents: chatEvents,
    newDecoder: (model) => new ReplyDecoder({ thinkingMark: markThinking(model), thinkTags: findQuirks(model).strip_think_tags }),
  });
