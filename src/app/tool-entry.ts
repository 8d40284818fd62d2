/** What a tenant registers for its models to call: HTTP tools, and MCP servers with the tools that they were found to have. */
import type { FileMapping } from "../domain/message";

/** Of a tool's schema as JSON text: all of a tenant's tools are one answer, and a schema goes into every request that offers it. */
export const MAX_TOOL_SCHEMA = 32_768;

export const HTTP_TOOL_METHODS = ["POST", "GET", "PUT", "PATCH", "DELETE"] as const;
type HttpToolMethod = (typeof HTTP_TOOL_METHODS)[number];

/** A header that carries one of the tenant's credentials; `prefix` stands before it (`Bearer `). */
export interface SecretHeader {
  readonly name: string;
  readonly credential: string;
  readonly prefix: string;
}

/** One URL that is called with the model's arguments. */
export interface HttpTool {
  readonly description: string | null;
  /** A JSON Schema of type object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly url: string;
  readonly method: HttpToolMethod;
  readonly secret_header: SecretHeader | null;
  readonly timeout_ms: number;
  /** Of an answer, decoded. */
  readonly max_bytes: number;
  readonly needs_approval: boolean;
  /** Null: guessed by the tool's name. */
  readonly files: FileMapping | null;
}

/** A remote MCP server that speaks streamable HTTP. */
export interface McpServer {
  readonly url: string;
  readonly secret_header: SecretHeader | null;
  readonly timeout_ms: number;
  /** Of all its tools. */
  readonly needs_approval: boolean;
  /** By the server's own names; null: all that it has. */
  readonly allowed_tools: readonly string[] | null;
}

export interface McpTool {
  /** As the server knows it. */
  readonly name: string;
  readonly description: string | null;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What a server said it has, in its order. */
export interface McpListing {
  readonly tools: readonly McpTool[];
  /** Names of those that no model can be offered: their name or schema is too large, or no Unicode. */
  readonly skipped: readonly string[];
  /** It has more than are kept. */
  readonly truncated: boolean;
}

interface Registered {
  readonly name: string;
  readonly created_at: number;
  readonly updated_at: number;
  /** Its credential is gone: it is not called. */
  readonly credential_missing: boolean;
}

export interface HttpToolEntry extends HttpTool, Registered {}

export interface McpServerEntry extends McpServer, Registered {
  readonly listing: McpListing;
  readonly listed_at: number;
}

/** Tools of one session, of one server and of one listing, at most. */
export const MAX_OFFERED_TOOLS = 128;

/** Why a server could not be asked what it has. `no_key`: its credential is gone or cannot be opened. */
export interface McpFailure {
  readonly reason: "no_key" | "refused_address" | "unreachable" | "timeout" | "status" | "too_large" | "malformed";
  /** The server's HTTP status, if it answered with one. */
  readonly status: number | null;
}
