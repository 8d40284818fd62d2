/** The rules that a schema cannot express, with the wording of a refusal by chat completions. */
import type { Refusal } from "../script.ts";
import type { ChatMessage } from "./chat-shape.ts";
import { refuseTooLong, refuseWith } from "./errors.ts";

/** Maximum length of a call's id. Compatible endpoints accept longer ones. */
export const MOST_CALL_ID = 40;

export function refuseMessages(messages: readonly ChatMessage[], { mostCallId }: { readonly mostCallId: number }): Refusal | null {
  if (messages.length === 0)
    return refuseWith({
      message: "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      param: "messages",
      code: "empty_array",
    });
  for (const [place, message] of messages.entries()) {
    const refusal = refuseMessage(message, { place, messages, mostCallId });
    if (refusal) return refusal;
  }
  return null;
}

/** A call without the thinking that led to it, as Moonshot refuses it. */
export function refuseThoughtless(messages: readonly ChatMessage[]): Refusal | null {
  const place = messages.findIndex(
    (message) =>
      message.role === "assistant" &&
      message.tool_calls !== undefined &&
      !("reasoning_content" in message && message.reasoning_content?.trim()),
  );
  if (place < 0) return null;
  const message = `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${place}`;
  return { status: 400, body: { error: { message, type: "invalid_request_error" } } };
}

interface At {
  readonly place: number;
  readonly messages: readonly ChatMessage[];
  readonly mostCallId: number;
}

function refuseMessage(message: ChatMessage, at: At): Refusal | null {
  const path = `messages[${at.place}]`;
  switch (message.role) {
    case "assistant":
      return refuseAssistant(message, at);
    case "tool": {
      if (callsBefore(at)?.includes(message.tool_call_id)) return null;
      return refuseWith({
        message: "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        param: `${path}.role`,
      });
    }
    case "user":
      return refuseFiles(message, path);
    default:
      return null;
  }
}

function refuseAssistant(message: Extract<ChatMessage, { role: "assistant" }>, { place, messages, mostCallId }: At): Refusal | null {
  const path = `messages[${place}]`;
  const calls = message.tool_calls ?? [];
  if (calls.length === 0 && (message.content === undefined || message.content === null)) {
    return refuseWith({ message: `Invalid value for 'content': expected a string, got null.`, param: `${path}.content` });
  }
  for (const [index, { id }] of calls.entries()) {
    const long = refuseTooLong({ path: `${path}.tool_calls[${index}].id`, value: id, most: mostCallId });
    if (long) return long;
  }
  const answered = resultsAfter(messages, place);
  const open = calls.map(({ id }) => id).filter((id) => !answered.includes(id));
  if (open.length === 0) return null;
  return refuseWith({
    message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(", ")}`,
    param: `messages.[${place + 1}].role`,
  });
}

/** The results directly after a message, before any other message. */
function resultsAfter(messages: readonly ChatMessage[], place: number): readonly string[] {
  const rest = messages.slice(place + 1);
  const end = rest.findIndex(({ role }) => role !== "tool");
  return (end === -1 ? rest : rest.slice(0, end)).flatMap((message) => (message.role === "tool" ? [message.tool_call_id] : []));
}

function callsBefore({ messages, place }: At): readonly string[] | null {
  const before = messages.slice(0, place).findLast(({ role }) => role !== "tool");
  return before?.role === "assistant" ? (before.tool_calls ?? []).map(({ id }) => id) : null;
}

function refuseFiles(message: Extract<ChatMessage, { role: "user" }>, path: string): Refusal | null {
  if (typeof message.content === "string") return null;
  const wrong = message.content.findIndex(
    (part) => part.type === "file" && !part.file.file_id && !part.file.file_data?.startsWith("data:"),
  );
  if (wrong === -1) return null;
  return refuseWith({
    message: `Invalid value: '${path}.content[${wrong}].file'. Expected a base64-encoded data URL with an application/pdf MIME type (e.g. 'data:application/pdf;base64,aW1nIGJ5dGVzIGhlcmU='), or a file id.`,
    param: `${path}.content[${wrong}].file`,
    code: "invalid_value",
  });
}
