/**
 * Places the marks of Anthropic's prompt cache: at most four in a request. In the order of the wire: the end of what does
 * not change within an epoch (tools and system prompt), the end of what stands for the older part, the end of the previous
 * request, and the newest message.
 *
 * Long tool rounds need the third mark: the provider looks back about 20 blocks from a mark, and one round of parallel calls
 * can add more than that. A mark exactly where the last request wrote is found however long the round is. Marks are the only
 * thing that may move between two requests of an epoch. https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
 */
import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { ModelRequest } from "../app/ports";
import type { PromptMessage, SdkMessage, SdkPrompt } from "./sdk-prompt";

const MARK = { anthropic: { cacheControl: { type: "ephemeral" } } };

interface MarkedPrompt {
  readonly prompt: SdkMessage[];
  readonly tools: LanguageModelV4FunctionTool[];
}

export function markPrompt({ messages, tools }: SdkPrompt, request: ModelRequest): MarkedPrompt {
  const marked = new Set(markedPlaces(messages, request));
  const system = messages.findIndex(({ place }) => place === -1);
  const prompt = messages.map(({ message }, index) => (marked.has(index) ? { ...message, providerOptions: MARK } : message));
  const lastTool = system === -1 ? tools.length - 1 : -1;
  return { prompt, tools: tools.map((tool, index) => (index === lastTool ? { ...tool, providerOptions: MARK } : tool)) };
}

/** Indexes into `messages`; -1 among them marks nothing. */
function markedPlaces(messages: readonly PromptMessage[], { older = 0, purpose }: ModelRequest): readonly number[] {
  const system = messages.findLastIndex(({ place }) => place === -1);
  const chain = messages.findLastIndex(({ place }) => place >= 0 && place < older);
  // A summary or a title is requested only once: no later request would read its newest part from the cache.
  const newest = purpose === "turn" ? messages.length - 1 : -1;
  return [system, chain, placeBefore(messages), newest];
}

/** The end of the previous request: the last message before the newest response. */
function placeBefore(messages: readonly PromptMessage[]): number {
  const response = messages.findLastIndex(({ message }) => message.role === "assistant");
  return messages.slice(0, Math.max(0, response)).findLastIndex(({ message }) => message.role !== "assistant");
}
