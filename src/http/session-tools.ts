/**
 * Finds the tools that a request names at the tenant's object, and makes whole definitions of them. A session stores the
 * definitions that its model reads.
 */
import type { TenantToolsApi } from "../app/tenant-api";
import { MAX_OFFERED_TOOLS, type McpServerEntry } from "../app/tool-entry";
import { offerHttpTool, offerMcpTools } from "../app/tools/offer-tools";
import type { FieldError } from "../contract/problem";
import type { HttpToolEntry } from "../contract/registered-tool";
import type { TenantId } from "../domain/ids";
import type { ToolDefinition } from "../domain/message";
import { err, ok, type Result } from "../lib/result";
import { callWithRetry } from "./calls";
import type { HttpDeps } from "./deps";
import type { HttpError } from "./problem";
import { type ToolInput, toClientTool } from "./schemas/tool";

type Deps = Pick<HttpDeps, "tenants">;
type Registered = { readonly tools: readonly HttpToolEntry[]; readonly servers: readonly McpServerEntry[] };

/** Null when no tools were named. Faults are reported at `tools.N`, by the client's numbers. */
export async function findTools(
  deps: Deps,
  tenant: TenantId,
  named: readonly ToolInput[] | null | undefined,
): Promise<Result<readonly ToolDefinition[] | null, HttpError>> {
  if (!named) return ok(null);
  const registered = await readRegistered(deps, tenant, named);
  if (!registered.ok) return registered;
  const found = named.map((tool, index) => findOne(tool, index, registered.value));
  const errors = found.flatMap((each) => (each.ok ? [] : [each.error]));
  if (errors.length > 0) return err({ code: "invalid_request", errors });
  return refuseClashes(
    found.map((each) => (each.ok ? each.value : [])),
    named,
  );
}

/** The tenant's object is not called if the request names none of its tools. */
async function readRegistered(deps: Deps, tenant: TenantId, named: readonly ToolInput[]): Promise<Result<Registered, HttpError>> {
  const tools = named.flatMap((tool) => (tool.type === "http" ? [tool.name] : []));
  const servers = named.flatMap((tool) => (tool.type === "mcp" ? [tool.server] : []));
  const ask = <T>(names: readonly string[], work: (api: TenantToolsApi) => Promise<Result<readonly T[], HttpError>>) =>
    names.length === 0 ? Promise.resolve(ok([])) : callWithRetry(() => deps.tenants(tenant), work);
  const [foundTools, foundServers] = await Promise.all([
    ask<HttpToolEntry>(tools, (api) => api.listTools(tools)),
    ask<McpServerEntry>(servers, (api) => api.listMcpServers(servers)),
  ]);
  if (!foundTools.ok) return foundTools;
  return foundServers.ok ? ok({ tools: foundTools.value, servers: foundServers.value }) : foundServers;
}

function findOne(tool: ToolInput, index: number, { tools, servers }: Registered): Result<readonly ToolDefinition[], FieldError> {
  switch (tool.type) {
    case "http": {
      const entry = tools.find(({ name }) => name === tool.name);
      return entry ? ok([offerHttpTool(entry)]) : err({ field: `tools.${index}.name`, detail: "no such tool" });
    }
    case "mcp": {
      const server = servers.find(({ name }) => name === tool.server);
      if (!server) return err({ field: `tools.${index}.server`, detail: "no such MCP server" });
      const known = new Set(server.listing.tools.map(({ name }) => name));
      const missing = tool.tools?.findIndex((name) => !known.has(name)) ?? -1;
      if (missing >= 0) return err({ field: `tools.${index}.tools.${missing}`, detail: "the server has no tool of this name" });
      return ok(offerMcpTools(server, tool.tools ?? null));
    }
    default:
      return ok([toClientTool(tool)]);
  }
}

/** `found` holds the definitions at the index of the entry that named them. */
function refuseClashes(
  found: readonly (readonly ToolDefinition[])[],
  named: readonly ToolInput[],
): Result<readonly ToolDefinition[], HttpError> {
  const seen = new Set<string>();
  for (const [index, tools] of found.entries()) {
    for (const { name } of tools) {
      const field = `tools.${index}.${named[index]?.type === "mcp" ? "server" : "name"}`;
      if (seen.has(name)) return err({ code: "invalid_request", errors: [{ field, detail: `${name} is used by an earlier tool` }] });
      seen.add(name);
    }
  }
  if (seen.size <= MAX_OFFERED_TOOLS) return ok(found.flat());
  return err({ code: "invalid_request", errors: [{ field: "tools", detail: `${seen.size} tools in all: at most ${MAX_OFFERED_TOOLS}` }] });
}
