/** The supported part of the body of `POST /v1/chat/completions`, with the types of `openai`. */
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionContentPartImage,
  ChatCompletionContentPartText,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionNamedToolChoice,
  ChatCompletionStreamOptions,
  ChatCompletionSystemMessageParam,
  ChatCompletionToolMessageParam,
  ChatCompletionUserMessageParam,
} from "openai/resources/chat/completions";
import type { FunctionDefinition } from "openai/resources/shared";
import { z } from "zod";
import { toShape } from "../shape.ts";

const text = toShape<ChatCompletionContentPartText>()({ type: z.literal("text"), text: z.string() });
const image = toShape<ChatCompletionContentPartImage>()({
  type: z.literal("image_url"),
  image_url: toShape<ChatCompletionContentPartImage.ImageURL>()({
    url: z.string().regex(/^(?:https?:\/\/|data:image\/)/, "Expected a valid URL, but got a value with an invalid format"),
    detail: z.enum(["auto", "low", "high"]).exactOptional(),
  }),
});
/** A file is sent with its bytes or by its id here, never by address. */
const file = toShape<ChatCompletionContentPart.File>()({
  type: z.literal("file"),
  file: toShape<ChatCompletionContentPart.File.File>()({
    file_data: z.string().exactOptional(),
    file_id: z.string().exactOptional(),
    filename: z.string().exactOptional(),
  }),
});

const name = z
  .string()
  .regex(/^[a-zA-Z0-9_-]{1,64}$/, "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'");
const toolCall = toShape<ChatCompletionMessageFunctionToolCall>()({
  id: z.string().min(1),
  type: z.literal("function"),
  function: toShape<ChatCompletionMessageFunctionToolCall.Function>()({ name, arguments: z.string() }),
});

const system = toShape<ChatCompletionSystemMessageParam>()({ role: z.literal("system"), content: z.union([z.string(), z.array(text)]) });
const developer = z.strictObject({ role: z.literal("developer"), content: z.union([z.string(), z.array(text)]) });
const user = toShape<ChatCompletionUserMessageParam>()({
  role: z.literal("user"),
  content: z.union([z.string(), z.array(z.discriminatedUnion("type", [text, image, file])).min(1)]),
});
const tool = toShape<ChatCompletionToolMessageParam>()({
  role: z.literal("tool"),
  content: z.union([z.string(), z.array(text)]),
  tool_call_id: z.string().min(1),
});

const assistantFields = {
  role: z.literal("assistant"),
  content: z
    .union([z.string(), z.array(text)])
    .nullable()
    .exactOptional(),
  tool_calls: z.array(toolCall).min(1).exactOptional(),
};
const assistant = toShape<ChatCompletionAssistantMessageParam>()(assistantFields);
/** Compatible endpoints with thinking expect it under the name under which they sent it. */
const compatibleAssistant = z.strictObject({ ...assistantFields, reasoning_content: z.string().exactOptional() });

export type ChatMessage =
  | z.infer<typeof system>
  | z.infer<typeof developer>
  | z.infer<typeof user>
  | z.infer<typeof tool>
  | z.infer<typeof compatibleAssistant>;

export type ChatStyle = "openai" | "compatible";

const messages = {
  openai: z.discriminatedUnion("role", [system, developer, user, assistant, tool]),
  compatible: z.discriminatedUnion("role", [system, developer, user, compatibleAssistant, tool]),
};

/** A separate schema, so that a fault is reported at its place. */
export const readMessage = (raw: unknown, style: ChatStyle): z.ZodSafeParseResult<ChatMessage> => messages[style].safeParse(raw);

const functionTool = toShape<ChatCompletionFunctionTool>()({
  type: z.literal("function"),
  function: toShape<FunctionDefinition>()({
    name,
    description: z.string().exactOptional(),
    parameters: z.record(z.string(), z.unknown()).exactOptional(),
    strict: z.boolean().nullable().exactOptional(),
  }),
});

export const chatBody = toShape<ChatCompletionCreateParamsStreaming>()({
  model: z.string().min(1),
  messages: z.array(z.custom<ChatCompletionCreateParamsStreaming["messages"][number]>()),
  tools: z.array(functionTool).min(1).exactOptional(),
  tool_choice: z
    .union([
      z.enum(["auto", "none", "required"]),
      toShape<ChatCompletionNamedToolChoice>()({ type: z.literal("function"), function: z.strictObject({ name: z.string().min(1) }) }),
    ])
    .exactOptional(),
  parallel_tool_calls: z.boolean().exactOptional(),
  max_tokens: z.int().min(1).nullable().exactOptional(),
  max_completion_tokens: z.int().min(1).nullable().exactOptional(),
  reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).nullable().exactOptional(),
  prompt_cache_key: z.string().nullable().exactOptional(),
  store: z.boolean().nullable().exactOptional(),
  temperature: z.number().min(0).max(2).nullable().exactOptional(),
  top_p: z.number().min(0).max(1).nullable().exactOptional(),
  seed: z.int().nullable().exactOptional(),
  stop: z.array(z.string()).min(1).max(4).exactOptional(),
  response_format: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("text") }),
      z.strictObject({ type: z.literal("json_object") }),
      z.strictObject({
        type: z.literal("json_schema"),
        json_schema: z.strictObject({
          name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
          schema: z.record(z.string(), z.unknown()).exactOptional(),
          strict: z.boolean().nullable().exactOptional(),
        }),
      }),
    ])
    .exactOptional(),
  stream: z.literal(true),
  stream_options: toShape<ChatCompletionStreamOptions>()({ include_usage: z.boolean().exactOptional() }).nullable().exactOptional(),
});
export type ChatBody = z.infer<typeof chatBody>;
