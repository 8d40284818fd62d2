/** Reads and sets a session's pins. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { pinsView } from "../../contract/pin";
import { conditionHeaders, toCondition } from "../conditions";
import type { HttpDeps, HttpEnv } from "../deps";
import { pinsExample } from "../examples/conversation";
import { sendProblem } from "../problem";
import { jsonBody, taggedJson, tenantRoute } from "../routing";
import { pinsInput } from "../schemas/control";
import { sessionPath } from "../schemas/paths";
import { actingClient, sessionClient } from "../session-calls";
import { ofSessionModel } from "../session-model";

const tag = "context";
const path = "/v1/sessions/{session_id}/pins";

const get = tenantRoute({
  method: "get",
  path,
  tag,
  scope: "sessions:read",
  operationId: "getPins",
  summary: "Read the pins",
  description: "Shows the pinned texts in order, and the message that each was copied from. A PUT takes the answer as it is.",
  request: { params: sessionPath },
  responses: { 200: taggedJson("The pins", pinsView, pinsExample) },
});

const put = tenantRoute({
  method: "put",
  path,
  tag,
  scope: "sessions:write",
  operationId: "setPins",
  summary: "Set the pins",
  description:
    "Replaces all pins, which every request contains. An empty list clears them. Of a message the words are copied now: of a reply with its calls and their results, of a call with its result, of a result with its call. A pin goes with the redaction of a message that it was copied from.",
  refuses: ["model_gone", "models_unavailable", "fork_unfinished"],
  request: {
    params: sessionPath,
    headers: conditionHeaders,
    body: jsonBody(pinsInput, { pins: ["The user's name is Ada.", { position: 1 }] }),
  },
  responses: { 200: taggedJson("The pins", pinsView, pinsExample) },
});

export function registerPins(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(get, async (c) => {
    const shown = await sessionClient(deps, c, c.req.valid("param").session_id).repeatable((api, caller) => api.pins(caller));
    return shown.ok ? c.json({ pins: shown.value.pins }, 200, { ETag: shown.value.etag }) : sendProblem(c, shown.error);
  });

  app.openapi(put, async (c) => {
    const { pins } = c.req.valid("json");
    const condition = toCondition(c.req.valid("header"));
    const calls = actingClient(deps, c, c.req.valid("param").session_id);
    const set = await (condition ? calls.once : calls.repeatable)((api, caller) => api.setPins(caller, pins, condition));
    return set.ok ? c.json({ pins: set.value.pins }, 200, { ETag: set.value.etag }) : sendProblem(c, ofSessionModel(set.error));
  });
}
