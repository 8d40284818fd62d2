/** The input of `env.AI.run()` for a text model, with the types of the platform. */
import { z } from "zod";
import { toShape } from "../shape.ts";

const image = z.strictObject({
  type: z.literal("image_url"),
  // Its models receive bytes, because nothing is fetched for them.
  image_url: z.strictObject({ url: z.string().regex(/^data:image\/[a-z+.-]+;base64,/, "must be a data URL") }),
});
const text = z.strictObject({ type: z.literal("text"), text: z.string() });

const toolCall = toShape<{ id: string; type: "function"; function: { name: string; arguments: string } }>()({
  id: z.string().min(1),
  type: z.literal("function"),
  function: z.strictObject({ name: z.string().min(1), arguments: z.string() }),
});

/** Content is never null here, unlike with OpenAI. */
const message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: z.string() }),
  z.strictObject({ role: z.literal("user"), content: z.union([z.string(), z.array(z.discriminatedUnion("type", [text, image])).min(1)]) }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.string(),
    reasoning: z.string().exactOptional(),
    reasoning_content: z.string().exactOptional(),
    tool_calls: z.array(toolCall).min(1).exactOptional(),
  }),
  z.strictObject({ role: z.literal("tool"), content: z.string(), name: z.string().exactOptional(), tool_call_id: z.string().min(1) }),
]);
export type WorkersAiMessage = z.infer<typeof message>;

const tool = z.strictObject({
  type: z.literal("function"),
  function: z.strictObject({
    name: z.string().min(1),
    description: z.string().exactOptional(),
    parameters: z.record(z.string(), z.unknown()).exactOptional(),
  }),
});

type Inputs = Pick<
  ChatCompletionsMessagesInput,
  | "max_tokens"
  | "max_completion_tokens"
  | "temperature"
  | "top_p"
  | "seed"
  | "reasoning_effort"
  | "chat_template_kwargs"
  | "stream"
  | "stream_options"
>;

const settings = toShape<Inputs>()({
  max_tokens: z.int().min(1).exactOptional(),
  max_completion_tokens: z.int().min(1).exactOptional(),
  temperature: z.number().exactOptional(),
  top_p: z.number().exactOptional(),
  seed: z.int().exactOptional(),
  reasoning_effort: z.enum(["low", "medium", "high"]).nullable().exactOptional(),
  chat_template_kwargs: z.custom<ChatTemplateKwargs>((value) => typeof value === "object" && value !== null).exactOptional(),
  stream: z.literal(true).exactOptional(),
});

/** JSON mode takes the schema as it is, and the platform's types have OpenAI's envelope. */
const responseFormat = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({ type: z.literal("json_schema"), json_schema: z.record(z.string(), z.unknown()) }),
]);

export const runInputs = settings.extend({
  messages: z.array(message).min(1),
  tools: z.array(tool).exactOptional(),
  tool_choice: z
    .union([
      z.enum(["auto", "none", "required"]),
      z.strictObject({ type: z.literal("function"), function: z.strictObject({ name: z.string().min(1) }) }),
    ])
    .exactOptional(),
  response_format: responseFormat.exactOptional(),
});
export type RunInputs = z.infer<typeof runInputs>;
