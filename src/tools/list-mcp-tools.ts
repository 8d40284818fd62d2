/** Lists the tools of a remote MCP server: all pages of its listing, limited to what can be offered to a model. */
import { MAX_OFFERED_TOOLS, type McpFailure, type McpListing } from "../app/tool-entry";
import { type RawTool, toListing } from "../app/tools/mcp-listing";
import type { McpServer } from "../contract/registered-tool";
import { assertNever } from "../lib/assert-never";
import { err, ok, type Result } from "../lib/result";
import { type McpDeps, type McpSessionFailure, SDK_OPTIONS, withMcpSession } from "./mcp-client";
import type { ToolSecret } from "./tool-secret";

/** Maximum number of pages that are read. A server that sends more is faulty or hostile. */
const MAX_PAGES = 32;

interface ListRequest {
  readonly server: Pick<McpServer, "url" | "timeout_ms" | "allowed_tools">;
  readonly secret: ToolSecret | null;
  readonly signal: AbortSignal;
}

/** Lists the tools. Never throws: failures are values. */
export async function listMcpTools({ server, secret, signal }: ListRequest, deps: McpDeps): Promise<Result<McpListing, McpFailure>> {
  const { url, timeout_ms, allowed_tools } = server;
  const listed = await withMcpSession(
    { url, timeout_ms, secret, signal },
    async (client, within) => {
      const found: RawTool[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MAX_PAGES; page++) {
        const { tools, nextCursor } = await client.listTools(cursor === undefined ? {} : { cursor }, { ...SDK_OPTIONS, signal: within });
        found.push(...tools.filter(({ name }) => allowed_tools?.includes(name) ?? true));
        cursor = nextCursor;
        if (cursor === undefined || found.length > MAX_OFFERED_TOOLS) break;
      }
      return { found, isMore: cursor !== undefined };
    },
    deps,
  );
  return listed.ok ? ok(toListing(listed.value.found, listed.value.isMore)) : err(toMcpFailure(listed.error));
}

function toMcpFailure(failure: McpSessionFailure): McpFailure {
  switch (failure.kind) {
    case "status":
      return { reason: "status", status: failure.status };
    case "error":
    case "malformed":
      return { reason: "malformed", status: null };
    case "refused_address":
    case "unreachable":
    case "timeout":
    case "too_large":
      return { reason: failure.kind, status: null };
    default:
      return assertNever(failure);
  }
}
