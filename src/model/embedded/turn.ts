/** Sorts the content of a request by what the embedded model does with it. */
import type { ChatMessage, ModelRequest } from "../../app/ports";
import type { ToolCallPart, ToolResultPart } from "../../domain/message";
import { splitSentences } from "../text-matching";
import { isQuestion, readMessageText } from "./message-text";

/** A call with its result. */
export interface Answered {
  readonly call: ToolCallPart;
  readonly result: ToolResultPart;
}

export interface Turn {
  readonly request: ModelRequest;
  readonly asked: ChatMessage | undefined;
  /** All text of the user's last message. */
  readonly said: string;
  /** The questions in that message, without the execution id. */
  readonly asking: string;
  /** The execution id that the message names; null when it names none. */
  readonly execution: string | null;
  /** Calls before and after the user's last message, oldest first. */
  readonly before: readonly Answered[];
  readonly since: readonly Answered[];
  /** The results of the last round of calls. */
  readonly latest: readonly ToolResultPart[];
}

export const RECALL = "memory_query";

export const isRecall = ({ name }: { readonly name: string }): boolean => name === RECALL;

/** Matches what the view shows in place of a cleared result (`context/view`). */
const CLEARED = /^\[Tool [^\n]*\]: (?:OK|FAILED) - \[Old tool result content cleared \(execution_id: (exe_\w+)\)/;

/** The execution id of a cleared result. Null when the result is shown. */
export const readClearedExecution = ({ result }: Answered): string | null => CLEARED.exec(result.output)?.[1] ?? null;

export const describe = ({ call }: Answered): string => `${call.name} ${call.arguments}`;

const EXECUTION = /\bexe_\w+/;

export function readEmbeddedTurn(request: ModelRequest): Turn {
  const { messages } = request;
  const place = messages.findLastIndex(({ role }) => role === "user");
  const asked = messages[place];
  const said = asked ? readMessageText(asked) : "";
  const execution = EXECUTION.exec(said)?.[0] ?? null;
  // The id says where to look; it is no part of the question.
  const asking = splitSentences(said).filter(isQuestion).join(" ").replace(EXECUTION, "");
  const before = answeredIn(messages.slice(0, Math.max(0, place)));
  const since = answeredIn(messages.slice(place + 1));
  return { request, asked, said, asking, execution, before, since, latest: latestResults(messages.slice(place + 1)) };
}

/** Pairs calls with their results. Call ids may repeat: a result answers the newest call with its id. */
function answeredIn(messages: readonly ChatMessage[]): readonly Answered[] {
  const calls = new Map<string, ToolCallPart>();
  const answered: Answered[] = [];
  for (const part of messages.flatMap(({ parts }) => parts)) {
    if (part.type === "tool_call") calls.set(part.call_id, part);
    const call = part.type === "tool_result" ? calls.get(part.call_id) : undefined;
    if (part.type === "tool_result" && call) answered.push({ call, result: part });
  }
  return answered;
}

function latestResults(messages: readonly ChatMessage[]): readonly ToolResultPart[] {
  const from = messages.findLastIndex(({ role }) => role !== "tool") + 1;
  return messages.slice(from).flatMap(({ parts }) => parts.filter((part) => part.type === "tool_result"));
}
