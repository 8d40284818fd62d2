/** Lists the tools of a remote MCP server: all pages of its listing, limited to what can be offered to a model. */
import { MAX_OFFERED_TOOLS, type McpFailure, type McpListing, type McpTool } from "../app/tool-entry";
import { boundsFault } from "../app/tools/schema-bounds";
import type { McpServer } from "../contract/registered-tool";
import { assertNever } from "../lib/assert-never";
import { err, ok, type Result } from "../lib/result";
import { type McpDeps, type McpSessionFailure, SDK_OPTIONS, withMcpSession } from "./mcp-client";
import type { ToolSecret } from "./tool-secret";

/** Maximum number of pages that are read. A server that sends more is faulty or hostile. */
const MAX_PAGES = 32;
const MAX_NAME = 128;
const MAX_DESCRIPTION = 16_384;
/**
 * Maximum length of a listing as JSON text, in UTF-16 units. A listing is one row in the tenant's object, and goes into
 * sessions.
 */
const MAX_LISTING = 500_000;

interface ListRequest {
  readonly server: Pick<McpServer, "url" | "timeout_ms" | "allowed_tools">;
  readonly secret: ToolSecret | null;
  readonly signal: AbortSignal;
}

/** A tool as the SDK parsed it. */
interface RawTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
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

function toListing(found: readonly RawTool[], isMore: boolean): McpListing {
  const usable = found.filter(isUsable);
  const tools: McpTool[] = [];
  let size = 0;
  for (const tool of usable.slice(0, MAX_OFFERED_TOOLS).map(toTool)) {
    size += JSON.stringify(tool).length;
    if (size > MAX_LISTING) break;
    tools.push(tool);
  }
  const skipped = found.filter((tool) => !isUsable(tool)).map(({ name }) => name.slice(0, MAX_NAME).toWellFormed());
  return { tools, skipped: skipped.slice(0, MAX_OFFERED_TOOLS), truncated: isMore || tools.length < usable.length };
}

/** Matches the JSON escape of a lone surrogate, which no request may contain. */
const LONE_SURROGATE = /\\ud[89a-f]/i;

/**
 * A schema by which arguments cannot be judged here is accepted, because the server judges them itself. A tool with a schema
 * out of bounds is offered to no model.
 */
function isUsable({ name, inputSchema }: RawTool): boolean {
  const isFit = name.length > 0 && name.length <= MAX_NAME && boundsFault(inputSchema) === null;
  return isFit && name.isWellFormed() && !LONE_SURROGATE.test(JSON.stringify(inputSchema));
}

function toTool({ name, description = "", inputSchema }: RawTool): McpTool {
  const said = description.slice(0, MAX_DESCRIPTION).toWellFormed();
  return { name, description: said.trim() === "" ? null : said, parameters: inputSchema };
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
