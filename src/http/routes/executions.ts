/** Shows the outcomes of tool calls: one by its id, whichever session it belongs to, and all of one session. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import { executionDetail, executionView } from "../../contract/execution";
import { id } from "../../contract/ids";
import { listView } from "../../contract/page";
import { readPrincipal } from "../auth";
import type { HttpDeps, HttpEnv } from "../deps";
import { executionDetailExample, executionExample } from "../examples/conversation";
import { onePage } from "../examples/shared";
import { sendProblem } from "../problem";
import { reachReadModel } from "../read-model";
import { json, tenantRoute } from "../routing";
import { pageQuery, toList } from "../schemas/page";
import { sessionPath } from "../schemas/paths";
import { sessionClient } from "../session-calls";

const tag = "executions";

const show = tenantRoute({
  method: "get",
  path: "/v1/executions/{execution_id}",
  tag,
  scope: "sessions:read",
  operationId: "getExecution",
  summary: "Read a tool call",
  description:
    "Shows a call with its arguments, output and artifacts, whichever session it belongs to. It becomes available shortly after the call.",
  refuses: ["execution_not_found", "read_model_unavailable"],
  request: { params: z.object({ execution_id: id("exe") }) },
  responses: { 200: json("The execution. It becomes available shortly after the call", executionDetail, executionDetailExample) },
});

const ofSession = tenantRoute({
  method: "get",
  path: "/v1/sessions/{session_id}/executions",
  tag,
  scope: "sessions:read",
  opensTo: "session",
  operationId: "listExecutions",
  summary: "List a session's tool calls",
  description: "Lists calls with their status, in order of position.",
  request: { params: sessionPath, query: pageQuery },
  responses: { 200: json("A page, in order of position", listView(executionView), onePage(executionExample)) },
});

export function registerExecutions(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(show, async (c) => {
    const { execution_id: execution } = c.req.valid("param");
    const input = { tenant: readPrincipal(c).tenant, execution };
    const reached = await reachReadModel(c, deps, () => deps.executions.readExecution(input));
    if (!reached.ok) return sendProblem(c, reached.error);
    return reached.value ? c.json(reached.value, 200) : sendProblem(c, { code: "execution_not_found", execution });
  });

  app.openapi(ofSession, async (c) => {
    const { after = null, limit, order } = c.req.valid("query");
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const page = await calls.repeatable((api, caller) => api.executions(caller, { after, limit, order }));
    return page.ok
      ? c.json(
          toList(page.value, (row) => row.position),
          200,
        )
      : sendProblem(c, page.error);
  });
}
