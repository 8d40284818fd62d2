/** A reply as Workers AI streams it: its own events for its older models, and chunks of chat completions for newer ones. */
import { countTokens } from "../../count-tokens.ts";
import type { Ids } from "../mint.ts";
import { toFrames as chatFrames, toFrame } from "../openai/chat-events.ts";
import { type Frame, type PromptUsage, type ScriptedReply, splitDeltas } from "../script.ts";

export interface EventsInput {
  readonly reply: ScriptedReply;
  readonly usage: PromptUsage;
  readonly model: string;
  readonly ids: Ids;
}

/** The models that answer with `response`: those of the Llama family. */
const NATIVE = /^@cf\/meta\/llama-/;

export const toFrames = (input: EventsInput): readonly Frame[] =>
  NATIVE.test(input.model) ? nativeFrames(input) : chatFrames({ ...input, style: "compatible", withUsage: true });

/** One event of the native stream. `p` is padding that hides the lengths. */
interface NativeEvent {
  readonly response: string;
  readonly p?: string;
  readonly tool_calls?: readonly { readonly name: string; readonly arguments: unknown }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number };
}

function nativeFrames({ reply, usage }: EventsInput): readonly Frame[] {
  const texts = reply.blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const calls = reply.blocks.flatMap((block) =>
    block.type === "call" ? [{ name: block.name, arguments: JSON.parse(block.arguments) as unknown }] : [],
  );
  const completion = texts.reduce((sum, text) => sum + countTokens(text), 0);
  const frame = (event: NativeEvent): Frame => toFrame(event);
  const counted = { prompt_tokens: usage.input, completion_tokens: completion, total_tokens: usage.input + completion };
  return [
    ...texts.flatMap(splitDeltas).map((response) => frame({ response, p: "abdef" })),
    ...(calls.length > 0 ? [frame({ response: "", tool_calls: calls, p: "ab" })] : []),
    { ...frame({ response: "", usage: counted }), tail: true },
    { data: "data: [DONE]\n\n", tail: true },
  ];
}
