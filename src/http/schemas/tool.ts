/** The tools that a session offers, and the results that clients send. */
import { z } from "@hono/zod-openapi";
import type { ApprovalInput, ToolResultInput } from "../../app/session-api";
import { MAX_OFFERED_TOOLS, MAX_TOOL_SCHEMA } from "../../app/tool-entry";
import { TOOL_NAME } from "../../app/tools/offer-tools";
import { boundsFault } from "../../app/tools/schema-bounds";
import { id } from "../../contract/ids";
import { fileMapping } from "../../contract/tool";
import { MAX_CALL_ID_UNITS, MAX_REPLY_CALLS, type ToolDefinition } from "../../domain/message";
import { MAX_ARTIFACTS } from "../../domain/tool-run";
import { defined } from "./defined";

const MAX_DESCRIPTION = 16_384;
export const toolName = z.string().regex(TOOL_NAME, "1 to 64 letters, digits, _ or -");
export const toolDescription = z.string().max(MAX_DESCRIPTION);

/**
 * `findFault` makes further checks of the schema. Whether a client's tool has a good schema is left to the client, which
 * judges the arguments itself; the bounds hold for every tool.
 */
export const parametersWith = (findFault: (schema: Readonly<Record<string, unknown>>) => string | null) =>
  z
    .record(z.string(), z.unknown())
    .refine(({ type = "object" }) => type === "object", { path: ["type"], message: "must be object" })
    .superRefine((schema, context) => {
      const message = findFault(schema);
      if (message !== null) context.addIssue({ code: "custom", message });
    })
    .readonly()
    .openapi({ description: `A JSON Schema of type object, of at most ${MAX_TOOL_SCHEMA} characters, without circles of references` });

/** The parameters of a tool that a client of another vendor's API declares without any. */
export const NO_PARAMETERS = { type: "object", properties: {} };

const clientTool = z
  .strictObject({
    type: z.literal("client").optional().openapi({ description: "The client runs it, and gives its results back" }),
    name: toolName,
    description: toolDescription.optional().openapi({ description: "What the model reads of it" }),
    parameters: parametersWith(boundsFault),
    files: fileMapping.optional(),
  })
  .openapi("ClientTool");
const httpTool = z
  .strictObject({ type: z.literal("http"), name: toolName.openapi({ description: "Of one that the tenant registered" }) })
  .openapi("HttpToolOffer");
const mcpTools = z
  .strictObject({
    type: z.literal("mcp"),
    server: z.string().min(1).max(64).openapi({ description: "Of one that the tenant registered" }),
    tools: z
      .array(z.string().min(1).max(128))
      .max(MAX_OFFERED_TOOLS)
      .optional()
      .openapi({ description: "By the server's own names; absent: all that it was found to have" }),
  })
  .openapi("McpToolsOffer");

// No discriminated union: OpenAPI requires its property, and a client's tool may leave its type out.
const toolInput = z.union([clientTool, httpTool, mcpTools]);
export type ToolInput = z.infer<typeof toolInput>;

export const toolsInput = z
  .array(toolInput)
  .max(MAX_OFFERED_TOOLS)
  .superRefine((tools, context) => {
    const seen = new Set<string>();
    for (const [index, tool] of tools.entries()) {
      if (tool.type === "mcp") continue;
      if (seen.has(tool.name)) context.addIssue({ code: "custom", path: [index, "name"], message: "used by an earlier tool" });
      seen.add(tool.name);
    }
  });

export function toClientTool({ type: _, ...tool }: z.infer<typeof clientTool>): ToolDefinition {
  return defined(tool);
}

/** The provider's own id of a call, wherever a client names one. Its maximum is that of a provider's id. */
export const callId = z.string().min(1).max(MAX_CALL_ID_UNITS);

/** One request can answer every call of a reply. */
const MAX_RESULTS = MAX_REPLY_CALLS;

/** A field of an answer. It is accepted, so that an answer can be sent back as it is, and has no effect. */
export const setByServer = z.unknown().optional().openapi({ readOnly: true, description: "Set by the server, and ignored in requests" });

/** Calls of a recorded reply. A name that no provider accepts would make every later request fail. */
export const importedCalls = z
  .array(
    z.strictObject({
      call_id: callId.openapi({ description: "The provider's own id; may repeat" }),
      name: toolName,
      arguments: z.string().openapi({ description: "JSON text, as the model wrote it" }),
      id: setByServer,
      position: setByServer,
      execution_id: setByServer,
      redacted: setByServer,
    }),
  )
  .max(MAX_RESULTS);

const MAX_ARTIFACT_TYPE = 64;

/** Any JSON value, also `null`. A missing field is refused. */
const anyJson = z.unknown().refine((value) => value !== undefined, "required");

const artifact = z.strictObject({
  type: z.string().min(1).max(MAX_ARTIFACT_TYPE).openapi({ example: "stderr" }),
  content: anyJson.openapi({ description: "Any JSON value" }),
});

const toolResult = z
  .strictObject({
    execution_id: id("exe").optional(),
    call_id: callId.optional().openapi({ description: "Of calls with the same id the first open one is meant" }),
    output: anyJson.openapi({
      description: "Text, or any other JSON value, which is recorded as JSON text; images and other binary data belong to the artifacts",
    }),
    is_error: z.boolean().default(false).openapi({ description: "The tool failed; the output says how" }),
    exit_code: z.int().optional().openapi({ description: "Of a process" }),
    duration_ms: z.number().min(0).max(Number.MAX_SAFE_INTEGER).optional().openapi({ description: "From its start to its end" }),
    artifacts: z.array(artifact).max(MAX_ARTIFACTS).optional().openapi({
      description: "What came beside the output, as standard error or an image; kept with the execution, and not shown to the model",
    }),
  })
  .refine((result) => result.execution_id !== undefined || result.call_id !== undefined, {
    path: ["execution_id"],
    message: "execution_id or call_id is needed",
  });

export const toolResultList = z.array(toolResult).max(MAX_RESULTS);
export const toolResultsInput = z.strictObject({ results: toolResultList.min(1) }).openapi("ToolResults");

export function toToolResult(result: z.infer<typeof toolResult>): ToolResultInput {
  const { exit_code, duration_ms, artifacts } = result;
  return {
    execution_id: result.execution_id ?? null,
    call_id: result.call_id ?? null,
    output: typeof result.output === "string" ? result.output : JSON.stringify(result.output),
    is_error: result.is_error,
    ...(exit_code !== undefined && { exit_code }),
    ...(duration_ms !== undefined && { duration_ms: Math.round(duration_ms) }),
    ...(artifacts && { artifacts: artifacts.map(({ type, content }) => ({ type, content })) }),
  };
}

const MAX_REASON = 4_000;

const approval = z.strictObject({
  execution_id: id("exe"),
  approved: z.boolean().openapi({ description: "false: it is not run" }),
  reason: z.string().max(MAX_REASON).optional().openapi({ description: "Of a refusal: the model is told; of an approval it is not kept" }),
});

export const approvalsInput = z
  .strictObject({ approvals: z.array(approval).min(1).max(MAX_REPLY_CALLS).openapi({ description: "Each call once" }) })
  .openapi("Approvals");

export const toApproval = ({ execution_id, approved, reason }: z.infer<typeof approval>): ApprovalInput => ({
  execution_id,
  approved,
  reason: reason ?? null,
});
