/**
 * From our messages to the AI SDK's prompt. Pure and deterministic: the same messages give the same bytes, so that
 * between two epochs a request only grows at its end (docs/design.md §1.6).
 */
import type { OpenAICompatibleProvider } from "@ai-sdk/openai-compatible";
import type { ChatMessage, ModelRequest } from "../app/ports";
import { type MediaPart, type Part, type ToolCallPart, type ToolDefinition, thoughtSignature } from "../domain/message";
import { assertNever } from "../lib/assert-never";

export type SdkModel = ReturnType<OpenAICompatibleProvider>;
export type SdkCall = Parameters<SdkModel["doStream"]>[0];
type SdkMessage = SdkCall["prompt"][number];
type SdkUserPart = Extract<SdkMessage, { role: "user" }>["content"][number];
type SdkAssistantPart = Extract<SdkMessage, { role: "assistant" }>["content"][number];
type SdkTool = NonNullable<SdkCall["tools"]>[number];

/** Its camel case is the key under which the SDK reads and spreads a part's own options. */
export const PROVIDER_NAME = "openaiCompatible";

export function toSdkCall(request: ModelRequest): SdkCall {
  const system: SdkMessage[] = request.system === null ? [] : [{ role: "system", content: request.system }];
  return {
    prompt: [...system, ...request.messages.flatMap(toSdkMessages)],
    tools: request.tools.map(toSdkTool),
    ...(request.maxOutput === null ? {} : { maxOutputTokens: request.maxOutput }),
  };
}

function toSdkTool(tool: ToolDefinition): SdkTool {
  return {
    type: "function",
    name: tool.name,
    ...(tool.description === undefined ? {} : { description: tool.description }),
    // The client's JSON Schema goes out as it came in: whether it is a good one is the provider's to say.
    inputSchema: { ...tool.parameters },
  };
}

function toSdkMessages(message: ChatMessage): SdkMessage[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n") }];
    case "user":
      return [{ role: "user", content: message.parts.flatMap(toUserPart) }];
    case "assistant": {
      const content = message.parts.flatMap(toAssistantPart);
      // A reply that was stopped before its first word: providers refuse an assistant message with nothing in it.
      return content.length === 0 ? [] : [{ role: "assistant", content }];
    }
    case "tool":
      return toToolMessages(message.parts);
    default:
      return assertNever(message.role);
  }
}

function toToolMessages(parts: readonly Part[]): SdkMessage[] {
  return parts.flatMap((part): SdkMessage[] => {
    if (part.type !== "tool_result") return [];
    const output = { type: part.is_error ? ("error-text" as const) : ("text" as const), value: part.output };
    return [{ role: "tool", content: [{ type: "tool-result", toolCallId: part.call_id, toolName: part.name, output }] }];
  });
}

function toUserPart(part: Part): SdkUserPart[] {
  if (part.type === "text") return [{ type: "text", text: part.text }];
  if (part.type === "image" || part.type === "file") return [toMedia(part)];
  return [];
}

/** Chat completions take images and video by reference; anything else is named in words rather than refused. */
function toMedia(part: MediaPart): SdkUserPart {
  const topLevel = part.type === "image" ? "image" : part.media_type.split("/")[0];
  const url = URL.parse(part.url);
  if (!url || (topLevel !== "image" && topLevel !== "video")) {
    return { type: "text", text: `[file: ${part.name ?? part.media_type} (${part.media_type}) ${part.url}]` };
  }
  return { type: "file", mediaType: topLevel, data: { type: "url", url } };
}

function toAssistantPart(part: Part): SdkAssistantPart[] {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text }];
    case "reasoning":
      // Thinking goes back only where the provider asked for it: many refuse a `reasoning_content` they did not sign.
      return part.provider_metadata?.[PROVIDER_NAME] === undefined ? [] : [{ type: "reasoning", text: part.text }];
    case "tool_call":
      return [toSdkToolCall(part)];
    case "image":
    case "file":
    case "tool_result":
      return [];
    default:
      return assertNever(part);
  }
}

/**
 * The SDK would parse `input` and write text that is not JSON as a JSON string. The part's own options are spread
 * over the wire object instead, so that the arguments go back byte for byte as the model wrote them.
 */
function toSdkToolCall(part: ToolCallPart): SdkAssistantPart {
  const signature = thoughtSignature(part);
  return {
    type: "tool-call",
    toolCallId: part.call_id,
    toolName: part.name,
    input: {},
    providerOptions: {
      [PROVIDER_NAME]: { function: { name: part.name, arguments: part.arguments } },
      ...(signature === null ? {} : { google: { thoughtSignature: signature } }),
    },
  };
}
