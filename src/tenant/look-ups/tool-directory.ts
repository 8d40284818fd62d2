/** Looks up the tools of one tenant in its object, for all sessions in the isolate. It caches answers, so that not every tool call asks. */
import type { Background, Clock } from "../../app/ports";
import type { Schedule } from "../../app/session-ports";
import type { TenantToolsApi } from "../../app/tenant-api";
import type { HttpTool, McpServer } from "../../contract/registered-tool";
import { createLookUpCache, type LookUp } from "./look-up-cache";

interface ToolDirectoryDeps {
  /** Must make a fresh stub for each call: a stub stays broken once its object was reset. */
  readonly stub: Pick<TenantToolsApi, "listTools" | "listMcpServers">;
  readonly now: Clock;
  readonly ttlMs?: number;
  readonly generation?: () => number;
  readonly background?: Background;
  readonly schedule?: Schedule;
}

interface TenantTools {
  readonly http: LookUp<HttpTool>;
  readonly mcp: LookUp<McpServer>;
}

export function createToolDirectory({ stub, ...cache }: ToolDirectoryDeps): TenantTools {
  async function findTool(name: string): Promise<HttpTool | null> {
    const found = await stub.listTools([name]);
    return found.ok ? (found.value[0] ?? null) : null;
  }
  async function findServer(name: string): Promise<McpServer | null> {
    const found = await stub.listMcpServers([name]);
    const entry = found.ok ? found.value[0] : undefined;
    if (!entry) return null;
    // The listing is left out: it is large, and a tool call does not need it.
    const { url, secret_header, timeout_ms, needs_approval, allowed_tools } = entry;
    return { url, secret_header, timeout_ms, needs_approval, allowed_tools };
  }
  return { http: createLookUpCache({ ask: findTool, ...cache }), mcp: createLookUpCache({ ask: findServer, ...cache }) };
}
