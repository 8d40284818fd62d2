/** The events of a response, numbered from 0. Each item is opened, filled and closed under one id and one index. */
import type { DisplayItem } from "../../../contract/item";
import type { CustomCallItem, OpenAiItem } from "../items/item-types";
import { type ShownIn, toOpenAiItems } from "../items/items";

/** An event without its number. */
export interface ResponseEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}
export interface NumberedEvent extends ResponseEvent {
  readonly sequence_number: number;
}

const PART = { type: "output_text", annotations: [], logprobs: [] } as const;

/** A message or reasoning that is being written. */
interface OpenItem {
  readonly kind: "text" | "reasoning";
  readonly id: string;
  readonly output_index: number;
  text: string;
  isOpen: boolean;
}

/** Writes the items of one response. */
export class ItemWriter {
  #count = 0;
  #events: ResponseEvent[] = [];

  /** The events since the last call. */
  take(): readonly ResponseEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  open(kind: OpenItem["kind"], id: string): OpenItem {
    const item: OpenItem = { kind, id, output_index: this.#count++, text: "", isOpen: true };
    const [place, opened] = [
      { item_id: id, output_index: item.output_index },
      { id, status: "in_progress" },
    ];
    if (kind === "text") {
      this.#add("output_item.added", {
        output_index: item.output_index,
        item: { type: "message", ...opened, role: "assistant", content: [] },
      });
      this.#add("content_part.added", { ...place, content_index: 0, part: { ...PART, text: "" } });
    } else {
      this.#add("output_item.added", { output_index: item.output_index, item: { type: "reasoning", ...opened, summary: [] } });
      this.#add("reasoning_summary_part.added", { ...place, summary_index: 0, part: { type: "summary_text", text: "" } });
    }
    return item;
  }

  append(item: OpenItem, delta: string): void {
    if (delta === "") return;
    item.text += delta;
    const place = { item_id: item.id, output_index: item.output_index };
    if (item.kind === "text") this.#add("output_text.delta", { ...place, content_index: 0, delta, logprobs: [] });
    else this.#add("reasoning_summary_text.delta", { ...place, summary_index: 0, delta });
  }

  close(item: OpenItem, status: "completed" | "incomplete"): void {
    if (!item.isOpen) return;
    item.isOpen = false;
    const { id, text, output_index } = item;
    const place = { item_id: id, output_index };
    if (item.kind === "text") {
      const part = { ...PART, text };
      this.#add("output_text.done", { ...place, content_index: 0, text, logprobs: [] });
      this.#add("content_part.done", { ...place, content_index: 0, part });
      const content = [{ type: "output_text", text, annotations: [] }];
      this.#add("output_item.done", { output_index, item: { type: "message", id, role: "assistant", status, content } });
    } else {
      const part = { type: "summary_text", text };
      this.#add("reasoning_summary_text.done", { ...place, summary_index: 0, text });
      this.#add("reasoning_summary_part.done", { ...place, summary_index: 0, part });
      this.#add("output_item.done", { output_index, item: { type: "reasoning", id, status, summary: [part] } });
    }
  }

  /** An item that is known as a whole. */
  write(item: OpenAiItem): void {
    const { id } = item;
    if (item.type === "message" || item.type === "reasoning") {
      const written = this.open(item.type === "message" ? "text" : "reasoning", id);
      this.append(written, readText(item));
      return this.close(written, item.status);
    }
    // Both are the client's, and no part of an output.
    if (item.type === "function_call_output" || item.type === "mcp_approval_response") return;
    const output_index = this.#count++;
    if (item.type === "mcp_approval_request" || item.type === "compaction") {
      this.#add("output_item.added", { output_index, item });
      return this.#add("output_item.done", { output_index, item });
    }
    if (item.type === "custom_tool_call") this.#writeTextCall(item, output_index);
    else this.#writeCall(item, output_index);
  }

  #writeTextCall(item: CustomCallItem, output_index: number): void {
    const { id, input } = item;
    const place = { item_id: id, output_index };
    this.#add("output_item.added", { output_index, item: { ...item, input: "", status: "in_progress" } });
    if (input !== "") this.#add("custom_tool_call_input.delta", { ...place, delta: input });
    this.#add("custom_tool_call_input.done", { ...place, input });
    this.#add("output_item.done", { output_index, item });
  }

  #writeCall(item: Extract<OpenAiItem, { type: "function_call" | "mcp_call" }>, output_index: number): void {
    const { id } = item;
    const place = { item_id: id, output_index };
    const begun = item.type === "mcp_call" ? { ...item, output: null, error: null } : item;
    this.#add("output_item.added", { output_index, item: { ...begun, arguments: "", status: "in_progress" } });
    const kind = item.type === "mcp_call" ? "mcp_call_arguments" : "function_call_arguments";
    if (item.type === "mcp_call") this.#add("mcp_call.in_progress", place);
    if (item.arguments !== "") this.#add(`${kind}.delta`, { ...place, delta: item.arguments });
    const name = item.type === "mcp_call" ? {} : { name: item.name };
    this.#add(`${kind}.done`, { ...place, ...name, arguments: item.arguments });
    if (item.type === "mcp_call") this.#add(item.status === "completed" ? "mcp_call.completed" : "mcp_call.failed", place);
    this.#add("output_item.done", { output_index, item });
  }

  #add(type: string, fields: object): void {
    this.#events.push({ type: `response.${type}`, ...fields });
  }
}

/** The text of a message, or of reasoning. */
export function readText(item: OpenAiItem): string {
  if (item.type === "message") return item.content.map((part) => ("text" in part ? part.text : "")).join("");
  return item.type === "reasoning" ? item.summary.map(({ text }) => text).join("") : "";
}

/**
 * The output of a response. A message of it is one text, however many blocks its provider wrote: a stream does not know where one ends.
 */
export function buildOutput(messages: readonly DisplayItem[], shown: ShownIn): readonly OpenAiItem[] {
  const items = toOpenAiItems(messages, shown).filter(({ type }) => type !== "mcp_approval_response");
  return items.map((item): OpenAiItem => {
    if (item.type === "message" && item.content.length > 1)
      return { ...item, content: [{ type: "output_text", text: readText(item), annotations: [] }] };
    return item.type === "reasoning" ? { ...item, summary: [{ type: "summary_text", text: readText(item) }] } : item;
  });
}
