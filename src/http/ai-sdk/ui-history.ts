/** A conversation as the AI SDK's messages: what a page loads before it goes on. */
import type { ExecutionView } from "../../contract/execution";
import type { DisplayItem } from "../../contract/item";
import { assertNever } from "../../lib/assert-never";
import { joinRuns, nameReasoning, readJson, type ToolPart, type ToolState, type UiMessage, type UiPart } from "./ui-message";

interface History {
  /** In order of position. */
  readonly items: readonly DisplayItem[];
  /** The calls of these items. */
  readonly executions: readonly ExecutionView[];
  /** An address of a stored file, which a browser opens without a key. */
  readonly addressFile: (file: string) => string;
}

/** The id that a client names a message by: its own, where it gave one. A turn's messages are one, and have the turn's id. */
const nameMessage = ({ id, role, client_id, turn_id }: DisplayItem): string =>
  role === "user" || role === "system" ? (client_id ?? id) : (turn_id ?? id);

export function toUiMessages(history: History): readonly UiMessage[] {
  return groupByMessage(history.items).map((items) => toUiMessage(items, history));
}

/** Items that are one message to the client: each message of a person, and the replies and results of a turn. */
export function groupByMessage(items: readonly DisplayItem[]): readonly (readonly [DisplayItem, ...DisplayItem[]])[] {
  const groups: [DisplayItem, ...DisplayItem[]][] = [];
  for (const item of items) {
    const group = groups.at(-1);
    if (group && continues(item, group)) group.push(item);
    else groups.push([item]);
  }
  return groups;
}

function continues(item: DisplayItem, [first, ...rest]: readonly [DisplayItem, ...DisplayItem[]]): boolean {
  if (isSaid(item) || isSaid(first) || item.turn_id !== first.turn_id) return false;
  // Imported replies have no turn: one goes on only behind the results of its calls.
  return item.turn_id !== null || item.role === "tool" || (rest.at(-1) ?? first).role === "tool";
}

const isSaid = ({ role }: DisplayItem): boolean => role === "user" || role === "system";

function toUiMessage(items: readonly [DisplayItem, ...DisplayItem[]], history: History): UiMessage {
  const [first] = items;
  const id = nameMessage(first);
  if (first.role === "user" || first.role === "system") {
    const metadata = Object.keys(first.metadata).length > 0 ? { metadata: first.metadata } : {};
    return { id, role: first.role, ...metadata, parts: toSaidParts(first, history) };
  }
  const results = new Map(items.flatMap((item) => (item.execution_id ? [[item.execution_id, item] as const] : [])));
  const replies = items.filter(
    ({ role, content, tool_calls = [] }) => role === "assistant" && joinRuns(content).length + tool_calls.length > 0,
  );
  return { id, role: "assistant", parts: replies.flatMap((reply, step) => toStep(reply, step, { results, history })) };
}

function toSaidParts({ content }: DisplayItem, { addressFile }: History): UiPart[] {
  return content.flatMap((part): UiPart[] => {
    if (part.type === "reasoning") return [];
    if (part.type === "text") return [{ type: "text", text: part.text }];
    const url = "url" in part ? part.url : addressFile(part.file_id);
    return [{ type: "file", mediaType: part.media_type, url, ...(part.name !== undefined && { filename: part.name }) }];
  });
}

interface Recorded {
  readonly results: ReadonlyMap<string, DisplayItem>;
  readonly history: History;
}

function toStep({ content, tool_calls = [] }: DisplayItem, step: number, recorded: Recorded): UiPart[] {
  const said = joinRuns(content).map(({ type, text }, nth): UiPart => {
    return type === "text" ? { type, text, state: "done" } : { type, id: nameReasoning(step, nth), text, state: "done" };
  });
  return [{ type: "step-start" }, ...said, ...tool_calls.map((call) => toToolPart(call, recorded))];
}

type Call = NonNullable<DisplayItem["tool_calls"]>[number];

function toToolPart(call: Call, { results, history }: Recorded): ToolPart {
  const execution = history.executions.find(({ id }) => id === call.execution_id);
  const state = toState(call, { status: execution?.status ?? "unknown", result: results.get(call.execution_id) });
  const shared = { toolCallId: call.execution_id, ...state };
  if (execution?.runs === "client") return { type: `tool-${call.name}`, ...shared };
  return { type: "dynamic-tool", toolName: call.name, ...shared, providerExecuted: true };
}

const NO_RESULT: Readonly<Record<"cancelled" | "unknown", string>> = {
  cancelled: "The call was cancelled: its turn ended before it had a result.",
  unknown: "The result of the call is not known.",
};

interface Outcome {
  readonly status: ExecutionView["status"];
  readonly result: DisplayItem | undefined;
}

function toState(call: Call, { status, result }: Outcome): ToolState {
  const input = readJson(call.arguments);
  const approval = { id: call.execution_id };
  if (status === "denied") return { state: "output-denied", input, approval: { ...approval, approved: false } };
  if (result) return toAnswered(input, result);
  switch (status) {
    case "awaiting_approval":
      return { state: "approval-requested", input, approval };
    case "open":
    case "running":
      return { state: "input-available", input };
    // A result that is on no page of these items is as good as none.
    case "succeeded":
    case "failed":
    case "unknown":
      return { state: "output-error", input, errorText: NO_RESULT.unknown };
    case "cancelled":
      return { state: "output-error", input, errorText: NO_RESULT.cancelled };
    default:
      return assertNever(status);
  }
}

function toAnswered(input: unknown, { content, is_error }: DisplayItem): ToolState {
  const text = content.map((part) => ("text" in part ? part.text : "")).join("");
  return is_error ? { state: "output-error", input, errorText: text } : { state: "output-available", input, output: readJson(text) };
}
