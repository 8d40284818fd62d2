/** The supported part of the body of `POST /v1/responses`, with the types of `openai`. */
import type {
  EasyInputMessage,
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseFormatTextJSONSchemaConfig,
  ResponseFunctionToolCall,
  ResponseInputFile,
  ResponseInputImage,
  ResponseInputItem,
  ResponseInputText,
  ResponseOutputMessage,
  ResponseOutputText,
  ResponseReasoningItem,
  ResponseTextConfig,
  Tool,
  ToolChoiceFunction,
} from "openai/resources/responses/responses";
import type { Reasoning } from "openai/resources/shared";
import { z } from "zod";
import { toShape } from "../shape.ts";

const inputText = toShape<ResponseInputText>()({ type: z.literal("input_text"), text: z.string() });
const inputImage = z.strictObject({
  type: z.literal("input_image"),
  image_url: z.string().nullable().exactOptional(),
  file_id: z.string().nullable().exactOptional(),
  // The type requires it, but the API and the vendor's own package use its default, `auto`.
  detail: z.enum(["low", "high", "auto", "original"]).exactOptional(),
} satisfies { readonly [K in keyof ResponseInputImage]?: z.ZodType });
const inputFile = toShape<ResponseInputFile>()({
  type: z.literal("input_file"),
  file_url: z.string().exactOptional(),
  file_data: z.string().exactOptional(),
  file_id: z.string().nullable().exactOptional(),
  filename: z.string().exactOptional(),
});
const outputText = z.strictObject({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(z.never()).exactOptional(),
} satisfies { readonly [K in keyof ResponseOutputText]?: z.ZodType });

const said = z.enum(["in_progress", "completed", "incomplete"]).exactOptional();

/** A message of a user, a system or a developer. */
export const inputMessage = z.strictObject({
  type: z.literal("message").exactOptional(),
  role: z.enum(["user", "system", "developer"]),
  content: z.union([z.string(), z.array(z.discriminatedUnion("type", [inputText, inputImage, inputFile]))]),
} satisfies { readonly [K in keyof EasyInputMessage]?: z.ZodType });

/** A message of the model: with its issued id, or as plain text from elsewhere. */
export const outputMessage = z.strictObject({
  type: z.literal("message").exactOptional(),
  role: z.literal("assistant"),
  id: z.string().exactOptional(),
  content: z.union([z.string(), z.array(outputText)]),
  status: said,
  phase: z.enum(["commentary", "final_answer"]).nullable().exactOptional(),
} satisfies { readonly [K in keyof ResponseOutputMessage]?: z.ZodType });

export const reasoningItem = toShape<ResponseReasoningItem>()({
  type: z.literal("reasoning"),
  id: z.string(),
  summary: z.array(toShape<ResponseReasoningItem.Summary>()({ type: z.literal("summary_text"), text: z.string() })),
  encrypted_content: z.string().nullable().exactOptional(),
  status: said,
});

export const functionCall = toShape<ResponseFunctionToolCall>()({
  type: z.literal("function_call"),
  id: z.string().exactOptional(),
  call_id: z.string().min(1),
  name: z.string().min(1),
  arguments: z.string(),
  status: said,
});

export const functionOutput = toShape<ResponseInputItem.FunctionCallOutput>()({
  type: z.literal("function_call_output"),
  id: z.string().nullable().exactOptional(),
  call_id: z.string().min(1),
  output: z.union([z.string(), z.array(z.discriminatedUnion("type", [inputText, inputImage, inputFile]))]),
  status: said,
});

const reference = toShape<ResponseInputItem.ItemReference>()({ type: z.literal("item_reference"), id: z.string() });

/** The schema of an item, chosen by its type, or by its role if it has no type. */
function findSchema(item: unknown): z.ZodType<InputItem> {
  const { type = "message", role } = typeof item === "object" && item !== null ? (item as { type?: unknown; role?: unknown }) : {};
  switch (type) {
    case "reasoning":
      return reasoningItem;
    case "function_call":
      return functionCall;
    case "function_call_output":
      return functionOutput;
    case "item_reference":
      return reference;
    case "message":
      return role === "assistant" ? outputMessage : inputMessage;
    default:
      return z.strictObject({ type: z.literal("message") }).transform((): never => z.NEVER);
  }
}

export type InputItem =
  | z.infer<typeof inputMessage>
  | z.infer<typeof outputMessage>
  | z.infer<typeof reasoningItem>
  | z.infer<typeof functionCall>
  | z.infer<typeof functionOutput>
  | z.infer<typeof reference>;

export const readItem = (item: unknown) => findSchema(item).safeParse(item);

export const tool = z.strictObject({
  type: z.literal("function"),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, "does not match pattern '^[a-zA-Z0-9_-]+$'"),
  description: z.string().nullable().exactOptional(),
  parameters: z.record(z.string(), z.unknown()).nullable(),
  // Required by the type, but optional in the API.
  strict: z.boolean().nullable().exactOptional(),
} satisfies { readonly [K in keyof FunctionTool]?: z.ZodType });

const textFormat = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  toShape<ResponseFormatTextJSONSchemaConfig>()({
    type: z.literal("json_schema"),
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
    schema: z.record(z.string(), z.unknown()),
    strict: z.boolean().nullable().exactOptional(),
  }),
]);

export const responsesBody = toShape<ResponseCreateParamsStreaming>()({
  model: z.string().min(1),
  input: z.array(z.custom<ResponseInputItem>()),
  instructions: z.string().nullable().exactOptional(),
  tools: z.array(z.custom<Tool>()).exactOptional(),
  tool_choice: z
    .union([z.enum(["auto", "none", "required"]), toShape<ToolChoiceFunction>()({ type: z.literal("function"), name: z.string().min(1) })])
    .exactOptional(),
  parallel_tool_calls: z.boolean().nullable().exactOptional(),
  max_output_tokens: z.int().min(16, "Expected a value >= 16").nullable().exactOptional(),
  include: z.array(z.literal("reasoning.encrypted_content")).nullable().exactOptional(),
  reasoning: toShape<Reasoning>()({
    effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).nullable().exactOptional(),
    summary: z.enum(["auto", "concise", "detailed"]).nullable().exactOptional(),
  })
    .nullable()
    .exactOptional(),
  prompt_cache_key: z.string().nullable().exactOptional(),
  store: z.boolean().nullable().exactOptional(),
  stream: z.literal(true),
  temperature: z.number().min(0).max(2).nullable().exactOptional(),
  top_p: z.number().min(0).max(1).nullable().exactOptional(),
  text: toShape<ResponseTextConfig>()({ format: textFormat.exactOptional() }).exactOptional(),
});
export type ResponsesBody = z.infer<typeof responsesBody>;
