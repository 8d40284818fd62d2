/** Refusals of a session in the words and fields of a request to the Anthropic API. */
import type { ToolCallView } from "../../contract/tool";
import type { HttpError } from "../problem";
import type { WrittenAt } from "../surface/written";
import { toTheirField } from "./asked-with";
import { toToolUseId } from "./read-blocks";
import type { CopiedBlocks } from "./read-copy";

/** What of the request was sent to the session, and the calls that it waits for. */
interface Sent {
  readonly results: readonly CopiedBlocks[];
  readonly messages: readonly WrittenAt[];
  readonly open: readonly Pick<ToolCallView, "id" | "runs">[];
}

const invalid = (field: string, detail: string): HttpError => ({ code: "invalid_request", errors: [{ field, detail }] });

export function toTheirError(error: HttpError, sent: Sent): HttpError {
  if (error.code === "invalid") return { ...error, field: toRequestField(error.field, sent) };
  if (error.code === "call_not_open") {
    const at = error.index === null ? undefined : sent.results[error.index];
    const detail = `unexpected tool_use_id in a tool_result: ${at?.answers ?? error.call}. No such call is open`;
    return invalid(at ? `${at.field}.tool_use_id` : "messages", detail);
  }
  if (error.code !== "calls_unanswered") return error;
  const field = sent.messages[0]?.field ?? sent.results[0]?.field ?? "messages";
  const ofPeople = new Set<string>(sent.open.flatMap(({ id, runs }) => (runs === "server" ? [id] : [])));
  const owed = error.calls.filter(({ execution }) => !ofPeople.has(execution));
  if (owed.length === 0) return invalid(field, WAITING);
  const names = owed.map(({ execution }) => toToolUseId(execution)).join(", ");
  return invalid(field, `tool_use ids were found without tool_result blocks: ${names}`);
}

const WAITING =
  "the turn before waits for a person's approval of a call: send the assistant's content back as the last message to go on with it, or stop the turn";

/** `messages.1.call_id` of what was written is a result in another message of the request. */
function toRequestField(field: string, { messages }: Sent): string {
  const [, index, rest] = /^messages\.(\d+)(?:\.(.+))?$/.exec(field) ?? [];
  if (index === undefined) return toTheirField(field);
  const name = rest === "call_id" ? "tool_use_id" : rest;
  return [messages[Number(index)]?.field ?? `messages.${index}`, ...(name === undefined ? [] : [name])].join(".");
}
