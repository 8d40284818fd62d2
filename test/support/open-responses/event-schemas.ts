/**
 * The events of a response's stream, as the Open Responses specification of 2026-04-24 lists them, and those for calls that the server
 * runs, which the types of the `openai` package have. Every schema is strict: an event of another type breaks that package's stream.
 */
import { z } from "zod";
import { count, logProbs, outputItem, summaryText, writtenPart } from "./item-schemas";
import { responseResource } from "./resource-schemas";

const text = z.string();

const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), sequence_number: count, ...shape });

const response = { response: responseResource };
const index = { output_index: count };
const ofItem = { ...index, item_id: text.min(1) };
const ofPart = { ...ofItem, content_index: count };
const ofSummary = { ...ofItem, summary_index: count };
/** Padding against guesses by length. */
const delta = { delta: text, obfuscation: text.optional() };

const error = { code: text.min(1), message: text.min(1), param: text.nullable() };

export const streamEvent = z.discriminatedUnion("type", [
  event("response.created", response),
  event("response.queued", response),
  event("response.in_progress", response),
  event("response.completed", response),
  event("response.incomplete", response),
  event("response.failed", response),
  event("response.output_item.added", { ...index, item: outputItem }),
  event("response.output_item.done", { ...index, item: outputItem }),
  event("response.content_part.added", { ...ofPart, part: writtenPart }),
  event("response.content_part.done", { ...ofPart, part: writtenPart }),
  event("response.output_text.delta", { ...ofPart, ...delta, logprobs: logProbs.optional() }),
  event("response.output_text.done", { ...ofPart, text, logprobs: logProbs.optional() }),
  event("response.refusal.delta", { ...ofPart, delta: text }),
  event("response.refusal.done", { ...ofPart, refusal: text }),
  event("response.reasoning_summary_part.added", { ...ofSummary, part: summaryText }),
  event("response.reasoning_summary_part.done", { ...ofSummary, part: summaryText }),
  event("response.reasoning_summary_text.delta", { ...ofSummary, ...delta }),
  event("response.reasoning_summary_text.done", { ...ofSummary, text }),
  event("response.function_call_arguments.delta", { ...ofItem, ...delta }),
  // `name`: OpenAI's.
  event("response.function_call_arguments.done", { ...ofItem, arguments: text, name: text.optional() }),
  event("response.mcp_call.in_progress", ofItem),
  event("response.mcp_call_arguments.delta", { ...ofItem, ...delta }),
  event("response.mcp_call_arguments.done", { ...ofItem, arguments: text }),
  event("response.mcp_call.completed", ofItem),
  event("response.mcp_call.failed", ofItem),
  // The specification nests the fields, OpenAI's types have them flat. Clients read either.
  event("error", { ...error, error: z.strictObject({ ...error, type: text.min(1) }) }),
]);
export type ResponseStreamEvent = z.infer<typeof streamEvent>;
