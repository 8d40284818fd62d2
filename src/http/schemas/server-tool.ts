/** HTTP tools and MCP servers of a tenant, as clients put them and as they are shown. */
import { z } from "@hono/zod-openapi";
import type { McpServerEntry } from "../../app/tool-entry";
import { schemaFault } from "../../app/tools/usable-schema";
import { type HttpTool, httpToolMethod, type McpServer, type McpServerView } from "../../contract/registered-tool";
import { fileMapping } from "../../contract/tool";
import { credentialName } from "./credential";
import { parametersWith, toolDescription, toolName } from "./tool";

/** A server's name is the prefix of its tools' names. Together they have at most 64 characters. */
export const serverName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/, "1 to 32 letters, digits, _ or -, a letter or digit first");
export { toolName };

const MAX_URL = 2_048;
const url = z.string().min(1).max(MAX_URL).openapi({
  example: "https://api.example.com/weather",
  description: "An https URL with a public address, without credentials and fragment",
});

/** Headers that belong to the connection, or that are set here. */
const TAKEN =
  /^(host|connection|keep-alive|te|trailers?|transfer-encoding|upgrade|content-.*|accept|accept-encoding|expect|idempotency-key|user-agent|range|if-.*|proxy-.*|sec-.*|cf-.*|cdn-loop|x-forwarded-.*|x-real-ip|forwarded|via|mcp-.*|last-event-id)$/i;

const secretHeader = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "1 to 64 letters, digits, _ or -, a letter first")
      .refine((name) => !TAKEN.test(name), "is set by the connection or by this service"),
    credential: credentialName,
    prefix: z
      .string()
      .regex(/^[\x20-\x7e]{0,32}$/, "at most 32 visible ASCII characters and spaces")
      .default("")
      .openapi({ description: "Text in front of the credential", example: "Bearer " }),
  })
  .openapi({ description: "A header with one of the tenant's credentials. It is sent only to the origin of the URL" });

export const MAX_TIMEOUT_MS = 300_000;
const timeout = z
  .int()
  .min(1_000)
  .max(MAX_TIMEOUT_MS)
  .default(30_000)
  .openapi({ description: "Milliseconds for a call, including redirects and reading the response" });
/**
 * Four calls may run at once, each with its answer as bytes, joined and as text, in an object of 128 MB. MCP has the same
 * limit.
 */
export const MAX_TOOL_ANSWER_BYTES = 4_194_304;
const needsApproval = z.boolean().default(false).openapi({ description: "A person approves each call before it runs" });

export const httpToolInput = z
  .strictObject({
    description: toolDescription.nullable().default(null).openapi({ description: "The description that the model reads" }),
    // Refuses a schema that cannot be judged here: arguments would be sent unchecked, as the model wrote them.
    parameters: parametersWith(schemaFault),
    url,
    method: httpToolMethod.default("POST").openapi({ description: "GET and DELETE send the arguments in the query, the others as JSON" }),
    secret_header: secretHeader.nullable().default(null),
    timeout_ms: timeout,
    max_bytes: z
      .int()
      .min(1)
      .max(MAX_TOOL_ANSWER_BYTES)
      .default(1_000_000)
      .openapi({ description: "The most bytes of a response. A larger response fails the call as too_large" }),
    needs_approval: needsApproval,
    files: fileMapping.nullable().default(null),
  })
  .openapi("PutTool");

export const mcpServerInput = z
  .strictObject({
    url,
    secret_header: secretHeader.nullable().default(null),
    timeout_ms: timeout,
    needs_approval: needsApproval,
    allowed_tools: z
      .array(z.string().min(1).max(128))
      .max(128)
      .nullable()
      .default(null)
      .openapi({ description: "The server's own tool names. Null: all of its tools" }),
  })
  .openapi("PutMcpServer");

export function toMcpServerView({ listing, ...rest }: McpServerEntry): McpServerView {
  return { ...rest, tools: listing.tools.map(({ name }) => name), skipped: listing.skipped, truncated: listing.truncated };
}

export const toHttpTool = (input: z.infer<typeof httpToolInput>): HttpTool => input;
export const toMcpServer = (input: z.infer<typeof mcpServerInput>): McpServer => input;
