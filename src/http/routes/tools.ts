/** Puts, reads, lists and removes a tenant's HTTP tools. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { toEtag } from "../../app/conditions";
import { listView } from "../../contract/page";
import { httpToolEntry } from "../../contract/registered-tool";
import { urlFault } from "../../lib/public-address";
import { readPrincipal } from "../auth";
import { callUnder, callWithRetry } from "../calls";
import { conditionHeaders, toCondition } from "../conditions";
import type { HttpDeps, HttpEnv } from "../deps";
import { onePage } from "../examples/shared";
import { toolExample, weatherParameters } from "../examples/tenant";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { json, jsonBody, taggedJson, tenantRoute } from "../routing";
import { namedPageQuery, takeListPage } from "../schemas/page";
import { httpToolInput, toHttpTool, toolName } from "../schemas/server-tool";
import { faultOfName } from "../validation";

const tag = "tools";
const path = "/v1/tools/{tool_name}";
const params = z.object({
  tool_name: z.string().openapi({ example: "weather", description: "The name that the tenant gave to the tool" }),
});

const list = tenantRoute({
  method: "get",
  path: "/v1/tools",
  tag,
  scope: "tools:read",
  operationId: "listTools",
  summary: "List HTTP tools",
  description: "Lists the tenant's HTTP tools.",
  request: { query: namedPageQuery() },
  responses: { 200: json("A page, in order of name", listView(httpToolEntry), onePage(toolExample)) },
});

const get = tenantRoute({
  method: "get",
  path,
  tag,
  scope: "tools:read",
  operationId: "getTool",
  summary: "Read an HTTP tool",
  description: "Shows the definition that the model reads, and how the service calls the tool.",
  refuses: ["tool_not_found"],
  request: { params },
  responses: { 200: taggedJson("The tool", httpToolEntry, toolExample) },
});

const put = tenantRoute({
  method: "put",
  path,
  tag,
  scope: "tools:write",
  operationId: "putTool",
  summary: "Register or replace an HTTP tool",
  description:
    "Registers a URL that the service calls when the model asks for it. A session offers the tool when its `tools` name it, and keeps the definition that it found then.",
  refuses: ["tool_limit"],
  request: {
    params,
    headers: conditionHeaders,
    body: jsonBody(httpToolInput, {
      description: "The weather in a city now.",
      parameters: weatherParameters,
      url: "https://api.example.com/weather",
    }),
  },
  responses: {
    200: taggedJson(
      "The tool. Calls use the change within 30 seconds. The definition that a session offers changes when its tools are set again",
      httpToolEntry,
      toolExample,
    ),
  },
});

const remove = tenantRoute({
  method: "delete",
  path,
  tag,
  scope: "tools:write",
  operationId: "deleteTool",
  summary: "Delete an HTTP tool",
  description: "Within 30 seconds, calls to it fail.",
  refuses: ["tool_not_found"],
  request: { params, headers: conditionHeaders },
  responses: { 204: { description: "Removed" } },
});

export function registerTools(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const tools = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.listTools(null),
    );
    return tools.ok
      ? c.json(
          takeListPage(tools.value, c.req.valid("query"), ({ name }) => name),
          200,
        )
      : sendProblem(c, tools.error);
  });

  app.openapi(get, async (c) => {
    const { tool_name } = c.req.valid("param");
    const found = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.listTools([tool_name]),
    );
    if (!found.ok) return sendProblem(c, found.error);
    const [tool] = found.value;
    return tool ? c.json(tool, 200, { ETag: toEtag(tool) }) : sendProblem(c, { code: "tool_not_found", tool: tool_name });
  });

  app.openapi(put, async (c) => {
    const { tool_name } = c.req.valid("param");
    const tool = toHttpTool(c.req.valid("json"));
    const name = faultOfName("tool_name", toolName.safeParse(tool_name));
    const detail = urlFault(tool.url, deps.config.allowPrivateToolUrls);
    const errors = [...name, ...(detail ? [{ field: "url", detail }] : [])];
    if (errors.length > 0) return sendProblem(c, { code: "invalid_request", errors });
    const condition = toCondition(c.req.valid("header"));
    const stored = await callUnder(
      condition,
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.putTool(readAct(c), tool_name, tool, condition),
    );
    return stored.ok ? c.json(stored.value, 200, { ETag: toEtag(stored.value) }) : sendProblem(c, stored.error);
  });

  app.openapi(remove, async (c) => {
    const { tool_name } = c.req.valid("param");
    const removed = await deps.tenants(readPrincipal(c).tenant).deleteTool(readAct(c), tool_name, toCondition(c.req.valid("header")));
    return removed.ok ? c.body(null, 204) : sendProblem(c, removed.error);
  });
}
