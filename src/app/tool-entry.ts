/** Limits of the tools that a tenant registers, and what its MCP servers listed. */
import type { McpServer, Registration } from "../contract/registered-tool";
import { toEtag } from "./conditions";

/**
 * The most characters of a tool's schema as JSON text. One answer lists all of a tenant's tools, and a schema goes into every request that
 * offers it.
 */
export const MAX_TOOL_SCHEMA = 32_768;

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

/** A registered server as it is stored: with the tools that it listed. */
export interface McpServerEntry extends McpServer, Registration {
  readonly listing: McpListing;
  readonly listed_at: number;
}

/** The etag of a server as it is shown. Its tools count by the time at which they were listed. */
export const toServerEtag = ({ listing: _, ...shown }: McpServerEntry): string => toEtag(shown);

/** The most tools of one session, of one server and of one listing. */
export const MAX_OFFERED_TOOLS = 128;

/** Why a server could not list its tools. `no_key`: its credential is gone or cannot be opened. */
export interface McpFailure {
  readonly reason: "no_key" | "refused_address" | "unreachable" | "timeout" | "status" | "too_large" | "malformed";
  /** The server's HTTP status, if it answered with one. */
  readonly status: number | null;
}
