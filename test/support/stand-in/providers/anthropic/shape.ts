/** The supported part of the body of `POST /v1/messages`, with the types of `@anthropic-ai/sdk`. */
import type Anthropic from "@anthropic-ai/sdk";
import { z } from "zod";
import { toShape } from "../shape.ts";

const cacheControl = toShape<Anthropic.CacheControlEphemeral>()({
  type: z.literal("ephemeral"),
  ttl: z.enum(["5m", "1h"]).exactOptional(),
});

export const textBlock = toShape<Anthropic.TextBlockParam>()({
  type: z.literal("text"),
  text: z.string(),
  cache_control: cacheControl.exactOptional(),
});

const urlSource = toShape<Anthropic.URLImageSource>()({ type: z.literal("url"), url: z.string() });
const base64Image = toShape<Anthropic.Base64ImageSource>()({
  type: z.literal("base64"),
  media_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
  data: z.base64(),
});
const imageBlock = toShape<Anthropic.ImageBlockParam>()({
  type: z.literal("image"),
  source: z.discriminatedUnion("type", [urlSource, base64Image]),
  cache_control: cacheControl.exactOptional(),
});

const base64Pdf = toShape<Anthropic.Base64PDFSource>()({
  type: z.literal("base64"),
  media_type: z.literal("application/pdf"),
  data: z.base64(),
});
const plainText = toShape<Anthropic.PlainTextSource>()({ type: z.literal("text"), media_type: z.literal("text/plain"), data: z.string() });
const documentBlock = toShape<Anthropic.DocumentBlockParam>()({
  type: z.literal("document"),
  source: z.discriminatedUnion("type", [urlSource, base64Pdf, plainText]),
  title: z.string().nullable().exactOptional(),
  context: z.string().nullable().exactOptional(),
  citations: toShape<Anthropic.CitationsConfigParam>()({ enabled: z.boolean().exactOptional() }).nullable().exactOptional(),
  cache_control: cacheControl.exactOptional(),
});

/** Thinking has no cache marker. One would be refused as an unknown field. */
const thinkingBlock = toShape<Anthropic.ThinkingBlockParam>()({
  type: z.literal("thinking"),
  thinking: z.string(),
  signature: z.string(),
});
const redactedBlock = toShape<Anthropic.RedactedThinkingBlockParam>()({ type: z.literal("redacted_thinking"), data: z.string() });

const toolUseBlock = toShape<Anthropic.ToolUseBlockParam>()({
  type: z.literal("tool_use"),
  id: z.string().regex(/^[a-zA-Z0-9_-]+$/, "String should match pattern '^[a-zA-Z0-9_-]+$'"),
  name: z.string().min(1).max(200),
  input: z.record(z.string(), z.unknown()),
  caller: toShape<Anthropic.DirectCaller>()({ type: z.literal("direct") }).exactOptional(),
  cache_control: cacheControl.exactOptional(),
});
const toolResultBlock = toShape<Anthropic.ToolResultBlockParam>()({
  type: z.literal("tool_result"),
  tool_use_id: z.string().regex(/^[a-zA-Z0-9_-]+$/, "String should match pattern '^[a-zA-Z0-9_-]+$'"),
  content: z.union([z.string(), z.array(z.discriminatedUnion("type", [textBlock, imageBlock, documentBlock]))]).exactOptional(),
  is_error: z.boolean().exactOptional(),
  cache_control: cacheControl.exactOptional(),
});

const block = z.discriminatedUnion("type", [
  textBlock,
  imageBlock,
  documentBlock,
  thinkingBlock,
  redactedBlock,
  toolUseBlock,
  toolResultBlock,
]);
const content = z.union([z.string(), z.array(block)]);

const message = z.discriminatedUnion("role", [
  toShape<Anthropic.UserMessageParam>()({ role: z.literal("user"), content }),
  toShape<Anthropic.AssistantMessageParam>()({ role: z.literal("assistant"), content }),
]);

const tool = toShape<Anthropic.Tool>()({
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/, "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
  description: z.string().exactOptional(),
  input_schema: z.looseObject({ type: z.literal("object") }),
  type: z.literal("custom").nullable().exactOptional(),
  strict: z.boolean().exactOptional(),
  eager_input_streaming: z.boolean().nullable().exactOptional(),
  cache_control: cacheControl.exactOptional(),
});

const thinking = z.discriminatedUnion("type", [
  toShape<Anthropic.ThinkingConfigEnabled>()({
    type: z.literal("enabled"),
    budget_tokens: z.int().min(1_024, "Input should be greater than or equal to 1024"),
    display: z.enum(["summarized", "omitted"]).nullable().exactOptional(),
  }),
  toShape<Anthropic.ThinkingConfigDisabled>()({ type: z.literal("disabled") }),
  toShape<Anthropic.ThinkingConfigBetweenTools>()({ type: z.literal("between_tools") }),
  toShape<Anthropic.ThinkingConfigAdaptive>()({
    type: z.literal("adaptive"),
    display: z.enum(["summarized", "omitted"]).nullable().exactOptional(),
  }),
]);

const toolChoice = z.discriminatedUnion("type", [
  toShape<Anthropic.ToolChoiceAuto>()({ type: z.literal("auto"), disable_parallel_tool_use: z.boolean().exactOptional() }),
  toShape<Anthropic.ToolChoiceNone>()({ type: z.literal("none") }),
  toShape<Anthropic.ToolChoiceAny>()({ type: z.literal("any"), disable_parallel_tool_use: z.boolean().exactOptional() }),
  toShape<Anthropic.ToolChoiceTool>()({
    type: z.literal("tool"),
    name: z.string().min(1),
    disable_parallel_tool_use: z.boolean().exactOptional(),
  }),
]);

export const messagesBody = toShape<Anthropic.MessageCreateParamsStreaming>()({
  model: z.string().min(1),
  max_tokens: z.int().min(1, "Input should be greater than or equal to 1"),
  messages: z.array(message),
  system: z.union([z.string(), z.array(textBlock)]).exactOptional(),
  tools: z.array(tool).exactOptional(),
  tool_choice: toolChoice.exactOptional(),
  thinking: thinking.exactOptional(),
  stop_sequences: z.array(z.string().regex(/\S/, "each stop sequence must contain non-whitespace")).exactOptional(),
  output_config: toShape<Anthropic.OutputConfig>()({
    effort: z.enum(["low", "medium", "high", "xhigh", "max"]).nullable().exactOptional(),
    format: toShape<Anthropic.JSONOutputFormat>()({ type: z.literal("json_schema"), schema: z.record(z.string(), z.unknown()) })
      .nullable()
      .exactOptional(),
  }).exactOptional(),
  cache_control: cacheControl.nullable().exactOptional(),
  metadata: toShape<Anthropic.Metadata>()({ user_id: z.string().nullable().exactOptional() }).exactOptional(),
  stream: z.literal(true),
}).extend({
  // The SDK's types follow the newest models, which take no sampling. The API takes it for older ones.
  temperature: z.number().min(0).max(1, "Input should be less than or equal to 1").exactOptional(),
  top_p: z.number().min(0).max(1).exactOptional(),
});

export type MessagesBody = z.infer<typeof messagesBody>;
export type Message = MessagesBody["messages"][number];
export type Block = z.infer<typeof block>;

/** A plain text is one text block. */
export const toBlocks = ({ content: held }: Message): readonly Block[] =>
  typeof held === "string" ? [{ type: "text", text: held }] : held;
