/** A conversation as a session holds it: what a model says becomes parts, and the parts go back with the next request. */
import type { CallOptions, ChatMessage, ModelChunk, ModelRequest } from "../../src/app/ports";
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

/** Each call's result, in the order of the calls. */
export const resultsOf = (
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
): Promise<readonly ModelChunk[]> {
  const chunks: ModelChunk[] = [];
  const request = requestTo(bench, changes);
  for await (const chunk of bench.model.stream(request, { signal: new AbortController().signal, ...options })) chunks.push(chunk);
  return chunks;
}

type Said = Extract<ModelChunk, { type: "text" | "reasoning" }>;

/** Pieces of one type and block that follow one another are one part; later metadata goes over earlier (`SpokenPiece`). */
export function toParts(chunks: readonly ModelChunk[]): readonly Part[] {
  const parts: Part[] = [];
  let open: Said[] = [];
  const close = (): void => {
    const [first] = open;
    if (first) parts.push(joined(first, open));
    open = [];
  };
  for (const chunk of chunks) {
    const said = chunk.type === "text" || chunk.type === "reasoning";
    const [first] = open;
    if (!said || (first && (first.type !== chunk.type || first.block !== chunk.block))) close();
    if (said) open.push(chunk);
    if (chunk.type === "tool_call") parts.push(chunk.call);
  }
  close();
  return parts;
}

function joined({ type }: Said, pieces: readonly Said[]): Part {
  const metadata = pieces.findLast(({ provider_metadata }) => provider_metadata)?.provider_metadata;
  return { type, text: pieces.map(({ text }) => text).join(""), ...(metadata ? { provider_metadata: metadata } : {}) };
}

export const textOf = (chunks: readonly ModelChunk[], type: "text" | "reasoning" = "text"): string =>
  chunks.map((chunk) => (chunk.type === type ? chunk.text : "")).join("");

export const callsOf = (chunks: readonly ModelChunk[]): readonly ToolCallPart[] =>
  chunks.flatMap((chunk) => (chunk.type === "tool_call" ? [chunk.call] : []));

export const endOf = (chunks: readonly ModelChunk[]): ModelChunk | undefined => chunks.at(-1);
