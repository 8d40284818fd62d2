/**
 * The body of `POST /v1/responses`. What would change the answer and cannot be done is refused by name. docs/clients/openai-responses.md has the
 * table.
 */
import { z } from "@hono/zod-openapi";
import { EFFORTS, type Effort, type GenerationChoice } from "../../../context/generation";
import type { FieldError } from "../../../contract/problem";
import { modelName } from "../../schemas/model";
import { metadataInput } from "../../schemas/session";
import { type ToolInput, toolDescription, toolName } from "../../schemas/tool";
import { buildAsked, type ResponseAsked, showFormat } from "./asked";

const flag = z.boolean().nullish();
const words = z.string().nullish();
/** It is repeated in the response. */
const label = z.string().max(1_024);

const functionTool = z.looseObject({
  type: z.literal("function"),
  name: toolName,
  description: toolDescription.nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: flag,
});
const REGISTERED = "is registered with the server, not sent with a request";
const toolNames = z.strictObject({ tool_names: z.array(z.string()).nullish(), read_only: z.literal(false, "is not supported").nullish() });
/** An MCP server that the tenant registered, by the name that it has here. */
const mcpTool = z.looseObject({
  type: z.literal("mcp"),
  server_label: z.string().min(1).max(64),
  allowed_tools: z.union([z.array(z.string()), toolNames.transform(({ tool_names }) => tool_names ?? null)]).nullish(),
  require_approval: z
    .union([z.enum(["always", "never"]), z.strictObject({ always: toolNames.nullish(), never: toolNames.nullish() })])
    .nullish(),
  server_url: z.string().nullish(),
  connector_id: z.null("only servers that the tenant registered, by server_label").optional(),
  authorization: z.null(REGISTERED).optional(),
  headers: z
    .record(z.string(), z.unknown())
    .refine((headers) => Object.keys(headers).length === 0, REGISTERED)
    .nullish(),
});
const tool = z.discriminatedUnion("type", [functionTool, mcpTool], "only tools of type function, and mcp by server_label");
type Tool = z.infer<typeof tool>;

const MODES = ["auto", "none", "required"] as const;
const allowedTool = z.discriminatedUnion(
  "type",
  [z.looseObject({ type: z.literal("function"), name: toolName }), z.looseObject({ type: z.literal("mcp"), server_label: z.string() })],
  "must be a function by its name, or mcp by its server_label",
);
type AllowedTool = z.infer<typeof allowedTool>;

/** The model sees no other tools. */
const allowedTools = z.looseObject({
  type: z.literal("allowed_tools"),
  mode: z.enum(["auto", "required"]),
  tools: z.array(allowedTool),
});
const toolChoice = z.union(
  [z.enum(MODES), z.looseObject({ type: z.literal("function"), name: toolName }), allowedTools],
  "must be auto, none, required, a function by its name, or allowed_tools",
);

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
  tools: z
    .array(tool)
    .nullish()
    .describe(
      "functions, and `mcp` servers that the tenant registered by `server_label`; others are refused. `strict` is echoed: arguments are checked here either way",
    ),
  tool_choice: toolChoice.nullish().describe("`auto`, `none`, `required`, a function by its name, or `allowed_tools` of those in `tools`"),
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
  const strange = findStrangeTool(body);
  if (strange !== null) return { field: `tool_choice.tools.${strange}`, detail: "must be one of the request's tools" };
  if (body.store !== false) return null;
  if (chained || named) return { field: "store", detail: "a response in a stored conversation is stored" };
  return body.background ? { field: "background", detail: "Background mode requires store to be true." } : null;
}

const present = <T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

const toKey = (given: Tool | AllowedTool): string => (given.type === "mcp" ? `mcp ${given.server_label}` : `function ${given.name}`);

const readAllowed = ({ tool_choice: choice }: ResponseBody): readonly AllowedTool[] | null =>
  typeof choice === "object" && choice?.type === "allowed_tools" ? choice.tools : null;

/** The place of an allowed tool that the request does not bring. */
function findStrangeTool(body: ResponseBody): number | null {
  const brought = new Set(body.tools?.map(toKey));
  const place = readAllowed(body)?.findIndex((each) => !brought.has(toKey(each))) ?? -1;
  return place < 0 ? null : place;
}

/** The tools that the model sees. Null: the session's. */
export function readResponseTools(body: ResponseBody): ToolInput[] | null {
  const allowed = readAllowed(body)?.map(toKey);
  const tools = allowed ? body.tools?.filter((given) => allowed.includes(toKey(given))) : body.tools;
  return (
    tools?.map((given): ToolInput => {
      if (given.type === "mcp")
        return { type: "mcp", server: given.server_label, ...(given.allowed_tools && { tools: given.allowed_tools }) };
      const { name, description, parameters } = given;
      return { name, parameters: parameters ?? { type: "object", properties: {} }, ...(description && { description }) };
    }) ?? null
  );
}

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

function toToolChoice(given: z.infer<typeof toolChoice> | null | undefined): GenerationChoice["tool_choice"] {
  if (typeof given !== "object" || given === null) return given;
  return given.type === "allowed_tools" ? given.mode : { name: given.name };
}

const toEffort = (given: z.infer<typeof effort>): Effort => (given === "xhigh" || given === "max" ? "high" : given);

type Format = z.infer<typeof format>;

function toResponseFormat(given: Format | null | undefined): GenerationChoice["response_format"] {
  if (!given || given.type === "text") return null;
  if (given.type === "json_object") return { type: "json" };
  const { type, name, schema, strict } = given;
  return { type, name, schema, ...(typeof strict === "boolean" && { strict }) };
}

/** What the resource repeats. `model`: the one that is asked where the request names none. */
export function readEcho(body: ResponseBody, model: string): ResponseAsked {
  const { tools, text, reasoning, tool_choice, service_tier } = body;
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
    tools: (tools ?? []).map((given) => {
      if (given.type === "mcp") return given;
      const { type, name, description = null, parameters = null, strict } = given;
      return { type, name, description, parameters, strict: strict ?? false };
    }),
    ...(text && { text: { ...present(text), format: showFormat(text.format ?? { type: "text" }) } }),
    ...(reasoning && { reasoning: { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null } }),
    ...(service_tier && service_tier !== "auto" && { service_tier }),
  });
}
