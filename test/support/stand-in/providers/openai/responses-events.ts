/** A reply as the Responses API streams it. Every event has the SDK's type, or it does not compile. */
import type {
  Response,
  ResponseFunctionToolCall,
  ResponseOutputItem,
  ResponseOutputMessage,
  ResponseReasoningItem,
  ResponseStreamEvent,
  ResponseUsage,
} from "openai/resources/responses/responses";
import type { Ids } from "../mint.ts";
import { outputTokens, thinkingTokens } from "../reply-tokens.ts";
import { type Frame, type PromptUsage, type SaidBlock, type ScriptedReply, splitDeltas } from "../script.ts";
import { encryptedReasoning } from "./responses-rules.ts";

/** The SDK computes `output_text`, and `access_programs` is new and not always sent. */
type WireResponse = Omit<Response, "output_text" | "access_programs">;
type Numbered<E> = E extends { readonly response: Response }
  ? Omit<E, "response" | "sequence_number"> & { readonly response: WireResponse }
  : E extends unknown
    ? Omit<E, "sequence_number">
    : never;
export type WireEvent = Numbered<ResponseStreamEvent>;

/** The parts of the thinking that a request asked for. */
export interface Shown {
  readonly encrypted: boolean;
  /** Visible thinking, with one part for each paragraph. */
  readonly summaries: boolean;
}

export const toItems = (blocks: readonly SaidBlock[], ids: Ids, shown: Shown): readonly ResponseOutputItem[] =>
  blocks.map((block) => toItem(block, ids, shown));

type Item = ResponseReasoningItem | ResponseFunctionToolCall | ResponseOutputMessage;

function toItem(block: SaidBlock, ids: Ids, { encrypted, summaries }: Shown): Item {
  switch (block.type) {
    case "text":
      return {
        id: ids.next("msg_"),
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: block.text, annotations: [], logprobs: [] }],
      };
    case "thinking":
      return toReasoning({ id: ids.next("rs_"), summary: summaries ? block.text.split("\n\n") : [], encrypted });
    case "redacted":
      return toReasoning({ id: ids.next("rs_"), summary: [], encrypted });
    case "call":
      return {
        id: ids.next("fc_"),
        type: "function_call",
        status: "completed",
        call_id: ids.next("call_"),
        name: block.name,
        arguments: block.arguments,
      };
  }
}

const toReasoning = ({
  id,
  summary,
  encrypted,
}: {
  readonly id: string;
  readonly summary: readonly string[];
  readonly encrypted: boolean;
}): ResponseReasoningItem => ({
  id,
  type: "reasoning",
  summary: summary.map((text) => ({ type: "summary_text", text })),
  ...(encrypted ? { encrypted_content: encryptedReasoning(id, summary) } : {}),
});

export interface EventsInput {
  readonly reply: ScriptedReply;
  readonly items: readonly ResponseOutputItem[];
  readonly usage: PromptUsage;
  readonly response: { readonly id: string; readonly model: string; readonly maxOutput: number | null };
}

/** Consecutive events, each with its number. */
export class EventWriter {
  #next = 0;

  frame(event: WireEvent | { readonly type: string }): Frame {
    return { data: `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: this.#next++ })}\n\n` };
  }
}

export function toFrames(input: EventsInput, writer: EventWriter): readonly Frame[] {
  const open = toResponse(input, { status: "in_progress", output: [] });
  const ended = input.reply.finish === undefined ? "completed" : "incomplete";
  const done = toResponse(input, { status: ended, output: input.items });
  return [
    writer.frame({ type: "response.created", response: open }),
    writer.frame({ type: "response.in_progress", response: open }),
    ...input.items.flatMap((item, output_index) => itemEvents(item, output_index).map((event) => writer.frame(event))),
    {
      ...writer.frame(
        ended === "completed" ? { type: "response.completed", response: done } : { type: "response.incomplete", response: done },
      ),
      tail: true,
    },
  ];
}

export const toWhole = (input: EventsInput): WireResponse =>
  toResponse(input, { status: input.reply.finish === undefined ? "completed" : "incomplete", output: input.items });

function itemEvents(item: ResponseOutputItem, output_index: number): readonly WireEvent[] {
  switch (item.type) {
    case "message":
      return messageEvents(item, output_index);
    case "reasoning":
      return reasoningEvents(item, output_index);
    case "function_call":
      return callEvents(item, output_index);
    default:
      throw new TypeError(`The stand-in says nothing of type ${item.type}.`);
  }
}

function messageEvents(item: ResponseOutputMessage, output_index: number): readonly WireEvent[] {
  const [part] = item.content;
  if (part?.type !== "output_text") throw new TypeError("A message of the stand-in is one text.");
  const at = { item_id: item.id, output_index, content_index: 0 };
  return [
    { type: "response.output_item.added", output_index, item: { ...item, status: "in_progress", content: [] } },
    { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
    ...splitDeltas(part.text).map((delta): WireEvent => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
    { type: "response.output_text.done", ...at, text: part.text, logprobs: [] },
    { type: "response.content_part.done", ...at, part },
    { type: "response.output_item.done", output_index, item },
  ];
}

function reasoningEvents(item: ResponseReasoningItem, output_index: number): readonly WireEvent[] {
  const summaries = item.summary.flatMap(({ text }, summary_index): WireEvent[] => {
    const at = { item_id: item.id, output_index, summary_index };
    return [
      { type: "response.reasoning_summary_part.added", ...at, part: { type: "summary_text", text: "" } },
      ...splitDeltas(text).map((delta): WireEvent => ({ type: "response.reasoning_summary_text.delta", ...at, delta })),
      { type: "response.reasoning_summary_text.done", ...at, text },
      { type: "response.reasoning_summary_part.done", ...at, part: { type: "summary_text", text } },
    ];
  });
  return [
    { type: "response.output_item.added", output_index, item: { ...item, summary: [] } },
    ...summaries,
    { type: "response.output_item.done", output_index, item },
  ];
}

function callEvents(item: ResponseFunctionToolCall & { id?: string }, output_index: number): readonly WireEvent[] {
  const at = { item_id: item.id ?? "", output_index };
  return [
    { type: "response.output_item.added", output_index, item: { ...item, id: at.item_id, status: "in_progress", arguments: "" } },
    ...splitDeltas(item.arguments).map((delta): WireEvent => ({ type: "response.function_call_arguments.delta", ...at, delta })),
    { type: "response.function_call_arguments.done", ...at, arguments: item.arguments },
    { type: "response.output_item.done", output_index, item: { ...item, id: at.item_id } },
  ];
}

const REASONS = { length: "max_output_tokens", refused: "content_filter" } as const;

function toResponse(
  { response, reply, usage }: EventsInput,
  now: { readonly status: "in_progress" | "completed" | "incomplete"; readonly output: readonly ResponseOutputItem[] },
): WireResponse {
  const over = now.status !== "in_progress";
  return {
    id: response.id,
    object: "response",
    created_at: 1_790_000_000,
    status: now.status,
    error: null,
    incomplete_details: over && reply.finish ? { reason: REASONS[reply.finish] } : null,
    instructions: null,
    max_output_tokens: response.maxOutput,
    model: response.model,
    output: [...now.output],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: "medium", summary: null },
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    truncation: "disabled",
    metadata: {},
    ...(over ? { usage: toUsage(reply, usage) } : {}),
  };
}

function toUsage(reply: ScriptedReply, { input, cacheRead }: PromptUsage): ResponseUsage {
  const output = outputTokens(reply);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: thinkingTokens(reply) },
    total_tokens: input + output,
  };
}
