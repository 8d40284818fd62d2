/**
 * The body of `POST /v1/responses`. What would change the answer and cannot be done is refused by name. docs/clients/openai-responses.md has the
 * table.
 */
import { z } from "@hono/zod-openapi";
import { EFFORTS, type Effort, type GenerationChoice } from "../../../context/generation";
import type { FieldError } from "../../../contract/problem";
import { modelName } from "../../schemas/model";
import { metadataInput } from "../../schemas/session";
import { buildAsked, type ResponseAsked, showFormat } from "./asked";
import { type BroughtTools, echoTools, responseTool, toolChoice, toToolChoice } from "./tools";

const flag = z.boolean().nullish();
const words = z.string().nullish();
/** It is repeated in the response. */
const label = z.string().max(1_024);

const format = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("text") }),
    z.looseObject({ type: z.literal("json_object") }),
    z.looseObject({
      type: z.literal("json_schema"),
      name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, "1 to 64 letters, digits, _ or -"),
      schema: z.record(z.string(), z.unknown()),
      strict: flag,
    }),
  ],
  "must be text, json_object or json_schema",
);

const ignored = () => z.unknown().optional().describe("ignored");
const refused = (detail = "is not supported") => z.null(detail).optional().describe("refused");
const zero = z
  .union([z.literal(0), z.null()], "only 0 is supported")
  .optional()
  .describe("refused, unless it is 0");
/** What may be included without a difference: none of it is left out, or none of it ever comes. */
const NO_LOGPROBS = /^(?!message\.output_text\.logprobs$)/;
/** Above the highest effort that every model knows. */
const MORE_EFFORTS = ["xhigh", "max"] as const;
const effort = z.enum([...EFFORTS, ...MORE_EFFORTS], `must be one of ${[...EFFORTS, ...MORE_EFFORTS].join(", ")}`);
/** A wish about the length of a reply. Agents send it by themselves, and no model is told. */
const verbosity = z.enum(["low", "medium", "high"], "must be low, medium or high").nullish();

/** Each description says what becomes of the parameter, in the words of the table in docs/clients/openai-responses.md. */
export const responseInput = z.strictObject({
  model: modelName.nullish().describe("for this response; left out: the conversation's, or the tenant's default"),
  input: z.unknown().optional().describe("a text, or up to 1,000 items: messages, reasoning, calls and results"),
  instructions: words.describe("for this response, in place of the session's; not carried over"),
  conversation: z
    .union([z.string(), z.looseObject({ id: z.string() })])
    .nullish()
    .describe("the session that it goes on in"),
  previous_response_id: words.describe("the response that it goes on behind; not beside `conversation`"),
  store: flag.describe("`false`: nothing is kept; only without `conversation`, `previous_response_id` and `background`"),
  stream: flag.describe("the answer as events"),
  background: flag.describe("the answer comes at once, and the response goes on"),
  tools: z.array(responseTool).nullish().describe("see [OpenAI tools](openai-tools.md)"),
  tool_choice: toolChoice.nullish().describe("`auto`, `none`, `required`, a tool by its name, or `allowed_tools` of those in `tools`"),
  parallel_tool_calls: flag.describe("as it is"),
  text: z.strictObject({ format: format.nullish(), verbosity }).nullish().describe("`format`; `verbosity` is ignored"),
  reasoning: z
    .looseObject({ effort: effort.nullish(), summary: words, generate_summary: words })
    .nullish()
    .describe("`effort`, above `high` as `high`; `summary` is ignored: what the model tells is shown"),
  temperature: z.number().min(0).max(2).nullish().describe("as it is"),
  top_p: z.number().min(0).max(1).nullish().describe("as it is"),
  max_output_tokens: z.int().min(1).nullish().describe("the most tokens of each reply"),
  metadata: metadataInput.nullish().describe("kept with the response"),
  truncation: z.enum(["auto", "disabled"]).nullish().describe("for `store: false`; a session is compacted in either case"),
  include: z
    .array(z.string().regex(NO_LOGPROBS, "log probabilities are not supported"))
    .nullish()
    .describe("ignored; `message.output_text.logprobs` is refused"),
  context_management: z
    .array(z.looseObject({ type: z.literal("compaction", "must be compaction"), compact_threshold: z.int().min(1).nullish() }))
    .nullish()
    .describe("a conversation above `compact_threshold` tokens is [compacted first](openai-compaction.md#before-a-response)"),
  service_tier: words.describe("ignored"),
  stream_options: ignored(),
  safety_identifier: label.nullish().describe("ignored"),
  prompt_cache_key: label.nullish().describe("ignored"),
  prompt_cache_options: ignored(),
  prompt_cache_retention: ignored(),
  user: ignored(),
  client_metadata: ignored(),
  access_programs: ignored(),
  image: ignored(),
  prompt: refused(),
  max_tool_calls: refused(),
  moderation: refused(),
  top_logprobs: zero,
  presence_penalty: zero,
  frequency_penalty: zero,
});
export type ResponseBody = z.infer<typeof responseInput>;

export const readConversation = ({ conversation }: ResponseBody): string | null =>
  (typeof conversation === "string" ? conversation : conversation?.id) ?? null;

/** Rules that concern several fields. */
export function findBodyFault(body: ResponseBody): FieldError | null {
  const chained = typeof body.previous_response_id === "string";
  const named = readConversation(body) !== null;
  if (chained && named)
    return {
      field: "previous_response_id",
      detail: "Mutually exclusive parameters. Ensure you are only providing one of: 'previous_response_id' or 'conversation'.",
    };
  if (body.store !== false) return null;
  if (chained || named) return { field: "store", detail: "a response in a stored conversation is stored" };
  return body.background ? { field: "background", detail: "Background mode requires store to be true." } : null;
}

const present = <T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

export function readResponseGeneration(body: ResponseBody): GenerationChoice | null {
  const { tool_choice: choice, text, reasoning, temperature, top_p, max_output_tokens, parallel_tool_calls } = body;
  const asked = present({
    temperature,
    top_p,
    max_output_tokens,
    parallel_tool_calls,
    tool_choice: toToolChoice(choice),
    response_format: toResponseFormat(text?.format),
    reasoning: reasoning?.effort ? { effort: toEffort(reasoning.effort) } : null,
  });
  return Object.keys(asked).length > 0 ? asked : null;
}

const toEffort = (given: z.infer<typeof effort>): Effort => (given === "xhigh" || given === "max" ? "high" : given);

type Format = z.infer<typeof format>;

function toResponseFormat(given: Format | null | undefined): GenerationChoice["response_format"] {
  if (!given || given.type === "text") return null;
  if (given.type === "json_object") return { type: "json" };
  const { type, name, schema, strict } = given;
  return { type, name, schema, ...(typeof strict === "boolean" && { strict }) };
}

interface Echoed {
  readonly body: ResponseBody;
  readonly brought: BroughtTools;
}

/** What the resource repeats. `model`: the one that is asked where the request names none. */
export function readEcho({ body, brought }: Echoed, model: string): ResponseAsked {
  const { text, reasoning, tool_choice, service_tier } = body;
  const { temperature, top_p, truncation, parallel_tool_calls, background, store, metadata } = body;
  return buildAsked({
    model,
    ...present({ temperature, top_p, truncation, parallel_tool_calls, background, store, metadata, tool_choice }),
    previous_response_id: body.previous_response_id ?? null,
    conversation: readConversation(body),
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    safety_identifier: body.safety_identifier ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    tools: echoTools(brought),
    ...(text && { text: { ...present(text), format: showFormat(text.format ?? { type: "text" }) } }),
    ...(reasoning && { reasoning: { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null } }),
    ...(service_tier && service_tier !== "auto" && { service_tier }),
  });
}
