/** Client tools, and the results that clients give back. */
import { z } from "@hono/zod-openapi";
import type { ToolResultInput } from "../../app/session-api";
import type { ToolCallView } from "../../app/session-views";
import { MAX_CALL_ID_UNITS, MAX_REPLY_CALLS, type ToolDefinition } from "../../domain/message";
import { defined, documents } from "./documents";
import { id } from "./ids";

const MAX_TOOLS = 128;
const MAX_DESCRIPTION = 16_384;
/** The names that every provider takes. */
const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "1 to 64 letters, digits, _ or -");

const toolInput = z
  .strictObject({
    name: toolName,
    description: z.string().max(MAX_DESCRIPTION).optional(),
    parameters: z
      .record(z.string(), z.unknown())
      .refine(({ type = "object" }) => type === "object", { path: ["type"], message: "must be object" })
      .readonly()
      .openapi({ description: "A JSON Schema of type object" }),
    files: z
      .strictObject({
        op: z.enum(["read", "write", "edit"]),
        path: z.string().min(1).max(100).openapi({ description: "The argument that names the file, or a list of them" }),
      })
      .readonly()
      .optional()
      .openapi({ description: "What it does to files, for the lists under a summary; absent: guessed by its name. No model is told" }),
  })
  .openapi("ToolDefinition");

export const toolsInput = z
  .array(toolInput)
  .max(MAX_TOOLS)
  .superRefine((tools, context) => {
    const seen = new Set<string>();
    for (const [index, { name }] of tools.entries()) {
      if (seen.has(name)) context.addIssue({ code: "custom", path: [index, "name"], message: "used by an earlier tool" });
      seen.add(name);
    }
  });

export function toTools(tools: z.infer<typeof toolsInput> | null | undefined): readonly ToolDefinition[] | null {
  return tools ? tools.map(defined) : null;
}

export const toolView = documents<ToolDefinition>()(toolInput);

export const toolCallView = documents<ToolCallView>()(
  z.object({
    execution_id: id("exe"),
    call_id: z.string().openapi({ description: "The provider's own id; may repeat" }),
    name: z.string(),
    arguments: z.string().openapi({ description: "JSON text, as the model wrote it" }),
    runs: z.enum(["client", "server"]).openapi({ description: "Who runs it; a client gives results of its own calls only" }),
    approval: z.literal("pending").nullable().openapi({ description: "`pending`: it runs once a person has allowed it" }),
  }),
);

/** The provider's own id of a call, wherever a client names one: as long as a provider's may be. */
export const callId = z.string().min(1).max(MAX_CALL_ID_UNITS);

/** Every call of a reply can be answered at once. */
const MAX_RESULTS = MAX_REPLY_CALLS;

/** Calls of a recorded reply. A name that no provider takes would make every later request fail. */
export const importedCalls = z
  .array(
    z.strictObject({
      call_id: callId.openapi({ description: "The provider's own id; may repeat" }),
      name: toolName,
      arguments: z.string().openapi({ description: "JSON text, as the model wrote it" }),
    }),
  )
  .max(MAX_RESULTS);

const toolResult = z
  .strictObject({
    execution_id: id("exe").optional(),
    call_id: callId.optional().openapi({ description: "Of calls with the same id the first open one is meant" }),
    output: z
      .unknown()
      .refine((value) => value !== undefined, "required")
      .openapi({ description: "Text, or any other JSON value, which is recorded as JSON text" }),
    is_error: z.boolean().default(false),
  })
  .refine((result) => result.execution_id !== undefined || result.call_id !== undefined, {
    path: ["execution_id"],
    message: "execution_id or call_id is needed",
  });

export const toolResultsInput = z.strictObject({ results: z.array(toolResult).min(1).max(MAX_RESULTS) }).openapi("ToolResults");

export function toToolResult(result: z.infer<typeof toolResult>): ToolResultInput {
  return {
    execution_id: result.execution_id ?? null,
    call_id: result.call_id ?? null,
    output: typeof result.output === "string" ? result.output : JSON.stringify(result.output),
    is_error: result.is_error,
  };
}
