/** One event of a streamed chat completion, read leniently: providers differ in what they leave out or add. */
import type { CallUsage, FinishReason } from "../domain/model-call";

export interface WireToolDelta {
  readonly index: number | null;
  readonly id: string | null;
  readonly name: string | null;
  readonly arguments: string;
  /** Gemini's thought signature, which must be sent back with the call. */
  readonly signature: string | null;
}

type Json = Readonly<Record<string, unknown>>;

export const asObject = (value: unknown): Json | null => (typeof value === "object" && value !== null ? (value as Json) : null);
export const asText = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/**
 * More tokens than any model takes (10 million in 2026). A larger count is a provider's defect, and would stay in the
 * session's sums forever.
 */
const MAX_COUNT = 100_000_000;

/** Null when `value` is not a count of tokens. Fractions are not rounded: half a token shows that the provider did not count. */
export const asCount = (value: unknown): number | null => {
  const isCount = typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= MAX_COUNT;
  return isCount ? value : null;
};

/**
 * The text of a delta. `content` is a string at nearly all providers and a list of parts at Mistral. `refusal` is what the
 * model says instead of an answer.
 */
export function deltaText(delta: Json): string {
  const { content } = delta;
  const refusal = asText(delta.refusal) ?? "";
  if (typeof content === "string") return content + refusal;
  if (!Array.isArray(content)) return refusal;
  return content.map((part) => (asObject(part)?.type === "text" ? (asText(asObject(part)?.text) ?? "") : "")).join("") + refusal;
}

/** The thinking in a delta: `reasoning_content` at most providers, `reasoning` at some, parts of type `thinking` at Mistral. */
export function readReasoning(delta: Json): string {
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

export function readToolDeltas(delta: Json): readonly WireToolDelta[] {
  // The form before there were several calls in a reply.
  const only = asObject(delta.function_call);
  if (only) return [toToolDelta({ index: 0 }, only)];
  if (!Array.isArray(delta.tool_calls)) return [];
  return delta.tool_calls.flatMap((entry: unknown): WireToolDelta[] => {
    const call = asObject(entry);
    return call ? [toToolDelta(call, asObject(call.function))] : [];
  });
}

const toToolDelta = (call: Json, fn: Json | null): WireToolDelta => ({
  index: asCount(call.index),
  id: asText(call.id),
  name: asText(fn?.name),
  arguments: toArguments(fn?.arguments),
  signature: asText(asObject(asObject(call.extra_content)?.google)?.thought_signature),
});

/** Text at nearly all providers, and an object at some local servers. */
const toArguments = (given: unknown): string => asText(given) ?? (asObject(given) ? JSON.stringify(given) : "");

/** False, an empty text and an empty object stand for "no error" at some gateways. */
export const isError = ({ error }: Json): boolean =>
  typeof error === "object" && error !== null ? Object.keys(error).length > 0 : Boolean(error);

/** Groq and Moonshot count in places of their own. */
export const findUsage = (event: Json, choice: Json | null): CallUsage | null =>
  parseWireUsage(event.usage) ?? parseWireUsage(asObject(event.x_groq)?.usage) ?? parseWireUsage(choice?.usage);

/**
 * Null when the provider reported no usage, or invalid totals. Invalid details count as 0. `input` is the total including
 * cached tokens, as everywhere in this wire format.
 */
function parseWireUsage(value: unknown): CallUsage | null {
  const usage = asObject(value);
  const input = asCount(usage?.prompt_tokens) ?? asCount(usage?.input_tokens);
  const output = asCount(usage?.completion_tokens) ?? asCount(usage?.output_tokens);
  if (!usage || input === null || output === null) return null;
  const [read, written] = [
    asObject(usage.prompt_tokens_details ?? usage.input_tokens_details),
    asObject(usage.completion_tokens_details ?? usage.output_tokens_details),
  ];
  const cached = asCount(read?.cached_tokens) ?? asCount(usage.prompt_cache_hit_tokens) ?? asCount(usage.cached_tokens) ?? 0;
  return { input, output, cached, reasoning: asCount(written?.reasoning_tokens) ?? 0 };
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
