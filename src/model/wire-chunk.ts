/** One event of a streamed chat completion, read leniently: providers differ in what they leave out or add. */
import type { CallUsage, FinishReason } from "../domain/model-call";

export interface WireToolDelta {
  readonly index: number | null;
  readonly id: string | null;
  readonly name: string | null;
  readonly arguments: string;
  /** Gemini's thought signature, which must come back with the call. */
  readonly signature: string | null;
}

type Json = Readonly<Record<string, unknown>>;

export const asObject = (value: unknown): Json | null => (typeof value === "object" && value !== null ? (value as Json) : null);
export const asText = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** Above what any model takes (10 million tokens in 2026): what is reported beyond it is a defect, and would be summed up for good. */
const MAX_COUNT = 100_000_000;

/** Null: not a count. Nothing is rounded: half a token shows that nobody has counted. */
export const asCount = (value: unknown): number | null => {
  const isCount = typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= MAX_COUNT;
  return isCount ? value : null;
};

/** Text of `content`: a string nearly always, a list of parts at Mistral. A refusal is what the model says instead. */
export function deltaText(delta: Json): string {
  const { content } = delta;
  const refusal = asText(delta.refusal) ?? "";
  if (typeof content === "string") return content + refusal;
  if (!Array.isArray(content)) return refusal;
  return content.map((part) => (asObject(part)?.type === "text" ? (asText(asObject(part)?.text) ?? "") : "")).join("") + refusal;
}

/** Thinking: `reasoning_content` at most providers, `reasoning` at some, parts of type `thinking` at Mistral. */
export function reasoningOf(delta: Json): string {
  const plain = asText(delta.reasoning_content) ?? asText(delta.reasoning);
  if (plain !== null) return plain;
  if (!Array.isArray(delta.content)) return "";
  return delta.content
    .flatMap((part): unknown[] => {
      const thinking = asObject(part)?.type === "thinking" ? asObject(part)?.thinking : null;
      return Array.isArray(thinking) ? thinking : [];
    })
    .map((part) => asText(asObject(part)?.text) ?? "")
    .join("");
}

export function toolDeltasOf(delta: Json): readonly WireToolDelta[] {
  if (!Array.isArray(delta.tool_calls)) return [];
  return delta.tool_calls.flatMap((entry: unknown): WireToolDelta[] => {
    const call = asObject(entry);
    if (!call) return [];
    const fn = asObject(call.function);
    return [
      {
        index: asCount(call.index),
        id: asText(call.id),
        name: asText(fn?.name),
        arguments: asText(fn?.arguments) ?? "",
        signature: asText(asObject(asObject(call.extra_content)?.google)?.thought_signature),
      },
    ];
  });
}

/** Null: the provider did not say, or not in numbers that can be. What it says of the parts, and cannot be, is left out. `input` is the total, cached tokens included, as everywhere on this wire. */
export function usageOf(value: unknown): CallUsage | null {
  const usage = asObject(value);
  const input = asCount(usage?.prompt_tokens);
  const output = asCount(usage?.completion_tokens);
  if (!usage || input === null || output === null) return null;
  const cached = asCount(asObject(usage.prompt_tokens_details)?.cached_tokens) ?? asCount(usage.prompt_cache_hit_tokens) ?? 0;
  return { input, output, cached, reasoning: asCount(asObject(usage.completion_tokens_details)?.reasoning_tokens) ?? 0 };
}

export function toFinishReason(raw: string): FinishReason {
  switch (raw) {
    case "stop":
    case "length":
    case "tool_calls":
    case "content_filter":
      return raw;
    case "function_call":
      return "tool_calls";
    default:
      return "other";
  }
}
