/** What a tenant registers for its models to call: HTTP tools, and MCP servers with the tools that they listed. */
import type { FileMapping } from "../domain/message";

/**
 * The most characters of a tool's schema as JSON text. One answer lists all of a tenant's tools, and a schema goes into every request that
 * offers it.
 */
export const MAX_TOOL_SCHEMA = 32_768;

export const HTTP_TOOL_METHODS = ["POST", "GET", "PUT", "PATCH", "DELETE"] as const;
type HttpToolMethod = (typeof HTTP_TOOL_METHODS)[number];

/** A header with one of the tenant's credentials. `prefix` is put in front of it (`Bearer `). */
export interface SecretHeader {
  readonly name: string;
  readonly credential: string;
  readonly prefix: string;
}

/** A URL that is called with the model's arguments. */
export interface HttpTool {
  readonly description: string | null;
  /** A JSON Schema of type object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly url: string;
  readonly method: HttpToolMethod;
  readonly secret_header: SecretHeader | null;
  readonly timeout_ms: number;
  /** The most bytes of a response, after decoding. */
  readonly max_bytes: number;
  readonly needs_approval: boolean;
  /** Null: guessed from the tool's name. */
  readonly files: FileMapping | null;
}

/** A remote MCP server that speaks streamable HTTP. */
export interface McpServer {
  readonly url: string;
  readonly secret_header: SecretHeader | null;
  readonly timeout_ms: number;
  /** Applies to all of its tools. */
  readonly needs_approval: boolean;
  /** The server's own tool names. Null: all of its tools. */
  readonly allowed_tools: readonly string[] | null;
}

export interface McpTool {
  /** The server's name for the tool. */
  readonly name: string;
  readonly description: string | null;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The tools that a server listed, in its order. */
export interface McpListing {
  readonly tools: readonly McpTool[];
  /** Names of tools that cannot be offered to a model: the name or schema is too large, or is not valid Unicode. */
  readonly skipped: readonly string[];
  /** The server has more tools than are stored. */
  readonly truncated: boolean;
}

interface Registered {
  readonly name: string;
  readonly created_at: number;
  readonly updated_at: number;
  /** The credential that it names is gone, so it is not called. */
  readonly credential_missing: boolean;
}

export interface HttpToolEntry extends HttpTool, Registered {}

export interface McpServerEntry extends McpServer, Registered {
  readonly listing: McpListing;
  readonly listed_at: number;
}

/** The most tools of one session, of one server and of one listing. */
export const MAX_OFFERED_TOOLS = 128;

/** Why a server could not list its tools. `no_key`: its credential is gone or cannot be opened. */
export interface McpFailure {
  readonly reason: "no_key" | "refused_address" | "unreachable" | "timeout" | "status" | "too_large" | "malformed";
  /** The server's HTTP status, if it answered with one. */
  readonly status: number | null;
}
