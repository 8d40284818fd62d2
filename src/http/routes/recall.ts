/** Searches the record of a session: what its model reads through `memory_query`, and also what is still in its view. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Outcome, RecallInput } from "../../app/session-api";
import type { RecallReport } from "../../contract/recall";
import { recallReport } from "../../contract/recall";
import type { HttpDeps, HttpEnv } from "../deps";
import { recallExample } from "../examples/view";
import { sendProblem } from "../problem";
import { json, jsonBody, tenantRoute } from "../routing";
import { sessionPath } from "../schemas/paths";
import { recallBody, recallQuery, toRecallInput } from "../schemas/recall";
import { type SessionCalls, sessionClient } from "../session-calls";

const recall = tenantRoute({
  method: "get",
  path: "/v1/sessions/{session_id}/recall",
  tag: "context",
  scope: "sessions:read",
  opensTo: "session",
  operationId: "recall",
  summary: "Search the record",
  description:
    "Finds items by words, by the id of a call or by position, whether or not they are in the model's view. URLs are often logged: use POST for private text.",
  request: { params: sessionPath, query: recallQuery },
  responses: { 200: json("The items found", recallReport, recallExample) },
});

const recallByBody = tenantRoute({
  method: "post",
  path: "/v1/sessions/{session_id}/recall",
  tag: "context",
  scope: "sessions:read",
  opensTo: "session",
  operationId: "recallByBody",
  summary: "Search the record with a query in the body",
  description: "Searches like `GET`, with the query in the body, so that it does not appear in logs of URLs.",
  request: { params: sessionPath, body: jsonBody(recallBody, { q: "weather" }) },
  responses: { 200: json("The items found", recallReport, recallExample) },
});

export function registerRecall(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(recall, async (c) => {
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const found = await lookUp(calls, toRecallInput(c.req.valid("query")));
    return found.ok ? c.json(found.value, 200) : sendProblem(c, found.error);
  });

  app.openapi(recallByBody, async (c) => {
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const found = await lookUp(calls, toRecallInput(c.req.valid("json")));
    return found.ok ? c.json(found.value, 200) : sendProblem(c, found.error);
  });
}

const lookUp = (calls: SessionCalls, input: RecallInput): Promise<Outcome<RecallReport>> =>
  calls.repeatable((api, caller) => api.recall(caller, input));
