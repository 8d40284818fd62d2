/** Searches the record of a session: what its model reads through `memory_query`, and also what is still in its view. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Outcome, RecallInput } from "../../app/session-api";
import type { RecallReport } from "../../contract/recall";
import { recallReport } from "../../contract/recall";
import type { HttpDeps, HttpEnv } from "../deps";
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
  summary: "Look up what was said, by words, execution or position; words are better sent by POST, out of logs of URLs",
  request: { params: sessionPath, query: recallQuery },
  responses: { 200: json("What was found", recallReport) },
});

const recallByBody = tenantRoute({
  method: "post",
  path: "/v1/sessions/{session_id}/recall",
  tag: "context",
  scope: "sessions:read",
  summary: "Look up the same, with what is looked for in the body: logs of URLs do not have it",
  request: { params: sessionPath, body: jsonBody(recallBody) },
  responses: { 200: json("What was found", recallReport) },
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
