/**
 * The body of `POST /v1/messages` and of `count_tokens`. What would change the answer and has no counterpart here is refused by name. What is
 * harmless is accepted and ignored. docs/clients/anthropic.md lists every parameter, and a test compares the list with these schemas.
 */
import { z } from "@hono/zod-openapi";

const MAX_MESSAGES = 100_000;

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);

/** A parameter that this service cannot honour. Clients send some of them without a value. */
const refused = (detail: string) => z.unknown().refine(isNothing, detail).optional();
const ignored = z.unknown().optional();
const UNSUPPORTED = "not supported";

const textBlock = z.object({ type: z.literal("text"), text: z.string() });
/** What a block holds depends on its type. Blocks that the server knows already are not looked at. */
const anyBlock = z.looseObject({ type: z.string() });
export type GivenBlock = z.infer<typeof anyBlock>;

const message = z.object({
  role: z.enum(["user", "assistant", "system"]),
  content: z.union([z.string(), z.array(anyBlock)], "must be a string or a list of blocks"),
});
export type MessageParam = z.infer<typeof message>;

const tool = z.looseObject({
  type: z.string().nullish(),
  name: z.string(),
  description: z.string().optional(),
  input_schema: z.record(z.string(), z.unknown()).optional(),
  input_examples: z.array(z.record(z.string(), z.unknown())).optional(),
  allowed_callers: z.array(z.string()).optional(),
});
export type GivenTool = z.infer<typeof tool>;

const parallel = { disable_parallel_tool_use: z.boolean().optional() };
const toolChoice = z.discriminatedUnion("type", [
  z.object({ type: z.literal("auto"), ...parallel }),
  z.object({ type: z.literal("any"), ...parallel }),
  z.object({ type: z.literal("tool"), name: z.string(), ...parallel }),
  z.object({ type: z.literal("none") }),
]);

const display = { display: z.enum(["summarized", "omitted"]).nullish() };
const LEAST_BUDGET = 1_024;
const thinking = z.discriminatedUnion("type", [
  z.object({ type: z.literal("enabled"), budget_tokens: z.int().min(LEAST_BUDGET), ...display }),
  z.object({ type: z.literal("adaptive"), ...display }),
  z.object({ type: z.literal("disabled") }),
]);

const outputFormat = z.object({ type: z.literal("json_schema"), schema: z.record(z.string(), z.unknown()) });
const outputConfig = z.strictObject({
  effort: z.enum(["low", "medium", "high", "xhigh", "max"]).nullish(),
  format: outputFormat.nullish(),
});

/** Only whether the client wants the context to be summarised makes a difference. */
const contextManagement = z.looseObject({ edits: z.array(z.looseObject({ type: z.string() })).nullish() });

/** What both routes take. */
const shared = {
  model: z.string().min(1),
  messages: z.array(message).min(1).max(MAX_MESSAGES),
  system: z.union([z.string(), z.array(textBlock)], "must be a string or a list of text blocks").optional(),
  tools: z.array(tool).nullish(),
  tool_choice: toolChoice.nullish(),
  thinking: thinking.nullish(),
  output_config: outputConfig.nullish(),
  output_format: outputFormat.nullish(),
  cache_control: ignored,
  context_management: contextManagement.nullish(),
  speed: ignored,
  mcp_servers: refused(`${UNSUPPORTED}: register the server, and offer its tools in the session`),
};

export const countBody = z.strictObject(shared);
export type CountBody = z.infer<typeof countBody>;

export const messageBody = z
  .strictObject({
    ...shared,
    max_tokens: z.int().min(1),
    stream: z.boolean().nullish(),
    stop_sequences: z.array(z.string()).nullish(),
    temperature: z.number().min(0).max(1).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    top_k: refused(`${UNSUPPORTED}: this service has no such setting`),
    metadata: z.object({ user_id: z.string().nullish() }).nullish(),
    service_tier: z.enum(["auto", "standard_only"]).nullish(),
    diagnostics: ignored,
    container: refused(UNSUPPORTED),
    inference_geo: refused(`${UNSUPPORTED}: the provider's region is the model's`),
    compaction: refused(`${UNSUPPORTED}: the session's policy compacts`),
    fallbacks: refused(`${UNSUPPORTED}: name fallback_models in the session's policy`),
    fallback_credit_token: refused(UNSUPPORTED),
    billing_policy: refused(UNSUPPORTED),
    thread: refused(`${UNSUPPORTED}: name the session in X-Session-Id`),
  })
  .refine(({ thinking: given, max_tokens }) => given?.type !== "enabled" || given.budget_tokens < max_tokens, {
    path: ["thinking", "budget_tokens"],
    message: "must be less than max_tokens",
  });
export type MessageBody = z.infer<typeof messageBody>;
