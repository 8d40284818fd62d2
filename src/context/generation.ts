/**
 * Generation settings: how a model is asked to write its reply. A session has them, and a message may change them for its
 * own turn, field by field. Which provider can express which of them is in `generation-support`.
 */
import { z } from "zod";
import { estimateTokens } from "./tokens";

const MAX_OUTPUT_TOKENS = 100_000_000;
/** Every provider that knows stop sequences takes this many. */
const MAX_STOPS = 4;
const MAX_STOP_UNITS = 256;
/** The largest seed that every provider with seeds takes. */
const MAX_SEED = 2_147_483_647;
const MAX_TOOL_NAME = 64;

export const EFFORTS = ["none", "minimal", "low", "medium", "high"] as const;
export type Effort = (typeof EFFORTS)[number];

const responseFormat = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json") }),
  z.strictObject({
    type: z.literal("json_schema"),
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, "1 to 64 letters, digits, _ or -"),
    schema: z.record(z.string(), z.unknown()).describe("The JSON Schema of the reply"),
    strict: z.boolean().optional().describe("The provider must enforce the schema. Default: false"),
  }),
]);

const fields = {
  temperature: z.number().min(0).max(2).describe("Randomness of the choice of words. Anthropic takes at most 1"),
  top_p: z.number().min(0).max(1).describe("The share of the likeliest words to choose from"),
  max_output_tokens: z
    .int()
    .min(1)
    .max(MAX_OUTPUT_TOKENS)
    .describe("The most tokens of each reply. The model's own maximum holds where it is smaller"),
  stop: z
    .array(z.string().min(1).max(MAX_STOP_UNITS))
    .min(1)
    .max(MAX_STOPS)
    .readonly()
    .describe("The reply ends before the first of these texts"),
  seed: z.int().min(0).max(MAX_SEED).describe("The same seed gives the same reply, as far as the provider keeps to it"),
  tool_choice: z
    .union(
      [z.enum(["auto", "none", "required"]), z.strictObject({ name: z.string().min(1).max(MAX_TOOL_NAME) })],
      "must be auto, none, required, or an object with the name of a tool",
    )
    .describe("Whether the model calls a tool. A forced call holds for the first reply of a turn; after the results the model is free"),
  parallel_tool_calls: z.boolean().describe("Whether one reply may hold several calls"),
  response_format: responseFormat.describe("The form of the reply's text"),
  reasoning: z.strictObject({ effort: z.enum(EFFORTS) }).describe("How much the model thinks before it replies"),
};

export const generationSchema = z.strictObject({
  temperature: fields.temperature.optional(),
  top_p: fields.top_p.optional(),
  max_output_tokens: fields.max_output_tokens.optional(),
  stop: fields.stop.optional(),
  seed: fields.seed.optional(),
  tool_choice: fields.tool_choice.optional(),
  parallel_tool_calls: fields.parallel_tool_calls.optional(),
  response_format: fields.response_format.optional(),
  reasoning: fields.reasoning.optional(),
});
/** Settings that are in force. An absent one is left to the provider. */
export type Generation = z.infer<typeof generationSchema>;
export type GenerationField = keyof Generation;
export const GENERATION_FIELDS = generationSchema.keyof().options;

export const generationChoiceSchema = z.strictObject({
  temperature: fields.temperature.nullable().optional(),
  top_p: fields.top_p.nullable().optional(),
  max_output_tokens: fields.max_output_tokens.nullable().optional(),
  stop: fields.stop.nullable().optional(),
  seed: fields.seed.nullable().optional(),
  tool_choice: fields.tool_choice.nullable().optional(),
  parallel_tool_calls: fields.parallel_tool_calls.nullable().optional(),
  response_format: fields.response_format.nullable().optional(),
  reasoning: fields.reasoning.nullable().optional(),
});
/** What one level names. Null: the setting of the level above does not hold, and the provider's default does. */
export type GenerationChoice = z.infer<typeof generationChoiceSchema>;

/** Merges two choices field by field. A null of `nearer` stays, because it takes effect on the level below. */
export const mergeChoice = (farther: GenerationChoice, nearer: GenerationChoice): GenerationChoice => ({ ...farther, ...nearer });

/** The settings that are in force when `nearer` is applied to `farther`. */
export function mergeGeneration(farther: Generation, nearer: GenerationChoice): Generation {
  const merged = Object.entries({ ...farther, ...nearer }).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(merged) as Generation;
}

/** Raw tokens of what the model reads of the settings: the schema of its reply. */
export function weighGeneration({ response_format: format }: GenerationChoice): number {
  return format?.type === "json_schema" ? estimateTokens(JSON.stringify([format.name, format.schema])) : 0;
}
