/**
 * From our messages to the AI SDK's prompt. Pure and deterministic: the same messages give the same bytes, so that
 * between two epochs a request only grows at its end (docs/design.md §1.6).
 */
import type { JSONObject, LanguageModelV4CallOptions, LanguageModelV4FunctionTool, LanguageModelV4Message } from "@ai-sdk/provider";
import type { ChatMessage, ModelRequest } from "../app/ports";
import { describeMediaPart } from "../context/media";
import type { MediaPart, Part, ReasoningPart, ToolCallPart, ToolDefinition, ToolResultPart } from "../domain/message";
import { assertNever } from "../lib/assert-never";
import { callInWords, resultInWords } from "./in-words";
import type { WireIds } from "./wire-names";

export type SdkCall = LanguageModelV4CallOptions;
export type SdkMessage = LanguageModelV4Message;
type SdkUserPart = Extract<SdkMessage, { role: "user" }>["content"][number];
export type SdkAssistantPart = Extract<SdkMessage, { role: "assistant" }>["content"][number];

/** What a provider's wire asks for. */
export interface PromptRules {
  /** Under which a part's metadata is this provider's own, and goes back to it; null: what a part holds stays here. */
  readonly key: string | null;
  /** Whether it fetches such a file itself. */
  readonly takesUrl: (mediaType: string, url: URL) => boolean;
  /** Thinking goes back only to whom it came from, and whole. `among`: the message that it is part of. */
  readonly takesBack: (part: ReasoningPart, among: readonly Part[]) => boolean;
  readonly toCall: (part: ToolCallPart, id: string) => SdkAssistantPart;
  /** Names as its wire takes them. */
  readonly toName: (name: string) => string;
  /** Null: ids go out as they are, repeated or not. */
  readonly ids: WireIds | null;
  /** Only in front: a message of the system among the others is said as a user's. */
  readonly systemInFront: boolean;
  /** It refuses a conversation that the model begins. */
  readonly userInFront: boolean;
  /** It refuses calls in a reply that follows another one: both are said as one. */
  readonly joinsReplies: boolean;
  /** It refuses a text with nothing in it. */
  readonly refusesBlank: boolean;
  /** It refuses calls of tools that are not offered. */
  readonly callsNeedTools: boolean;
}

/** A message of the prompt, and the place of what it stands for among the request's; -1: the system prompt. */
export interface PromptMessage {
  readonly message: SdkMessage;
  readonly place: number;
}

export interface SdkPrompt {
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly LanguageModelV4FunctionTool[];
}

/** Metadata is what a provider said in JSON, and is stored as JSON. */
const isJsonObject = (value: unknown): value is JSONObject => typeof value === "object" && value !== null && !Array.isArray(value);

interface Marked {
  readonly provider_metadata?: Readonly<Record<string, unknown>>;
}

/** What the provider itself said of a part; undefined: nothing. */
export function ownMetadata({ provider_metadata }: Marked, key: string | null): JSONObject | undefined {
  const own = key === null ? undefined : provider_metadata?.[key];
  return isJsonObject(own) ? own : undefined;
}

/** The same as the SDK takes it: byte for byte, and nothing of another provider's. */
export function optionsOf(part: Marked, key: string | null): { providerOptions?: Record<string, JSONObject> } {
  const own = ownMetadata(part, key);
  return own === undefined || key === null ? {} : { providerOptions: { [key]: own } };
}

const EMPTY_MESSAGE = "[empty message]";
/** In front of words that the model begins with, as imported conversations do with a greeting. */
const NO_MESSAGE = "[no message]";
const isBlank = (text: string): boolean => text.trim() === "";

export function toSdkPrompt(request: ModelRequest, rules: PromptRules): SdkPrompt {
  const tools = request.model.capabilities?.tools === false ? [] : request.tools;
  const inWords = request.model.capabilities?.tools === false || (rules.callsNeedTools && tools.length === 0);
  const build = new PromptBuild(request, rules, inWords);
  if (request.system !== null && !(rules.refusesBlank && isBlank(request.system))) {
    build.add({ role: "system", content: request.system }, -1);
  }
  for (const [place, message] of request.messages.entries()) build.take(message, place);
  return { messages: build.messages, tools: tools.map(toSdkTool) };
}

function toSdkTool(tool: ToolDefinition): LanguageModelV4FunctionTool {
  return {
    type: "function",
    name: tool.name,
    ...(tool.description === undefined ? {} : { description: tool.description }),
    // The client's JSON Schema goes out as it came in: whether it is a good one is the provider's to say.
    inputSchema: { ...tool.parameters },
  };
}

class PromptBuild {
  readonly messages: PromptMessage[] = [];

  readonly request: ModelRequest;
  readonly rules: PromptRules;
  /** Calls and their results are told as text: the model knows no tools. */
  readonly inWords: boolean;

  constructor(request: ModelRequest, rules: PromptRules, inWords: boolean) {
    this.request = request;
    this.rules = rules;
    this.inWords = inWords;
  }

  add(message: SdkMessage, place: number): void {
    this.messages.push({ message, place });
  }

  take(message: ChatMessage, place: number): void {
    switch (message.role) {
      case "system":
        return this.#system(message.parts, place);
      case "user":
        return this.#user(
          message.parts.flatMap((part) => this.#userPart(part)),
          place,
        );
      case "assistant": {
        this.rules.ids?.startResponse();
        const content = message.parts.flatMap((part) => this.#assistantPart(part, message.parts));
        // A reply that was stopped before its first word: providers refuse an assistant message with nothing in it.
        if (content.length === 0) return;
        if (this.rules.userInFront && this.messages.every(({ message: before }) => before.role === "system"))
          this.#user([{ type: "text", text: NO_MESSAGE }], place);
        return this.#reply(content, place);
      }
      case "tool":
        for (const part of message.parts) if (part.type === "tool_result") this.#result(part, place);
        return;
      default:
        return assertNever(message.role);
    }
  }

  #reply(content: SdkAssistantPart[], place: number): void {
    const last = this.messages.at(-1)?.message;
    if (this.rules.joinsReplies && last?.role === "assistant") last.content.push(...content);
    else this.add({ role: "assistant", content }, place);
  }

  #system(parts: readonly Part[], place: number): void {
    const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
    if (this.rules.refusesBlank && isBlank(text)) return;
    const late = this.rules.systemInFront && this.messages.some(({ message }) => message.role !== "system");
    if (late) this.#user([{ type: "text", text: `[System message: ${text}]` }], place);
    else this.add({ role: "system", content: text }, place);
  }

  #user(content: SdkUserPart[], place: number): void {
    const empty = content.length === 0 && this.rules.refusesBlank;
    this.add({ role: "user", content: empty ? [{ type: "text", text: EMPTY_MESSAGE }] : content }, place);
  }

  #result(part: ToolResultPart, place: number): void {
    if (this.inWords) return this.#user([{ type: "text", text: resultInWords(part) }], place);
    const output = { type: part.is_error ? ("error-text" as const) : ("text" as const), value: part.output };
    const name = this.rules.toName(part.name);
    const call = this.rules.ids?.answered(part.call_id, name) ?? { id: part.call_id, name };
    const content = { type: "tool-result" as const, toolCallId: call.id, toolName: call.name, output };
    const last = this.messages.at(-1)?.message;
    // One message for all results of a response: Gemini counts them against the calls of the turn before.
    if (last?.role === "tool") last.content.push(content);
    else this.add({ role: "tool", content: [content] }, place);
  }

  #userPart(part: Part): SdkUserPart[] {
    if (part.type === "image" || part.type === "file") return [this.#media(part)];
    if (part.type !== "text" || (this.rules.refusesBlank && isBlank(part.text))) return [];
    return [{ type: "text", text: part.text }];
  }

  /** By reference where the provider fetches it; else it is named in words rather than refused. */
  #media(part: MediaPart): SdkUserPart {
    const { capabilities } = this.request.model;
    const readable = part.type === "image" ? capabilities?.images !== false : capabilities?.files !== false;
    const mediaType = part.type === "image" && !part.media_type.startsWith("image/") ? "image" : part.media_type;
    const url = URL.parse(part.url);
    if (!readable || !url || !this.rules.takesUrl(mediaType, url)) return { type: "text", text: describeMediaPart(part) };
    return { type: "file", mediaType, data: { type: "url", url } };
  }

  #assistantPart(part: Part, among: readonly Part[]): SdkAssistantPart[] {
    const { rules } = this;
    switch (part.type) {
      case "text": {
        const own = ownMetadata(part, rules.key);
        // Gemini signs a text that is empty.
        const says = rules.refusesBlank ? !isBlank(part.text) : part.text !== "";
        return says || own?.thoughtSignature !== undefined ? [{ type: "text", text: part.text, ...optionsOf(part, rules.key) }] : [];
      }
      case "reasoning":
        return rules.takesBack(part, among) ? [{ type: "reasoning", text: part.text, ...optionsOf(part, rules.key) }] : [];
      case "tool_call":
        if (this.inWords) return [{ type: "text", text: callInWords(part) }];
        return [rules.toCall(part, rules.ids?.call(part.call_id, rules.toName(part.name)) ?? part.call_id)];
      case "image":
      case "file":
      case "tool_result":
        return [];
      default:
        return assertNever(part);
    }
  }
}
