/**
 * Converts our messages to the AI SDK's prompt. Pure and deterministic: the same messages give the same bytes, so that
 * between two epochs a request only grows at its end (docs/context.md).
 */
import type { JSONObject, LanguageModelV4CallOptions, LanguageModelV4FunctionTool, LanguageModelV4Message } from "@ai-sdk/provider";
import type { ChatMessage, ModelRequest } from "../app/ports";
import { describeMediaPart } from "../context/media";
import type { MediaPart, Part, ReasoningPart, ToolCallPart, ToolDefinition, ToolResultPart } from "../domain/message";
import { assertNever } from "../lib/assert-never";
import { CallIds, type WireIds } from "./wire-names";

export type SdkCall = LanguageModelV4CallOptions;
export type SdkMessage = LanguageModelV4Message;
type SdkUserPart = Extract<SdkMessage, { role: "user" }>["content"][number];
export type SdkAssistantPart = Extract<SdkMessage, { role: "assistant" }>["content"][number];

/** What a provider's wire format demands. */
export interface PromptRules {
  /** The key of this provider's own metadata in a part, which is sent back to it. Null when no metadata is sent. */
  readonly key: string | null;
  /** True when the provider fetches such a file itself. */
  readonly takesUrl: (mediaType: string, url: URL) => boolean;
  /**
   * True when the thinking is sent back: whole, and only to the provider that wrote it. `among` holds the parts of its
   * message.
   */
  readonly takesBack: (part: ReasoningPart, among: readonly Part[]) => boolean;
  /** The thinking of calls that have none, where the provider refuses them without it. Absent: they are sent without. */
  readonly thinkingOfCalls?: string;
  readonly toCall: (part: ToolCallPart, id: string) => SdkAssistantPart;
  /** Converts a name to one that the wire format accepts. */
  readonly toName: (name: string) => string;
  /** Null when ids are sent as they are, repeated or not. */
  readonly ids: WireIds | null;
  /** True when system messages may only come first. A later one is sent as a user's message. */
  readonly systemInFront: boolean;
  /** Which system messages become part of the first one: those right behind it (`leading`), or all. Absent: none. */
  readonly joinsSystem?: "leading" | "all";
  /** True when the provider refuses a conversation that the model begins, or that holds instructions alone. */
  readonly userInFront: boolean;
  /**
   * True when the provider refuses a conversation that ends with the model's words, or goes on with them in the middle of a sentence. The
   * model is to answer anew, so that a message says that the user has said nothing. False: the provider answers such a conversation.
   */
  readonly userAtEnd: boolean;
  /** True when the provider refuses calls in a reply that follows another reply. Both are then sent as one. */
  readonly joinsReplies: boolean;
  /** True when the provider refuses a user's message that follows another one. Both are then sent as one. Absent: false. */
  readonly joinsUsers?: boolean;
  /** True when the provider refuses a blank text. */
  readonly refusesBlank: boolean;
  /** True when the provider refuses calls of tools that are not offered. */
  readonly callsNeedTools: boolean;
}

/** A message of the prompt. `place` is the index of its source among the request's messages; -1 for the system prompt. */
export interface PromptMessage {
  readonly message: SdkMessage;
  readonly place: number;
}

export interface SdkPrompt {
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly LanguageModelV4FunctionTool[];
}

/** Metadata was received as JSON and is stored as JSON. */
const isJsonObject = (value: unknown): value is JSONObject => typeof value === "object" && value !== null && !Array.isArray(value);

interface Marked {
  readonly provider_metadata?: Readonly<Record<string, unknown>>;
}

/** The provider's own metadata of a part; undefined when it has none. */
export function ownMetadata({ provider_metadata }: Marked, key: string | null): JSONObject | undefined {
  const own = key === null ? undefined : provider_metadata?.[key];
  return isJsonObject(own) ? own : undefined;
}

/** The provider's own metadata as the SDK takes it: unchanged, and without that of other providers. */
export function toProviderOptions(part: Marked, key: string | null): { providerOptions?: Record<string, JSONObject> } {
  const own = ownMetadata(part, key);
  return own === undefined || key === null ? {} : { providerOptions: { [key]: own } };
}

const EMPTY_MESSAGE = "[empty message]";
/** Sent before the model's words when the model begins, as an imported conversation does with a greeting, and behind them when it ends so. */
const NO_MESSAGE = "[no message]";
const isBlank = (text: string): boolean => text.trim() === "";

export function toSdkPrompt(asked: ModelRequest, usual: PromptRules): SdkPrompt {
  const request = asked.plain ? toPlainRequest(asked) : asked;
  const rules = asked.plain ? toPlainRules(usual) : usual;
  const tools = request.model.capabilities?.tools === false ? [] : request.tools;
  const inWords = request.model.capabilities?.tools === false || (rules.callsNeedTools && tools.length === 0);
  const build = new PromptBuild(request, rules, inWords);
  if (request.system !== null && !(rules.refusesBlank && isBlank(request.system))) {
    build.add({ role: "system", content: request.system }, -1);
  }
  for (const [place, message] of request.messages.entries()) build.take(message, place);
  build.finish();
  return { messages: build.messages, tools: tools.map(toSdkTool) };
}

/** The rules under which every known endpoint takes a conversation. Calls that the model still waits for keep what belongs to them. */
const toPlainRules = (rules: PromptRules): PromptRules => ({
  ...rules,
  ids: new CallIds(),
  joinsSystem: "all",
  joinsReplies: true,
  joinsUsers: true,
});

/** The messages before the user's last one in words alone: without metadata, thinking and media. */
function toPlainRequest(request: ModelRequest): ModelRequest {
  const last = request.messages.findLastIndex(({ role }) => role === "user");
  const messages = request.messages.map((message, index) =>
    index < last ? { ...message, parts: message.parts.flatMap((part) => toPlainPart(part)) } : message,
  );
  return { ...request, messages };
}

function toPlainPart(part: Part): readonly Part[] {
  switch (part.type) {
    case "reasoning":
      return [];
    case "image":
    case "file":
      return [{ type: "text", text: describeMediaPart(part) }];
    case "text":
    case "tool_call": {
      const { provider_metadata: _, ...plain } = part;
      return [plain];
    }
    case "tool_result":
      return [part];
    default:
      return assertNever(part);
  }
}

function toSdkTool(tool: ToolDefinition): LanguageModelV4FunctionTool {
  return {
    type: "function",
    name: tool.name,
    ...(tool.description === undefined ? {} : { description: tool.description }),
    // The client's JSON Schema is sent as it came. The provider judges whether it is valid.
    inputSchema: { ...tool.parameters },
  };
}

class PromptBuild {
  readonly messages: PromptMessage[] = [];

  readonly request: ModelRequest;
  readonly rules: PromptRules;
  /**
   * True when calls and results are sent as text: the model knows no tools, or the provider refuses calls while no tools are
   * offered.
   */
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
        const content = this.#withThinking(withoutOpenThinking(message.parts.flatMap((part) => this.#assistantPart(part, message.parts))));
        // The reply was stopped before its first word. Providers refuse an empty assistant message.
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

  /** Adds the user's message that the provider demands and the conversation does not have. */
  finish(): void {
    const { userInFront, userAtEnd } = this.rules;
    const isUnsaid = this.messages.every(({ message }) => message.role === "system");
    const isOwn = this.messages.at(-1)?.message.role === "assistant";
    if ((userInFront && isUnsaid) || (userAtEnd && isOwn))
      this.#user([{ type: "text", text: NO_MESSAGE }], this.request.messages.length - 1);
  }

  #withThinking(content: SdkAssistantPart[]): SdkAssistantPart[] {
    const { thinkingOfCalls: text } = this.rules;
    const lacks = content.some(({ type }) => type === "tool-call") && !content.some(({ type }) => type === "reasoning");
    return text !== undefined && lacks ? [{ type: "reasoning", text }, ...content] : content;
  }

  #reply(content: SdkAssistantPart[], place: number): void {
    const last = this.messages.at(-1)?.message;
    if (this.rules.joinsReplies && last?.role === "assistant") last.content.push(...content);
    else this.add({ role: "assistant", content }, place);
  }

  #system(parts: readonly Part[], place: number): void {
    const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
    if (this.rules.refusesBlank && isBlank(text)) return;
    const isLate = this.messages.some(({ message }) => message.role !== "system");
    if (this.#joinSystem(text, isLate)) return;
    if (this.rules.systemInFront && isLate) this.#user([{ type: "text", text: `[System message: ${text}]` }], place);
    else this.add({ role: "system", content: text }, place);
  }

  /** Adds the text to the system message in front. False: it becomes a message of its own. */
  #joinSystem(text: string, isLate: boolean): boolean {
    const { joinsSystem } = this.rules;
    if (joinsSystem === undefined || (isLate && joinsSystem === "leading")) return false;
    const first = this.messages[0];
    if (first?.message.role === "system") first.message.content = `${first.message.content}\n\n${text}`;
    else this.messages.unshift({ message: { role: "system", content: text }, place: -1 });
    return true;
  }

  #user(said: SdkUserPart[], place: number): void {
    const isEmpty = said.length === 0 && this.rules.refusesBlank;
    const content: SdkUserPart[] = isEmpty ? [{ type: "text", text: EMPTY_MESSAGE }] : said;
    const last = this.messages.at(-1)?.message;
    if (this.rules.joinsUsers && last?.role === "user") last.content.push(...content);
    else this.add({ role: "user", content }, place);
  }

  #result(part: ToolResultPart, place: number): void {
    if (this.inWords) return this.#user([{ type: "text", text: resultInWords(part) }], place);
    const output = { type: part.is_error ? ("error-text" as const) : ("text" as const), value: part.output };
    const name = this.rules.toName(part.name);
    const call = this.rules.ids?.answered(part.call_id, name) ?? { id: part.call_id, name };
    const content = { type: "tool-result" as const, toolCallId: call.id, toolName: call.name, output };
    const last = this.messages.at(-1)?.message;
    // All results of a response go into one message: Gemini compares their number with the calls of the turn before.
    if (last?.role === "tool") last.content.push(content);
    else this.add({ role: "tool", content: [content] }, place);
  }

  #userPart(part: Part): SdkUserPart[] {
    if (part.type === "image" || part.type === "file") return [this.#media(part)];
    if (part.type !== "text" || (this.rules.refusesBlank && isBlank(part.text))) return [];
    return [{ type: "text", text: part.text }];
  }

  /**
   * Sends the file as data or by URL where the provider takes it so. Otherwise the prompt names it in words, so that the request is not
   * refused. A stored file has become data or a URL before (`with-files`).
   */
  #media(part: MediaPart): SdkUserPart {
    if ("file_id" in part) return { type: "text", text: describeMediaPart(part) };
    const data = DATA_URL.exec(part.url);
    if (data)
      return {
        type: "file",
        mediaType: part.media_type,
        data: { type: "data", data: part.url.slice(data[0].length) },
        ...toFilename(part),
      };
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
        // Gemini signs empty texts.
        const says = rules.refusesBlank ? !isBlank(part.text) : part.text !== "";
        return says || own?.thoughtSignature !== undefined
          ? [{ type: "text", text: part.text, ...toProviderOptions(part, rules.key) }]
          : [];
      }
      case "reasoning":
        return rules.takesBack(part, among) ? [{ type: "reasoning", text: part.text, ...toProviderOptions(part, rules.key) }] : [];
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

/**
 * Thinking that led to nothing is not sent back: the reply ended in it, by its limit, by a filter or by itself. Providers refuse it without
 * what follows it, and would do so for ever.
 */
const withoutOpenThinking = (content: readonly SdkAssistantPart[]): SdkAssistantPart[] =>
  content.slice(0, content.findLastIndex(({ type }) => type !== "reasoning") + 1);

/** The content of a stored file. */
const DATA_URL = /^data:[^,;]{1,128};base64,/;
const toFilename = ({ type, name }: MediaPart): { filename?: string } => (type === "file" && name !== undefined ? { filename: name } : {});

const callInWords = ({ name, arguments: input }: ToolCallPart): string => `[Called the tool ${name} with ${input}]`;

const resultInWords = ({ name, output, is_error }: ToolResultPart): string =>
  `[The tool ${name} ${is_error ? "failed" : "answered"}: ${output}]`;
