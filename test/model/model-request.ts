/** Builders for the models' tests. */
import type { ModelRequest, ModelSpec, ModelStreamPart } from "../../src/app/ports";
import type { ToolCallPart } from "../../src/domain/message";

export const modelSpec = (changes: Partial<ModelSpec> = {}): ModelSpec => ({
  id: "test-model",
  provider: "openai-compatible",
  upstream_id: "upstream-model",
  base_url: "http://127.0.0.1:9/v1",
  context_window: 16_000,
  max_output: 1_000,
  source: "tenant",
  ...changes,
});

export const modelRequest = (changes: Partial<ModelRequest> = {}): ModelRequest => ({
  model: modelSpec(),
  purpose: "turn",
  system: null,
  messages: [user("Hello there.")],
  tools: [],
  maxOutput: 500,
  ...changes,
});

export const user = (text: string) => ({ role: "user", parts: [{ type: "text", text }] }) as const;
export const assistant = (text: string) => ({ role: "assistant", parts: [{ type: "text", text }] }) as const;
export const toolCall = (call: Omit<ToolCallPart, "type">): ToolCallPart => ({ type: "tool_call", ...call });
export const toolResult = (call_id: string, output: string) =>
  ({ role: "tool", parts: [{ type: "tool_result", call_id, name: "lookup", output, is_error: false }] }) as const;

export async function collect(chunks: AsyncIterable<ModelStreamPart>): Promise<readonly ModelStreamPart[]> {
  const all: ModelStreamPart[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

export const spokenText = (chunks: readonly ModelStreamPart[]): string =>
  chunks.map((chunk) => (chunk.type === "text" ? chunk.text : "")).join("");
