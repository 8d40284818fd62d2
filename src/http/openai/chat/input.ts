/**
 * The parameters of a chat completion. Each description says what becomes of the parameter, in the words of the table in
 * docs/clients/openai-chat.md. What would change the answer and cannot be done here is refused by name.
 */
import { z } from "@hono/zod-openapi";

const MAX_MESSAGES = 10_000;

/** `neutral`: values that ask for nothing. Every other value is refused. */
function refused(...neutral: readonly unknown[]) {
  const asText = JSON.stringify([null, ...neutral]);
  const isNeutral = (value: unknown): boolean =>
    value === undefined || value === null || neutral.some((known) => JSON.stringify(known) === JSON.stringify(value));
  const values = neutral.map((value) => JSON.stringify(value)).join(" or ");
  const detail = neutral.length === 0 ? "is not supported" : `is not supported: leave it out, or send ${values}`;
  return z
    .unknown()
    .refine(isNeutral, { message: detail })
    .optional()
    .describe(asText === "[null]" ? "refused" : `refused, unless it is ${values}`);
}
const ignored = () => z.unknown().optional().describe("ignored");

const schemaFormat = z.object({
  name: z.string(),
  description: z.string().nullish(),
  schema: z.record(z.string(), z.unknown()).default({}),
  strict: z.boolean().nullish(),
});
const responseFormat = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text") }),
  z.object({ type: z.literal("json_object") }),
  z.object({ type: z.literal("json_schema"), json_schema: schemaFormat }),
]);

const givenTool = z.object({
  type: z.literal("function", "only functions are supported: POST /v1/responses takes tools of type custom"),
  function: z.object({
    name: z.string(),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
    strict: z.boolean().nullish(),
  }),
});
export type CompletionTool = z.infer<typeof givenTool>;

const toolChoice = z.union(
  [
    z.enum(["auto", "none", "required"]),
    z.object({ type: z.literal("function"), function: z.object({ name: z.string() }) }).transform(({ function: { name } }) => ({ name })),
  ],
  "must be auto, none, required, or a function by its name",
);

export const completionInput = z.strictObject({
  model: z.string().min(1).describe("the model of this answer"),
  messages: z
    .array(z.unknown())
    .min(1)
    .max(MAX_MESSAGES)
    .describe("in a session what is new in them is added; without one they are the conversation"),
  stream: z.boolean().nullish().describe("the answer as chunks"),
  stream_options: z
    .object({ include_usage: z.boolean().nullish() })
    .nullish()
    .describe("`include_usage`: a last chunk with the usage; other options are ignored"),
  tools: z
    .array(givenTool)
    .nullish()
    .describe("functions, in place of the session's tools; their `strict` is ignored: arguments are checked here either way"),
  tool_choice: toolChoice.nullish().describe("as it is; a list of allowed tools is refused"),
  parallel_tool_calls: z.boolean().nullish().describe("as it is"),
  response_format: responseFormat.nullish().describe("as it is; the schema's `description` is ignored"),
  temperature: z.number().nullish().describe("as it is"),
  top_p: z.number().nullish().describe("as it is"),
  max_tokens: z.number().nullish().describe("the most tokens of the reply"),
  max_completion_tokens: z.number().nullish().describe("the most tokens of the reply; it goes before `max_tokens`"),
  stop: z
    .union([z.string(), z.array(z.string())])
    .nullish()
    .describe("one text, or up to four"),
  seed: z.number().nullish().describe("as it is, from 0 to 2147483647"),
  reasoning_effort: z
    .enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"])
    .nullish()
    .describe("as it is; `xhigh` and `max` are `high`"),
  metadata: z.record(z.string(), z.string()).nullish().describe("`session_id` names the session, as the header does; the rest is ignored"),
  context_management: z
    .array(z.object({ type: z.literal("compaction"), compact_threshold: z.number().nullish() }))
    .nullish()
    .describe("`compaction`: a request without a session is compacted where it is too long; a session is in any case"),
  n: refused(1),
  audio: refused(),
  modalities: refused(["text"]),
  moderation: refused(),
  frequency_penalty: refused(0),
  presence_penalty: refused(0),
  logit_bias: refused({}),
  logprobs: refused(false),
  top_logprobs: refused(0),
  functions: refused(),
  function_call: refused(),
  verbosity: ignored(),
  web_search_options: z.unknown().optional().describe("ignored, and named in `X-Ignored`: only OpenAI searches"),
  prediction: ignored(),
  prompt_cache_key: ignored(),
  prompt_cache_options: ignored(),
  prompt_cache_retention: ignored(),
  safety_identifier: ignored(),
  service_tier: ignored(),
  store: ignored(),
  user: ignored(),
});
export type CompletionInput = z.infer<typeof completionInput>;
