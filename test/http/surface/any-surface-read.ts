/** One conversation read back through every surface that lists messages, in one form. */
import type { DisplayItem } from "../../../src/contract/item";
import type { Talk } from "./any-surface-talk";

/** What each surface can express, in order. A call has its result. `result` null: there is none. */
export type Said =
  | { readonly who: "user" | "assistant"; readonly text: string }
  | { readonly who: "reasoning"; readonly text: string }
  | { readonly who: "call"; readonly name: string; readonly input: unknown; readonly result: unknown; readonly failed: boolean };

/** JSON text as what it stands for: some surfaces carry values, others text. */
export function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

interface Run {
  readonly who: "user" | "assistant" | "reasoning";
  text: string;
}

/** Neighbouring texts of one speaker in one message are one text. */
function joinRuns(parts: readonly Run[]): Said[] {
  const joined: Run[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last?.who === part.who) last.text += part.text;
    else joined.push({ ...part });
  }
  return joined.filter(({ text }) => text !== "");
}

export const readText = ({ content }: Pick<DisplayItem, "content">): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("");

export async function listItems(talk: Talk, limit = 7): Promise<readonly DisplayItem[]> {
  const items: DisplayItem[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const page = await talk.native("GET", `/messages?limit=${limit}${after === "" ? "" : `&after=${after}`}`);
    items.push(...page.data);
    after = page.next_cursor;
  }
  return items;
}

export async function readNative(talk: Talk): Promise<Said[]> {
  const items = await listItems(talk);
  const results = new Map(items.flatMap((item) => (item.execution_id ? [[item.execution_id, item] as const] : [])));
  return items.flatMap((item): Said[] => {
    if (item.role === "tool" || item.role === "system") return [];
    const who = item.role;
    const parts = item.content.flatMap((part): Run[] => {
      if (part.type === "text") return [{ who, text: part.text }];
      return part.type === "reasoning" ? [{ who: "reasoning", text: part.text }] : [];
    });
    const calls = (item.tool_calls ?? []).map((call): Said => {
      const result = results.get(call.execution_id);
      return toCall(call.name, call.arguments, result ? { text: readText(result), failed: result.is_error === true } : null);
    });
    return [...joinRuns(parts), ...calls];
  });
}

const toCall = (name: string, written: string, result: { readonly text: string; readonly failed: boolean } | null): Said => ({
  ...{ who: "call", name, input: readValue(written) },
  ...{ result: result === null ? null : readValue(result.text), failed: result?.failed ?? false },
});

interface Item {
  readonly id: string;
  readonly type: string;
  readonly role?: "user" | "assistant";
  readonly status?: string;
  readonly content?: readonly { readonly text: string }[];
  readonly summary?: readonly { readonly text: string }[];
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly output?: string;
}

export async function readConversation(talk: Talk): Promise<Said[]> {
  const items: Item[] = [];
  const path = `/v1/conversations/conv_${talk.session.slice(4)}/items?order=asc&limit=5`;
  for (let after: string | null = ""; after !== null; ) {
    const page = await talk.ask("GET", `${path}${after === "" ? "" : `&after=${after}`}`);
    items.push(...page.data);
    after = page.has_more ? page.last_id : null;
  }
  const outputs = new Map(items.flatMap((item) => (item.type === "function_call_output" ? [[item.call_id, item] as const] : [])));
  return items.flatMap((item): Said[] => {
    if (item.type === "function_call") {
      const result = outputs.get(item.call_id);
      return [
        toCall(
          item.name ?? "",
          item.arguments ?? "",
          result ? { text: result.output ?? "", failed: result.status === "incomplete" } : null,
        ),
      ];
    }
    const texts = (item.content ?? item.summary ?? []).map(({ text }) => text).join("");
    if (texts === "" || item.type === "function_call_output") return [];
    return [{ who: item.type === "reasoning" ? "reasoning" : (item.role ?? "user"), text: texts }];
  });
}

interface UiPart {
  readonly type: string;
  readonly text?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly errorText?: string;
}

/** What a page is shown for a call that ended without a result. */
const NO_RESULT = /^The (?:call was cancelled|result of the call is not known)/;

export async function readUi(talk: Talk): Promise<Said[]> {
  const found: { role: "user" | "assistant"; parts: UiPart[] }[] = [];
  for (let before: number | null = 0; before !== null; ) {
    const page = await talk.ask("GET", `/api/chat/${talk.session}/messages${before === 0 ? "" : `?before=${before}`}`);
    found.unshift(...page.messages);
    before = page.next_before;
  }
  return found.flatMap(({ role, parts }) =>
    parts.flatMap((part) => (part.type.startsWith("tool-") ? [toUiCall(part)] : toUiText(part, role))),
  );
}

function toUiText({ type, text = "" }: UiPart, role: "user" | "assistant"): Said[] {
  if (text === "" || (type !== "text" && type !== "reasoning")) return [];
  return [{ who: type === "text" ? role : "reasoning", text }];
}

function toUiCall({ type, input, output = null, errorText }: UiPart): Said {
  const failed = errorText !== undefined && !NO_RESULT.test(errorText);
  return { who: "call", name: type.slice("tool-".length), input, result: failed ? readValue(errorText) : output, failed };
}

interface McpMessage {
  readonly position: number;
  readonly role: "user" | "assistant" | "tool" | "system";
  readonly text: string;
  readonly is_error: boolean;
  readonly tool_calls: readonly { readonly execution_id: string; readonly name: string; readonly arguments: string }[];
}

export async function readMcp(talk: Talk): Promise<McpMessage[]> {
  const messages: McpMessage[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const page = await talk.tool("read_messages", { order: "asc", limit: 3, ...(after > 0 && { after }) });
    messages.push(...page.messages);
    after = page.next_after;
  }
  return messages;
}

/** The heads of a transcript's messages, as positions and roles. What a message says is indented, so that it is no head. */
export async function readTranscript(talk: Talk): Promise<string[]> {
  const heads: string[] = [];
  for (let uri: string | undefined = `longhand://sessions/${talk.session}/transcript`; uri !== undefined; ) {
    const { result } = await talk.ask("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri } });
    const [{ text }] = result.contents;
    for (const [, position, role] of text.matchAll(/^\[(\d+)\] (\w+)/gm)) heads.push(`${position} ${role}`);
    uri = /^The transcript goes on: (\S+)$/m.exec(text)?.[1];
  }
  return heads;
}

/** A stored response, as it is read today. */
export async function readStored(
  talk: Talk,
  id: string,
): Promise<{ readonly output: unknown; readonly given: readonly (string | undefined)[] }> {
  const { output } = await talk.ask("GET", `/v1/responses/${id}`);
  const { data }: { readonly data: readonly Item[] } = await talk.ask("GET", `/v1/responses/${id}/input_items?order=asc&limit=100`);
  return { output, given: data.map((item) => item.output ?? item.content?.map(({ text }) => text).join("")) };
}
