/** The HTTP tools and MCP servers that a tenant registers for its models to call. */
import { z } from "@hono/zod-openapi";
import { time } from "./ids";
import { fileMapping } from "./tool";

const registration = z.object({
  name: z.string(),
  created_at: time,
  updated_at: time,
  credential_missing: z.boolean().openapi({ description: "The named credential does not exist, so the tool or server is not called" }),
});
export type Registration = z.infer<typeof registration>;

const secretHeader = z.object({
  name: z.string(),
  credential: z.string(),
  prefix: z.string().openapi({ description: "Text in front of the credential, such as `Bearer `" }),
});
export type SecretHeader = z.infer<typeof secretHeader>;

export const httpToolMethod = z.enum(["POST", "GET", "PUT", "PATCH", "DELETE"]);

const httpTool = z.object({
  description: z.string().nullable(),
  parameters: z.record(z.string(), z.unknown()).readonly().openapi({ description: "A JSON Schema of type object" }),
  url: z.string(),
  method: httpToolMethod,
  secret_header: secretHeader.nullable(),
  timeout_ms: z.int(),
  max_bytes: z.int().openapi({ description: "The most bytes of a response, after decoding" }),
  needs_approval: z.boolean(),
  files: fileMapping.nullable(),
});
/** A URL that is called with the model's arguments. */
export type HttpTool = z.infer<typeof httpTool>;

export const httpToolEntry = z.object({ ...registration.shape, ...httpTool.shape }).openapi("Tool");
export type HttpToolEntry = z.infer<typeof httpToolEntry>;

const mcpServer = z.object({
  url: z.string(),
  secret_header: secretHeader.nullable(),
  timeout_ms: z.int(),
  needs_approval: z.boolean().openapi({ description: "Applies to all tools of the server" }),
  allowed_tools: z
    .array(z.string())
    .readonly()
    .nullable()
    .openapi({ description: "Names that the server gives to its tools. Null: all of its tools" }),
});
/** A remote MCP server that speaks streamable HTTP. */
export type McpServer = z.infer<typeof mcpServer>;

export const mcpServerView = z
  .object({
    ...registration.shape,
    ...mcpServer.shape,
    listed_at: time.openapi({ description: "When the server last listed its tools" }),
    tools: z.array(z.string()).readonly().openapi({ description: "The tools of the newest list, by the server's own names" }),
    skipped: z.array(z.string()).readonly().openapi({
      description:
        "Tools that cannot be offered to a model: the name or schema is too large, the schema refers to itself, or the text is not valid Unicode",
    }),
    truncated: z.boolean().openapi({ description: "The server has more tools than are stored. Name the tools you want in allowed_tools" }),
  })
  .openapi("McpServer");
export type McpServerView = z.infer<typeof mcpServerView>;
