/**
 * Our messages as OpenAI's items. A reply is several items: its reasoning, its text and each of its calls. A call that the server ran is
 * one item with its result. `read-items.ts` is the way back.
 */
import type { DisplayItem } from "../../../contract/item";
import type { ExecutionId } from "../../../domain/ids";
import { type ContentItem, type OpenAiItem, type ServerCallItem, toItemName } from "./item-types";

/** What calls of the server carry as their MCP server, wherever their tools are. */
const SERVER_LABEL = "longhand";

interface WhoRan {
  /** The calls that the server ran. */
  readonly ranHere: ReadonlySet<ExecutionId>;
}

type Part = DisplayItem["content"][number];
type Call = NonNullable<DisplayItem["tool_calls"]>[number];

/** `messages`: in order of position. The results of the server's calls must be among them, else their items have no output. */
export function toOpenAiItems(messages: readonly DisplayItem[], { ranHere }: WhoRan): readonly OpenAiItem[] {
  const results = new Map(messages.flatMap((message) => (message.execution_id ? [[message.execution_id, message] as const] : [])));
  return messages.flatMap((message): readonly OpenAiItem[] => {
    if (message.role === "assistant") return toReplyItems(message, { ranHere, results });
    if (message.role !== "tool") return [toMessageItem(message, message.content)];
    return message.execution_id && ranHere.has(message.execution_id) ? [] : [toOutputItem(message)];
  });
}

const toStatus = ({ incomplete }: DisplayItem) => (incomplete ? "incomplete" : "completed");

function toMessageItem(message: DisplayItem, parts: readonly Part[], nth = 1): OpenAiItem {
  const { id, role } = message;
  const content = parts.flatMap((part) => toContent(part, role));
  return { type: "message", id: toItemName("msg", id, nth), role: role === "tool" ? "user" : role, status: toStatus(message), content };
}

function toContent(part: Part, role: DisplayItem["role"]): readonly ContentItem[] {
  if (part.type === "reasoning") return [];
  if (part.type === "text") {
    const { text } = part;
    return [role === "assistant" ? { type: "output_text", text, annotations: [] } : { type: "input_text", text }];
  }
  const [url, file] = "url" in part ? [part.url, null] : [null, part.file_id];
  if (part.type === "image") return [{ type: "input_image", detail: "auto", image_url: url, file_id: file }];
  const named = part.name === undefined ? {} : { filename: part.name };
  return [{ type: "input_file", ...(url !== null && { file_url: url }), ...(file !== null && { file_id: file }), ...named }];
}

interface Reply extends WhoRan {
  readonly results: ReadonlyMap<ExecutionId, DisplayItem>;
}

function toReplyItems(message: DisplayItem, reply: Reply): readonly OpenAiItem[] {
  const { content, tool_calls: calls = [] } = message;
  const seen = { reasoning: 0, said: 0 };
  const said = joinRuns(content).map((run) =>
    run.isReasoning ? toReasoningItem(message, run.parts, ++seen.reasoning) : toMessageItem(message, run.parts, ++seen.said),
  );
  // A reply that was cut off before its first word is shown all the same.
  const begun = said.length === 0 && calls.length === 0 ? [toMessageItem(message, [])] : said;
  return [...begun, ...calls.map((call) => toCallItem(message, call, reply))];
}

/** Neighbouring parts that become one item. */
function joinRuns(content: readonly Part[]): { readonly isReasoning: boolean; readonly parts: readonly Part[] }[] {
  const runs: { readonly isReasoning: boolean; readonly parts: Part[] }[] = [];
  for (const part of content) {
    const isReasoning = part.type === "reasoning";
    const last = runs.at(-1);
    if (last?.isReasoning === isReasoning) last.parts.push(part);
    else runs.push({ isReasoning, parts: [part] });
  }
  return runs;
}

function toReasoningItem(message: DisplayItem, parts: readonly Part[], nth: number): OpenAiItem {
  const summary = parts.flatMap((part) => (part.type === "reasoning" ? [{ type: "summary_text" as const, text: part.text }] : []));
  return { type: "reasoning", id: toItemName("rs", message.id, nth), status: toStatus(message), summary };
}

function toCallItem(message: DisplayItem, call: Call, { ranHere, results }: Reply): OpenAiItem {
  const { id, call_id, name, arguments: given, execution_id } = call;
  if (ranHere.has(execution_id)) return toServerCall(call, results.get(execution_id));
  return { type: "function_call", id: toItemName("fc", id), call_id, name, arguments: given, status: toStatus(message) };
}

function toServerCall({ id, name, arguments: given }: Call, result: DisplayItem | undefined): ServerCallItem {
  const call = { type: "mcp_call", id: toItemName("mcp", id), server_label: SERVER_LABEL, name, arguments: given } as const;
  if (!result) return { ...call, output: null, error: null, status: "incomplete" };
  const text = toOutput(result);
  if (!result.is_error) return { ...call, output: text, error: null, status: "completed" };
  return { ...call, output: null, error: { type: "mcp_tool_execution_error", content: [{ type: "text", text }] }, status: "failed" };
}

const toOutput = ({ content }: DisplayItem): string => content.map((part) => (part.type === "text" ? part.text : "")).join("");

const toOutputItem = (message: DisplayItem): OpenAiItem => ({
  type: "function_call_output",
  id: toItemName("fco", message.id),
  call_id: message.call_id ?? "",
  output: toOutput(message),
  status: message.is_error ? "incomplete" : "completed",
});
