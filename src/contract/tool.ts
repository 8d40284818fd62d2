/** Tools as a session offers them, and the calls that a model made. */
import { z } from "@hono/zod-openapi";
import type { FileMapping, ToolDefinition } from "../domain/message";
import { domainShape } from "./domain-shape";
import { id } from "./ids";

export const fileMapping = domainShape<FileMapping>()(
  z
    .strictObject({
      op: z.enum(["read", "write", "edit"]),
      path: z.string().min(1).max(128).openapi({ description: "The argument that names the file, or a list of files" }),
    })
    .openapi({ description: "What the tool does to a file. If absent, it is guessed from the tool's name" }),
);

export const toolDefinition = domainShape<ToolDefinition>()(
  z
    .object({
      name: z.string(),
      description: z.string().optional(),
      parameters: z.record(z.string(), z.unknown()).readonly(),
      runs: z
        .discriminatedUnion("by", [
          z.object({ by: z.literal("http"), tool: z.string() }),
          z.object({ by: z.literal("mcp"), server: z.string(), tool: z.string() }),
          z.object({ by: z.literal("builtin") }),
        ])
        .optional()
        .openapi({ description: "Absent if the client runs the tool" }),
      needs_approval: z.literal(true).optional().openapi({ description: "A person approves each call before it runs" }),
      files: fileMapping.optional(),
    })
    .openapi("ToolDefinition"),
);

export const toolCallView = z.object({
  id: id("exe").openapi({ description: "The id of its execution, which results and approvals name as `execution_id`" }),
  call_id: z.string().openapi({ description: "The provider's own id of the call, which may repeat" }),
  name: z.string(),
  arguments: z.string().openapi({ description: "JSON text, as the model wrote it" }),
  runs: z.enum(["client", "server"]).openapi({ description: "Which side runs the call. A client sends results of its own calls only" }),
  // An enum, because the generator leaves null out of a nullable literal.
  approval: z
    .enum(["pending"])
    .nullable()
    .openapi({ description: "`pending`: the call runs after a person approves it. Null if it is not waiting for approval" }),
});
export type ToolCallView = z.infer<typeof toolCallView>;
