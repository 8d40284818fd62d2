/** Puts, reads, lists, refreshes and removes a tenant's remote MCP servers. A PUT asks the server for its tools. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type McpServerEntry, toServerEtag } from "../../app/tool-entry";
import { listView } from "../../contract/page";
import type { FieldError } from "../../contract/problem";
import { type McpServer, mcpServerView } from "../../contract/registered-tool";
import { urlFault } from "../../lib/public-address";
import { readPrincipal } from "../auth";
import { callUnder, callWithRetry } from "../calls";
import { conditionHeaders, toCondition } from "../conditions";
import type { HttpDeps, HttpEnv } from "../deps";
import { onePage } from "../examples/shared";
import { mcpServerExample } from "../examples/tenant";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { json, jsonBody, taggedJson, tenantRoute } from "../routing";
import { namedPageQuery, takeListPage } from "../schemas/page";
import { mcpServerInput, serverName, toMcpServer, toMcpServerView } from "../schemas/server-tool";
import { faultOfName } from "../validation";

const tag = "tools";
const path = "/v1/mcp_servers/{server_name}";
const params = z.object({
  server_name: z.string().openapi({ example: "github", description: "The name that the tenant gave to the server" }),
});

const list = tenantRoute({
  method: "get",
  path: "/v1/mcp_servers",
  tag,
  scope: "tools:read",
  operationId: "listMcpServers",
  summary: "List MCP servers",
  description: "Lists the tenant's MCP servers with the tools found last.",
  request: { query: namedPageQuery() },
  responses: { 200: json("A page, in order of name", listView(mcpServerView), onePage(mcpServerExample)) },
});

const get = tenantRoute({
  method: "get",
  path,
  tag,
  scope: "tools:read",
  operationId: "getMcpServer",
  summary: "Read an MCP server",
  description: "Shows a server with the tools that it listed last.",
  refuses: ["mcp_server_not_found"],
  request: { params },
  responses: { 200: taggedJson("The server", mcpServerView, mcpServerExample) },
});

const put = tenantRoute({
  method: "put",
  path,
  tag,
  scope: "tools:write",
  operationId: "putMcpServer",
  summary: "Register or replace an MCP server",
  description: "Registers a remote MCP server, and asks it for its tools. A server that does not answer is refused and not stored.",
  refuses: ["tool_limit", "mcp_failed"],
  request: { params, headers: conditionHeaders, body: jsonBody(mcpServerInput, { url: "https://mcp.example.com", needs_approval: true }) },
  responses: { 200: taggedJson("The server with its tools", mcpServerView, mcpServerExample) },
});

const refresh = tenantRoute({
  method: "post",
  path: `${path}/refresh`,
  tag,
  scope: "tools:write",
  operationId: "refreshMcpServer",
  summary: "List an MCP server's tools again",
  description: "Asks the server for its tools. Sessions keep their tool definitions until their tools are set again.",
  refuses: ["mcp_server_not_found", "mcp_failed"],
  request: { params },
  responses: { 200: taggedJson("The server with its tools", mcpServerView, mcpServerExample) },
});

const remove = tenantRoute({
  method: "delete",
  path,
  tag,
  scope: "tools:write",
  operationId: "deleteMcpServer",
  summary: "Delete an MCP server",
  description: "Within 30 seconds, calls to its tools fail.",
  refuses: ["mcp_server_not_found"],
  request: { params, headers: conditionHeaders },
  responses: { 204: { description: "Removed" } },
});

const urlFaults = ({ url }: McpServer, deps: HttpDeps): FieldError[] => {
  const detail = urlFault(url, deps.config.allowPrivateToolUrls);
  return detail ? [{ field: "url", detail }] : [];
};

const sendServer = (c: Context<HttpEnv>, server: McpServerEntry) => c.json(toMcpServerView(server), 200, { ETag: toServerEtag(server) });

function registerReads(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const servers = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.listMcpServers(null),
    );
    return servers.ok
      ? c.json(
          takeListPage(servers.value.map(toMcpServerView), c.req.valid("query"), ({ name }) => name),
          200,
        )
      : sendProblem(c, servers.error);
  });

  app.openapi(get, async (c) => {
    const { server_name } = c.req.valid("param");
    const found = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.listMcpServers([server_name]),
    );
    if (!found.ok) return sendProblem(c, found.error);
    const [server] = found.value;
    return server ? sendServer(c, server) : sendProblem(c, { code: "mcp_server_not_found", server: server_name });
  });
}

export function registerMcpServers(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  registerReads(app, deps);

  app.openapi(put, async (c) => {
    const { tenant } = readPrincipal(c);
    const { server_name: name } = c.req.valid("param");
    const server = toMcpServer(c.req.valid("json"));
    const errors = [...faultOfName("server_name", serverName.safeParse(name)), ...urlFaults(server, deps)];
    if (errors.length > 0) return sendProblem(c, { code: "invalid_request", errors });
    const listing = await deps.listMcpTools(tenant, server);
    if (!listing.ok) return sendProblem(c, { code: "mcp_failed", ...listing.error });
    const condition = toCondition(c.req.valid("header"));
    const stored = await callUnder(
      condition,
      () => deps.tenants(tenant),
      (api) => api.putMcpServer(readAct(c), { name, server, listing: listing.value, condition }),
    );
    return stored.ok ? sendServer(c, stored.value) : sendProblem(c, stored.error);
  });

  app.openapi(refresh, async (c) => {
    const { tenant } = readPrincipal(c);
    const { server_name: name } = c.req.valid("param");
    const found = await deps.tenants(tenant).listMcpServers([name]);
    if (!found.ok) return sendProblem(c, found.error);
    const [entry] = found.value;
    if (!entry) return sendProblem(c, { code: "mcp_server_not_found", server: name });
    const { url, secret_header, timeout_ms, needs_approval, allowed_tools } = entry;
    const server: McpServer = { url, secret_header, timeout_ms, needs_approval, allowed_tools };
    const listing = await deps.listMcpTools(tenant, server);
    if (!listing.ok) return sendProblem(c, { code: "mcp_failed", ...listing.error });
    const kept = await deps.tenants(tenant).putMcpServer(readAct(c), { name, server, listing: listing.value, unchanged: entry.updated_at });
    return kept.ok ? sendServer(c, kept.value) : sendProblem(c, kept.error);
  });

  app.openapi(remove, async (c) => {
    const { server_name } = c.req.valid("param");
    const removed = await deps
      .tenants(readPrincipal(c).tenant)
      .deleteMcpServer(readAct(c), server_name, toCondition(c.req.valid("header")));
    return removed.ok ? c.body(null, 204) : sendProblem(c, removed.error);
  });
}
