/** The record of a session, searched: what its model reads through `memory_query`, and what is still in its view. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { HttpDeps, HttpEnv } from "../deps";
import { sendProblem } from "../problem";
import { json, tenantRoute } from "../routing";
import { sessionPath } from "../schemas/ids";
import { recallQuery, recallView, toRecallInput } from "../schemas/recall";
import { sessionCalls } from "../session-calls";

const recall = tenantRoute({
  method: "get",
  path: "/v1/sessions/{session_id}/recall",
  tag: "context",
  scope: "sessions:read",
  summary: "Look up what was said, by words, execution or position, whatever the model's view holds",
  request: { params: sessionPath, query: recallQuery },
  responses: { 200: json("What was found", recallView) },
});

export function registerRecall(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(recall, async (c) => {
    const input = toRecallInput(c.req.valid("query"));
    const calls = sessionCalls(deps, c, c.req.valid("param").session_id);
    const found = await calls.repeatable((api, caller) => api.recall(caller, input));
    return found.ok ? c.json(found.value, 200) : sendProblem(c, found.error);
  });
}
