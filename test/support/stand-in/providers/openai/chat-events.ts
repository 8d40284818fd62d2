/** A reply as chat completions stream it. Every chunk has the SDK's type, or it does not compile. */
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type { Ids } from "../mint.ts";
import { outputTokens, thinkingTokens } from "../reply-tokens.ts";
import { type Frame, type PromptUsage, type SaidBlock, type ScriptedReply, splitDeltas } from "../script.ts";
import type { ChatStyle } from "./chat-shape.ts";

/** Compatible endpoints stream their thinking beside the text, which the SDK's type does not include. */
export type Delta = ChatCompletionChunk.Choice.Delta & { readonly reasoning_content?: string };

export interface EventsInput {
  readonly reply: ScriptedReply;
  readonly usage: PromptUsage;
  readonly model: string;
  readonly ids: Ids;
  readonly style: ChatStyle;
  /** `stream_options.include_usage`. */
  readonly withUsage: boolean;
}

export const toFrame = (event: unknown): Frame => ({ data: `data: ${JSON.stringify(event)}\n\n` });

export function toFrames(input: EventsInput): readonly Frame[] {
  const head = {
    id: input.ids.next("chatcmpl-"),
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model: input.model,
    service_tier: "default",
    system_fingerprint: "fp_3f2a",
  } as const;
  const chunk = (delta: Delta, finish: ChatCompletionChunk.Choice["finish_reason"] = null): ChatCompletionChunk => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...(input.withUsage ? { usage: null } : {}),
  });
  const counted: ChatCompletionChunk = { ...head, choices: [], usage: toUsage(input) };
  return [
    toFrame(chunk({ role: "assistant", content: "", refusal: null })),
    ...deltasOfReply(input).map((delta) => toFrame(chunk(delta))),
    { ...toFrame(chunk({}, toFinish(input.reply))), tail: true },
    ...(input.withUsage ? [{ ...toFrame(counted), tail: true } as const] : []),
    { data: "data: [DONE]\n\n", tail: true },
  ];
}

export function toWhole(input: EventsInput): unknown {
  const { reply, model, ids, style } = input;
  const said = (type: "text" | "thinking"): string => reply.blocks.map((block) => (block.type === type ? block.text : "")).join("");
  const calls = reply.blocks.flatMap((block) =>
    block.type === "call" ? [{ id: ids.next("call_"), type: "function", function: { name: block.name, arguments: block.arguments } }] : [],
  );
  const message = {
    role: "assistant",
    content: said("text"),
    refusal: null,
    ...(style === "compatible" && said("thinking") !== "" ? { reasoning_content: said("thinking") } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return {
    id: ids.next("chatcmpl-"),
    object: "chat.completion",
    created: 1_790_000_000,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: toFinish(reply) }],
    usage: toUsage(input),
  };
}

function deltasOfReply({ reply, ids, style }: EventsInput): readonly Delta[] {
  const calls = reply.blocks.filter((block) => block.type === "call");
  const said = reply.blocks.flatMap((block): Delta[] => sayBlock(block, style));
  return [...said, ...calls.flatMap((call, index) => callDeltas(call, { index, id: ids.next("call_") }))];
}

function sayBlock(block: SaidBlock, style: ChatStyle): Delta[] {
  if (block.type === "text") return splitDeltas(block.text).map((content) => ({ content }));
  // OpenAI's thinking is hidden here: its tokens are counted and no text is sent.
  if (block.type === "thinking" && style === "compatible")
    return splitDeltas(block.text).map((reasoning_content) => ({ reasoning_content }));
  return [];
}

function callDeltas(
  call: Extract<SaidBlock, { type: "call" }>,
  { index, id }: { readonly index: number; readonly id: string },
): readonly Delta[] {
  return [
    { tool_calls: [{ index, id, type: "function", function: { name: call.name, arguments: "" } }] },
    ...splitDeltas(call.arguments).map((piece): Delta => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ];
}

function toFinish({ finish, blocks }: ScriptedReply): ChatCompletionChunk.Choice["finish_reason"] {
  if (finish === "length") return "length";
  if (finish === "refused") return "content_filter";
  return blocks.some(({ type }) => type === "call") ? "tool_calls" : "stop";
}

function toUsage({ reply, usage }: EventsInput): NonNullable<ChatCompletionChunk["usage"]> {
  const completion = outputTokens(reply);
  return {
    prompt_tokens: usage.input,
    completion_tokens: completion,
    total_tokens: usage.input + completion,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: thinkingTokens(reply),
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
