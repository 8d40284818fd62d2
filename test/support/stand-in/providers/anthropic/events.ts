/** A reply as the Messages API streams it. Every event has the SDK's type, or it does not compile. */
import type Anthropic from "@anthropic-ai/sdk";
import { type Ids, makeSeal } from "../mint.ts";
import { outputTokens, thinkingTokens } from "../reply-tokens.ts";
import { type Frame, type PromptUsage, type SaidBlock, type ScriptedReply, splitDeltas } from "../script.ts";

export const toFrame = (event: { readonly type: string }): Frame => ({ data: `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n` });

const tail = (event: Anthropic.RawMessageStreamEvent): Frame => ({ ...toFrame(event), tail: true });

export interface EventsInput {
  readonly reply: ScriptedReply;
  readonly blocks: readonly GivenBlock[];
  readonly usage: PromptUsage;
  readonly message: { readonly id: string; readonly model: string };
}

export function toFrames({ reply, blocks, usage, message }: EventsInput): readonly Frame[] {
  const ping: Frame = { data: 'event: ping\ndata: {"type": "ping"}\n\n' };
  return [
    toFrame(toStart({ usage, ...message })),
    ping,
    ...blocks.flatMap((block, index) => blockEvents(block, index).map(toFrame)),
    tail(toDelta({ reply, usage })),
    tail({ type: "message_stop" }),
  ];
}

export function toWhole({ reply, blocks, usage, message }: EventsInput): unknown {
  const content = blocks.map((block) => (block.type === "tool_use" ? { ...block, input: JSON.parse(block.input) as unknown } : block));
  const { message: opened } = toStart({ usage, ...message });
  const { delta, usage: counted } = toDelta({ reply, usage });
  return { ...opened, content, stop_reason: delta.stop_reason, usage: { ...opened.usage, ...counted } };
}

export type GivenBlock = Anthropic.TextBlock | Anthropic.ThinkingBlock | Anthropic.RedactedThinkingBlock | GivenCall;
/** A call's input streams as text, which is kept unchanged. */
type GivenCall = Omit<Anthropic.ToolUseBlock, "input"> & { readonly input: string };

export function toBlock(block: SaidBlock, ids: Ids): GivenBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text, citations: null };
    case "thinking":
      return { type: "thinking", thinking: block.text, signature: makeSeal("thinking", block.text) };
    case "redacted": {
      const id = ids.next("redacted_");
      return { type: "redacted_thinking", data: `${id}.${makeSeal("redacted", id)}` };
    }
    case "call":
      return { type: "tool_use", id: ids.next("toolu_"), name: block.name, input: block.arguments, caller: { type: "direct" } };
  }
}

function toStart({
  usage,
  model,
  id,
}: {
  readonly usage: PromptUsage;
  readonly model: string;
  readonly id: string;
}): Anthropic.RawMessageStartEvent {
  const message: Anthropic.Message = {
    id,
    type: "message",
    role: "assistant",
    model,
    content: [],
    container: null,
    diagnostics: null,
    stop_details: null,
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: usage.input - usage.cacheRead - (usage.cacheWrite ?? 0),
      cache_read_input_tokens: usage.cacheRead,
      cache_creation_input_tokens: usage.cacheWrite,
      cache_creation: { ephemeral_5m_input_tokens: usage.cacheWrite ?? 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 1,
      output_tokens_details: null,
      server_tool_use: null,
      service_tier: "standard",
      inference_geo: null,
      speed: null,
    },
  };
  return { type: "message_start", message };
}

function blockEvents(block: GivenBlock, index: number): readonly Anthropic.RawMessageStreamEvent[] {
  const delta = (piece: Anthropic.RawContentBlockDelta): Anthropic.RawMessageStreamEvent => ({
    type: "content_block_delta",
    index,
    delta: piece,
  });
  const start = (content_block: Anthropic.RawContentBlockStartEvent["content_block"]): Anthropic.RawMessageStreamEvent => ({
    type: "content_block_start",
    index,
    content_block,
  });
  const stop: Anthropic.RawMessageStreamEvent = { type: "content_block_stop", index };
  switch (block.type) {
    case "text":
      return [start({ ...block, text: "" }), ...splitDeltas(block.text).map((text) => delta({ type: "text_delta", text })), stop];
    case "thinking":
      return [
        start({ type: "thinking", thinking: "", signature: "" }),
        ...splitDeltas(block.thinking).map((thinking) => delta({ type: "thinking_delta", thinking })),
        delta({ type: "signature_delta", signature: block.signature }),
        stop,
      ];
    case "redacted_thinking":
      return [start(block), stop];
    case "tool_use":
      return [
        start({ ...block, input: {} }),
        delta({ type: "input_json_delta", partial_json: "" }),
        ...splitDeltas(block.input).map((partial_json) => delta({ type: "input_json_delta", partial_json })),
        stop,
      ];
  }
}

function stopReason({ finish, blocks }: ScriptedReply): Anthropic.StopReason {
  if (finish === "length") return "max_tokens";
  if (finish === "refused") return "refusal";
  return blocks.some(({ type }) => type === "call") ? "tool_use" : "end_turn";
}

function toDelta({ reply, usage }: Pick<EventsInput, "reply" | "usage">): Anthropic.RawMessageDeltaEvent {
  return {
    type: "message_delta",
    delta: { container: null, stop_details: null, stop_reason: stopReason(reply), stop_sequence: null },
    usage: {
      input_tokens: usage.input - usage.cacheRead - (usage.cacheWrite ?? 0),
      cache_read_input_tokens: usage.cacheRead,
      cache_creation_input_tokens: usage.cacheWrite,
      output_tokens: outputTokens(reply),
      output_tokens_details: { thinking_tokens: thinkingTokens(reply) },
      server_tool_use: null,
    },
  };
}
