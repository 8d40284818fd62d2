/**
 * Our messages as OpenAI's items. A reply is several items: its reasoning, its text and each of its calls. A call that the server ran is
 * one item with its result. `read-items.ts` is the way back.
 */

import { isOfferedName } from "../../../app/tools/offer-tools";
import type { DisplayItem } from "../../../contract/item";
import type { ExecutionId, ItemId, SessionId } from "../../../domain/ids";
import type { AskedCall, WhoRuns } from "../../surface/read-runs";
import { type CallForms, readTextArguments } from "./call-forms";
import { toItemName } from "./item-names";
import type { ApprovalResponseItem, CompactionItem, ContentItem, OpenAiItem, ServerCallItem } from "./item-types";

/** What calls of the server carry as their MCP server, unless their response was asked with the server. */
const SERVER_LABEL = "longhand";

/** What the items of one session are shown with. */
export interface ShownIn extends WhoRuns {
  readonly session: SessionId;
  /** The compactions before responses, by the first message of each. Absent: none is shown. */
  readonly compactions?: ReadonlyMap<ItemId, CompactionItem>;
  /** The MCP servers that the response was asked with. Clients look for their calls by these names. Absent: none. */
  readonly servers?: readonly string[];
  /** The forms of the tools that the response was asked with. Absent: all calls are shown as functions. */
  readonly forms?: CallForms;
}

const toLabel = (tool: string, { servers = [] }: Pick<ShownIn, "servers">): string =>
  servers.filter((server) => isOfferedName(server, tool)).toSorted((one, other) => other.length - one.length)[0] ?? SERVER_LABEL;

type Part = DisplayItem["content"][number];
type Call = NonNullable<DisplayItem["tool_calls"]>[number];

/** `messages`: in order of position. The results of the server's calls must be among them, else their items have no output. */
export const toOpenAiItems = (messages: readonly DisplayItem[], shown: ShownIn): readonly OpenAiItem[] =>
  toEveryItem(messages, shown).flatMap(({ item, isDeleted }) => (isDeleted ? [] : [item]));

export interface PlacedItem {
  readonly item: OpenAiItem;
  /** Its content was deleted. No list has it, and it keeps its place. */
  readonly isDeleted: boolean;
}

/** The items with those that were deleted. */
export function toEveryItem(messages: readonly DisplayItem[], shown: ShownIn): readonly PlacedItem[] {
  const { session, ranHere, approvals } = shown;
  const results = new Map(messages.flatMap((message) => (message.execution_id ? [[message.execution_id, message] as const] : [])));
  return messages.flatMap((message): readonly PlacedItem[] => {
    const before = shown.compactions?.get(message.id);
    if (message.role === "assistant") return [...(before ? [place(before, {})] : []), ...toReplyItems(message, { ...shown, results })];
    if (message.role !== "tool") return [place(toMessageItem(message, { session, parts: message.content }), message)];
    const call = message.execution_id && approvals.get(message.execution_id);
    if (call) return [place(toApprovedCall(call, message, shown), message)];
    return message.execution_id && ranHere.has(message.execution_id) ? [] : [place(toOutputItem(message, session), message)];
  });
}

const place = (item: OpenAiItem, { redacted = false }: { readonly redacted?: boolean | undefined }): PlacedItem => ({
  item,
  isDeleted: redacted,
});

/** Neighbouring parts of a message that are one item. */
interface ItemParts {
  readonly session: SessionId;
  readonly parts: readonly Part[];
  readonly nth?: number;
}

function toMessageItem(message: DisplayItem, { session, parts, nth = 1 }: ItemParts): OpenAiItem {
  const { id, role } = message;
  const content = parts.flatMap((part) => toContent(part, role));
  const name = toItemName({ prefix: "msg", session, id, nth });
  return { type: "message", id: name, role: role === "tool" ? "user" : role, status: "completed", content };
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

interface Reply extends ShownIn {
  readonly results: ReadonlyMap<ExecutionId, DisplayItem>;
}

function toReplyItems(message: DisplayItem, reply: Reply): readonly PlacedItem[] {
  const { content, tool_calls: calls = [] } = message;
  const { session } = reply;
  const seen = { reasoning: 0, said: 0 };
  const said = joinAlike(content).map(({ isReasoning, parts }, index) => {
    const item = isReasoning
      ? toReasoningItem(message, { session, parts, nth: ++seen.reasoning })
      : toMessageItem(message, { session, parts, nth: ++seen.said });
    // One placeholder stands for all that the reply said. The reasoning behind it is of its calls.
    return place(item, index === 0 ? message : {});
  });
  // A reply that was cut off before its first word is shown all the same.
  const begun = said.length === 0 && calls.length === 0 ? [place(toMessageItem(message, { session, parts: [] }), message)] : said;
  const items = [...begun, ...calls.flatMap((call) => toCallItems(call, reply).map((item) => place(item, call)))];
  return message.incomplete ? breakOff(items) : items;
}

/** A reply that was cut off broke off in its last item. The items of calls that the server runs have no word for that. */
function breakOff(items: readonly PlacedItem[]): readonly PlacedItem[] {
  const last = items.findLastIndex(({ item }) => isOfReply(item));
  return items.map(({ item, isDeleted }, index) => ({
    item: index === last && isOfReply(item) ? { ...item, status: "incomplete" } : item,
    isDeleted,
  }));
}

type ReplyItem = Extract<OpenAiItem, { type: "message" | "reasoning" | "function_call" | "custom_tool_call" }>;
const isOfReply = (item: OpenAiItem): item is ReplyItem =>
  item.type === "message" || item.type === "reasoning" || item.type === "function_call" || item.type === "custom_tool_call";

/** Neighbouring parts that become one item. */
export function joinAlike(content: readonly Part[]): { readonly isReasoning: boolean; readonly parts: readonly Part[] }[] {
  const runs: { readonly isReasoning: boolean; readonly parts: Part[] }[] = [];
  for (const part of content) {
    const isReasoning = part.type === "reasoning";
    const last = runs.at(-1);
    if (last?.isReasoning === isReasoning) last.parts.push(part);
    else runs.push({ isReasoning, parts: [part] });
  }
  return runs;
}

function toReasoningItem(message: DisplayItem, { session, parts, nth = 1 }: ItemParts): OpenAiItem {
  const summary = parts.flatMap((part) => (part.type === "reasoning" ? [{ type: "summary_text" as const, text: part.text }] : []));
  return { type: "reasoning", id: toItemName({ prefix: "rs", session, id: message.id, nth }), status: "completed", summary };
}

function toCallItems(call: Call, reply: Reply): readonly OpenAiItem[] {
  const { session, ranHere, approvals, results } = reply;
  const { id, call_id, name, arguments: given, execution_id } = call;
  const waited = approvals.get(execution_id);
  if (waited) return [toApprovalRequest(waited, reply), ...toApprovalResponses(waited, session)];
  if (ranHere.has(execution_id))
    return [toServerCall(call, { id: toItemName({ prefix: "mcp", session, id }), result: results.get(execution_id), shown: reply })];
  return [toClientCall({ id: toItemName({ prefix: "fc", session, id }), call_id, name, arguments: given }, reply)];
}

type NamedCall = Pick<Extract<OpenAiItem, { type: "function_call" }>, "id" | "call_id" | "name" | "arguments">;

function toClientCall({ id, call_id, name, arguments: given }: NamedCall, { forms }: Pick<ShownIn, "forms">): OpenAiItem {
  const form = forms?.get(name) ?? { type: "function", name, namespace: null };
  const named = { id, call_id, name: form.name, ...(form.namespace !== null && { namespace: form.namespace }) };
  if (form.type === "custom") return { type: "custom_tool_call", ...named, input: readTextArguments(given), status: "completed" };
  return { type: "function_call", ...named, arguments: given, status: "completed" };
}

const toRequestName = ({ item: id }: AskedCall, session: SessionId): string => toItemName({ prefix: "mcpr", session, id });

function toApprovalRequest(call: AskedCall, shown: ShownIn): OpenAiItem {
  const { name, arguments: given } = call;
  const [id, server_label] = [toRequestName(call, shown.session), toLabel(name, shown)];
  return { type: "mcp_approval_request", id, server_label, name, arguments: given };
}

/** The person's answer to the request. Empty until there is one. */
export function toApprovalResponses(call: AskedCall, session: SessionId): readonly ApprovalResponseItem[] {
  if (call.approved === null) return [];
  const id = toItemName({ prefix: "mcpa", session, id: call.item });
  const approval_request_id = toRequestName(call, session);
  return [{ type: "mcp_approval_response", id, approval_request_id, approve: call.approved, reason: null }];
}

/** The call begins after its approval, so that it stands where its result is. */
const toApprovedCall = (call: AskedCall, result: DisplayItem, shown: ShownIn): OpenAiItem => ({
  ...toServerCall(call, { id: toItemName({ prefix: "mcp", session: shown.session, id: result.id }), result, shown }),
  approval_request_id: toRequestName(call, shown.session),
});

interface Ran {
  readonly id: string;
  readonly result: DisplayItem | undefined;
  readonly shown: ShownIn;
}

function toServerCall({ name, arguments: given }: Pick<Call, "name" | "arguments">, { id, result, shown }: Ran): ServerCallItem {
  const call = { type: "mcp_call", id, server_label: toLabel(name, shown), name, arguments: given } as const;
  if (!result) return { ...call, output: null, error: null, status: "incomplete" };
  const text = toOutput(result);
  if (!result.is_error) return { ...call, output: text, error: null, status: "completed" };
  return { ...call, output: null, error: { type: "mcp_tool_execution_error", content: [{ type: "text", text }] }, status: "failed" };
}

const toOutput = ({ content }: DisplayItem): string => content.map((part) => (part.type === "text" ? part.text : "")).join("");

const toOutputItem = (message: DisplayItem, session: SessionId): OpenAiItem => ({
  type: "function_call_output",
  id: toItemName({ prefix: "fco", session, id: message.id }),
  call_id: message.call_id ?? "",
  output: toOutput(message),
  status: message.is_error ? "incomplete" : "completed",
});
