/**
 * The resources of the Open Responses specification of 2026-04-24: a response, a compaction, an error. The lists and the receipt of a
 * deletion are those of the types of the `openai` package, because the specification has none. Every schema is strict.
 */
import { z } from "zod";
import { count, listedItem, outputItem } from "./item-schemas";

const text = z.string();

/** `cache_write_tokens`: OpenAI's. */
export const usage = z
  .strictObject({
    input_tokens: count,
    input_tokens_details: z.strictObject({ cached_tokens: count, cache_write_tokens: count.optional() }),
    output_tokens: count,
    output_tokens_details: z.strictObject({ reasoning_tokens: count }),
    total_tokens: count,
  })
  .refine((used) => used.total_tokens === used.input_tokens + used.output_tokens, "the total is not the sum")
  .refine((used) => used.input_tokens_details.cached_tokens <= used.input_tokens, "more is cached than was read")
  .refine((used) => used.output_tokens_details.reasoning_tokens <= used.output_tokens, "more was reasoned than was written");

const schema = z.record(text, z.unknown());
const functionTool = z.strictObject({
  type: z.literal("function"),
  name: text.min(1),
  description: text.nullable(),
  parameters: schema.nullable(),
  strict: z.boolean().nullable(),
});
/** OpenAI's: tools of a server, of which it shows no key. */
const mcpTool = z.strictObject({
  type: z.literal("mcp"),
  server_label: text.min(1),
  server_description: text.optional(),
  server_url: text.optional(),
  allowed_tools: z.array(text).nullable().optional(),
  require_approval: z.enum(["always", "never"]).nullable().optional(),
});

const choice = z.enum(["none", "auto", "required"]);
const namedFunction = z.strictObject({ type: z.literal("function"), name: text.optional() });
const toolChoice = z.union([
  choice,
  namedFunction,
  z.strictObject({ type: z.literal("allowed_tools"), tools: z.array(namedFunction), mode: choice }),
]);

const format = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({ type: z.literal("json_schema"), name: text, description: text.nullable(), schema, strict: z.boolean() }),
]);

/** The members that every response has, whatever its state. Those that are not nullable never are null. */
const response = z.strictObject({
  id: text.min(1),
  object: z.literal("response"),
  created_at: count,
  completed_at: count.nullable(),
  status: z.enum(["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]),
  incomplete_details: z.strictObject({ reason: z.enum(["max_output_tokens", "content_filter"]) }).nullable(),
  model: text.min(1),
  previous_response_id: text.min(1).nullable(),
  instructions: text.nullable(),
  output: z.array(outputItem),
  error: z.strictObject({ code: text.min(1), message: text.min(1) }).nullable(),
  tools: z.array(z.discriminatedUnion("type", [functionTool, mcpTool])),
  tool_choice: toolChoice,
  truncation: z.enum(["auto", "disabled"]),
  parallel_tool_calls: z.boolean(),
  text: z.strictObject({ format, verbosity: z.enum(["low", "medium", "high"]).optional() }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: count,
  temperature: z.number(),
  reasoning: z
    .strictObject({
      effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).nullable(),
      summary: z.enum(["concise", "detailed", "auto"]).nullable(),
    })
    .nullable(),
  usage: usage.nullable(),
  max_output_tokens: count.nullable(),
  max_tool_calls: count.nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: text.min(1),
  metadata: z.record(text, text),
  safety_identifier: text.nullable(),
  prompt_cache_key: text.nullable(),
  /** Where the response is part of a stored conversation. */
  conversation: z.strictObject({ id: text.min(1) }).optional(),
});
type Response = z.infer<typeof response>;
export const RESPONSE_KEYS = Object.keys(response.shape).filter((key) => key !== "conversation");

type Rule = readonly [holds: (shown: Response) => boolean, message: string];

/** What a response says of its state in one member agrees with what it says in the others. */
const AGREEMENTS: readonly Rule[] = [
  [({ status, error }) => (status === "failed") === (error !== null), "only a failed response has an error"],
  [({ status, incomplete_details: why }) => (status === "incomplete") === (why !== null), "only an incomplete response has a reason"],
  [({ status, completed_at: at }) => (status === "completed") === (at !== null), "only a completed response was completed at a time"],
  [({ completed_at: end, created_at: begin }) => end === null || end >= begin, "completed before it was created"],
  [({ status, usage: used }) => status !== "completed" || used !== null, "a completed response has its usage"],
  [
    ({ status, output }) =>
      status !== "completed" ||
      output.every((item) => !("status" in item) || (item.status !== "in_progress" && item.status !== "incomplete")),
    "a completed response has an item that is not",
  ],
  [({ output }) => new Set(output.map(({ id }) => id)).size === output.length, "two items have one id"],
];

export const responseResource = response.superRefine((shown, context) => {
  for (const [holds, message] of AGREEMENTS) if (!holds(shown)) context.addIssue({ code: "custom", message });
});
export type ResponseResource = z.infer<typeof responseResource>;

export const compactionResource = z.strictObject({
  id: text.min(1),
  object: z.literal("response.compaction"),
  created_at: count,
  output: z.array(listedItem),
  usage,
});

const failure = { message: text.min(1), param: text.nullable(), code: text.nullable() };

/** The body of a refusal. */
export const errorBody = z.strictObject({ error: z.strictObject({ ...failure, type: text.min(1) }) });

/** A refusal on a WebSocket. */
export const socketError = z.strictObject({
  type: z.literal("error"),
  status: z.int().min(400).max(599),
  sequence_number: count.optional(),
  error: z.strictObject({ ...failure, code: text.min(1), type: text.optional(), param: text.nullable().optional() }),
});

export const itemList = z
  .strictObject({
    object: z.literal("list"),
    data: z.array(listedItem),
    first_id: text.nullable(),
    last_id: text.nullable(),
    has_more: z.boolean(),
  })
  .refine(({ data, first_id: first }) => first === (data.at(0)?.id ?? null), "first_id is another item's")
  .refine(({ data, last_id: last }) => last === (data.at(-1)?.id ?? null), "last_id is another item's");

export const deletedResponse = z.strictObject({ id: text.min(1), object: z.literal("response"), deleted: z.literal(true) });
