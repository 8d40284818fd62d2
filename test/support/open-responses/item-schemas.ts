/**
 * The items of a response and their content, as the Open Responses specification of 2026-04-24 describes them. Every schema is strict, so
 * that an unknown field is a fault. Fields and items that only OpenAI's API has are those of the types of its `openai` package, and
 * a comment says so.
 */
import { z } from "zod";

export const count = z.int().nonnegative();
const name = z.string().min(1);

const urlCitation = z.strictObject({
  type: z.literal("url_citation"),
  url: z.string(),
  start_index: count,
  end_index: count,
  title: z.string(),
});
const topLogProb = z.strictObject({ token: z.string(), logprob: z.number(), bytes: z.array(count) });
export const logProbs = z.array(topLogProb.extend({ top_logprobs: z.array(topLogProb) }));

const text = z.string();
export const outputText = z.strictObject({
  type: z.literal("output_text"),
  text,
  annotations: z.array(urlCitation),
  logprobs: logProbs.optional(),
});
const refusal = z.strictObject({ type: z.literal("refusal"), refusal: text });
const inputText = z.strictObject({ type: z.literal("input_text"), text });
/** `file_id`: the specification's chapter on files has it, and OpenAI's types. */
const inputImage = z.strictObject({
  type: z.literal("input_image"),
  image_url: text.nullable(),
  detail: z.enum(["low", "high", "auto"]),
  file_id: text.nullable().optional(),
});
const inputFile = z.strictObject({
  type: z.literal("input_file"),
  filename: text.optional(),
  file_url: text.optional(),
  file_id: text.optional(),
});
export const summaryText = z.strictObject({ type: z.literal("summary_text"), text });
const reasoningText = z.strictObject({ type: z.literal("reasoning_text"), text });

/** What the model wrote. */
export const writtenPart = z.discriminatedUnion("type", [outputText, refusal]);
/** What was given to it. */
const givenPart = z.discriminatedUnion("type", [inputText, inputImage, inputFile]);

export const itemStatus = z.enum(["in_progress", "completed", "incomplete"]);
const item = { id: name, status: itemStatus };

export const replyMessage = z.strictObject({
  type: z.literal("message"),
  ...item,
  role: z.literal("assistant"),
  content: z.array(writtenPart),
  phase: z.enum(["commentary", "final_answer"]).optional(),
});
const givenMessage = z.strictObject({
  type: z.literal("message"),
  ...item,
  role: z.enum(["user", "system", "developer"]),
  content: z.array(givenPart),
});
export const functionCall = z.strictObject({
  type: z.literal("function_call"),
  ...item,
  call_id: name,
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
  arguments: text,
});
const functionCallOutput = z.strictObject({
  type: z.literal("function_call_output"),
  ...item,
  call_id: name,
  output: z.union([text, z.array(givenPart)]),
});
/** Prose wants a status of every item; the schema of this one has none. */
export const reasoning = z.strictObject({
  type: z.literal("reasoning"),
  id: name,
  status: itemStatus.optional(),
  summary: z.array(summaryText),
  content: z.array(reasoningText).optional(),
  encrypted_content: text.optional(),
});
export const compaction = z.strictObject({
  type: z.literal("compaction"),
  id: name,
  status: itemStatus.optional(),
  encrypted_content: text,
  created_by: text.optional(),
});
/** OpenAI's: a call that the server ran. */
export const mcpCall = z.strictObject({
  type: z.literal("mcp_call"),
  id: name,
  server_label: name,
  name,
  arguments: text,
  output: text.nullable(),
  error: z
    .strictObject({
      type: z.literal("mcp_tool_execution_error"),
      content: z.array(z.strictObject({ type: z.literal("text"), text })),
    })
    .nullable(),
  status: z.enum([...itemStatus.options, "calling", "failed"]),
  approval_request_id: name.optional(),
});
/** OpenAI's: a call that waits for a person's approval. */
const mcpApprovalRequest = z.strictObject({
  type: z.literal("mcp_approval_request"),
  id: name,
  server_label: name,
  name,
  arguments: text,
});
/** OpenAI's: the person's answer. */
const mcpApprovalResponse = z.strictObject({
  type: z.literal("mcp_approval_response"),
  id: name,
  approval_request_id: name,
  approve: z.boolean(),
  reason: text.nullable(),
});

/** What a response may hold. A result of a client's tool never is its output. */
export const outputItem = z.discriminatedUnion("type", [replyMessage, functionCall, reasoning, compaction, mcpCall, mcpApprovalRequest]);
export type OutputItem = z.infer<typeof outputItem>;

const message = z.discriminatedUnion("role", [replyMessage, givenMessage]);

/** What the lists of inputs and conversations hold. */
export const listedItem = z.union([
  message,
  functionCall,
  functionCallOutput,
  reasoning,
  compaction,
  mcpCall,
  mcpApprovalRequest,
  mcpApprovalResponse,
]);
