/** A conversation as a session stores it: a model's reply becomes parts, and the next request contains the parts. */
import type { CallOptions, ChatMessage, ModelRequest, ModelStreamPart } from "../../src/app/ports";
import { ReplyAssembly } from "../../src/app/turn/reply-assembly";
import type { Part, ToolCallPart, ToolDefinition } from "../../src/domain/message";
import type { Bench } from "./providers.ts";

export const TOOLS: readonly ToolDefinition[] = [
  {
    name: "lookup",
    description: "Looks things up.",
    parameters: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
  },
  {
    name: "read_file",
    description: "Reads a file.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
];

export const user = (text: string): ChatMessage => ({ role: "user", parts: [{ type: "text", text }] });
export const assistant = (...parts: readonly Part[]): ChatMessage => ({ role: "assistant", parts });

/** The result of each call, in the order of the calls. */
export const toResults = (
  calls: readonly ToolCallPart[],
  output = (call: ToolCallPart) => `Result of ${call.arguments}.`,
): ChatMessage => ({
  role: "tool",
  parts: calls.map((call) => ({ type: "tool_result", call_id: call.call_id, name: call.name, output: output(call), is_error: false })),
});

export const requestTo = (bench: Pick<Bench, "spec">, changes: Partial<ModelRequest> = {}): ModelRequest => ({
  model: bench.spec,
  purpose: "turn",
  system: "You answer briefly.",
  messages: [user("Hello there.")],
  tools: TOOLS,
  maxOutput: 500,
  cacheKey: "ses_1",
  ...changes,
});

export async function ask(
  bench: Bench,
  changes: Partial<ModelRequest> = {},
  options: Partial<CallOptions> = {},
): Promise<readonly ModelStreamPart[]> {
  const chunks: ModelStreamPart[] = [];
  const request = requestTo(bench, changes);
  for await (const chunk of bench.model.stream(request, { signal: new AbortController().signal, ...options })) chunks.push(chunk);
  return chunks;
}

/** A reply as a session stores it (`Spoken`) and sends it back: the text, then each call with the thinking that led to it. */
export function toParts(chunks: readonly ModelStreamPart[]): readonly Part[] {
  const spoken = new ReplyAssembly();
  for (const chunk of chunks) {
    if (chunk.type === "text" || chunk.type === "reasoning") spoken.add(chunk.type, chunk);
    if (chunk.type === "tool_call") spoken.addCall(chunk.call);
  }
  const { words, calls } = spoken.whole;
  return [...words, ...calls.flatMap(({ thinking, call }) => [...thinking, call])];
}

export const joinText = (chunks: readonly ModelStreamPart[], type: "text" | "reasoning" = "text"): string =>
  chunks.map((chunk) => (chunk.type === type ? chunk.text : "")).join("");

export const findCalls = (chunks: readonly ModelStreamPart[]): readonly ToolCallPart[] =>
  chunks.flatMap((chunk) => (chunk.type === "tool_call" ? [chunk.call] : []));

export const findEnd = (chunks: readonly ModelStreamPart[]): ModelStreamPart | undefined => chunks.at(-1);
