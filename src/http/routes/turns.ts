/** Reads, stops and retries turns. */

import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { id } from "../../contract/ids";
import { listView } from "../../contract/page";
import { turnReport, turnSettings } from "../../contract/turn";
import { findBeyondToken, toCallersTurn } from "../access-limits";
import { answerTurn, turnHeaders, turnResponses } from "../answer-turn";
import type { HttpDeps, HttpEnv } from "../deps";
import { stoppedTurnExample, turnExample, turnSettingsExample } from "../examples/conversation";
import { onePage } from "../examples/shared";
import { idempotencyHeaders, readIdempotency } from "../idempotency";
import { sendProblem } from "../problem";
import { BUDGET_REFUSALS, MODEL_REFUSALS } from "../refusals";
import { json, jsonBody, tenantRoute } from "../routing";
import { repeatInput, toTurnInput } from "../schemas/generation";
import { limitQuery, toList } from "../schemas/page";
import { sessionPath } from "../schemas/paths";
import { sessionClient } from "../session-calls";
import { ofNamedModel } from "../session-model";

const turnsQuery = z.strictObject({
  ...limitQuery,
  after: id("trn").optional().openapi({ description: "next_cursor of the page before" }),
  order: z.enum(["asc", "desc"]).default("desc").openapi({ description: "desc: the newest first" }),
});

const tag = "turns";

const stopInput = z
  .strictObject({
    turn_id: id("trn").optional().openapi({ description: "Only this turn, running or queued. Without it: the turn that is open" }),
  })
  .openapi("Stop");

const get = tenantRoute({
  method: "get",
  path: "/v1/sessions/{session_id}/turns/{turn_id}",
  tag,
  scope: "sessions:read",
  opensTo: "session",
  operationId: "getTurn",
  summary: "Read a turn",
  description: "Shows the state of a turn at any time, also after the client that started it went away.",
  refuses: ["turn_not_found"],
  request: { params: sessionPath.extend({ turn_id: id("trn") }) },
  responses: { 200: json("The turn", turnReport, turnExample) },
});

const settings = tenantRoute({
  method: "get",
  path: "/v1/sessions/{session_id}/turns/{turn_id}/settings",
  tag,
  scope: "sessions:read",
  operationId: "getTurnSettings",
  summary: "Read a turn's settings",
  description:
    "Shows what a turn of any branch was asked with: the choices of its message over the session's settings at that time, and the client's note.",
  refuses: ["turn_not_found"],
  request: { params: sessionPath.extend({ turn_id: id("trn") }) },
  responses: { 200: json("The settings", turnSettings, turnSettingsExample) },
});

const list = tenantRoute({
  method: "get",
  path: "/v1/sessions/{session_id}/turns",
  tag,
  scope: "sessions:read",
  opensTo: "session",
  operationId: "listTurns",
  summary: "List turns",
  description: "Lists the turns of all branches, those that are queued and under way too. By default the newest come first.",
  request: { params: sessionPath, query: turnsQuery },
  responses: { 200: json("A page, in the order in which the turns were asked for", listView(turnReport), onePage(turnExample)) },
});

const stop = tenantRoute({
  method: "post",
  path: "/v1/sessions/{session_id}/stop",
  tag,
  scope: "sessions:write",
  opensTo: "session",
  operationId: "stopTurn",
  summary: "Stop a turn",
  description:
    "Ends the open turn, or the one that `turn_id` names, and keeps the partial reply, which is marked as incomplete. A named turn that is over stays as it is: nothing is stopped.",
  refuses: ["no_turn", "turn_not_found"],
  request: { params: sessionPath, headers: idempotencyHeaders, body: jsonBody(stopInput, { turn_id: stoppedTurnExample.id }, false) },
  responses: { 200: json("The turn. `status` says how it ended, by this request or before it", turnReport, stoppedTurnExample) },
});

const retry = tenantRoute({
  method: "post",
  path: "/v1/sessions/{session_id}/retry",
  tag,
  scope: "sessions:write",
  opensTo: "session",
  operationId: "retryTurn",
  summary: "Retry the last turn",
  description:
    "Runs the last turn again after it failed, was stopped or was interrupted. A partial reply of the earlier attempt is taken back. The body may choose otherwise what the turn is asked with.",
  refuses: ["beyond_access_token", "not_retryable", "fork_unfinished", "turn_running", ...BUDGET_REFUSALS, ...MODEL_REFUSALS],
  request: { params: sessionPath, headers: turnHeaders, body: jsonBody(repeatInput, {}, false) },
  responses: turnResponses,
});

export function registerTurns(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const { after = null, limit, order } = c.req.valid("query");
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const page = await calls.repeatable((api, caller) => api.turns(caller, { after, limit, order }));
    return page.ok
      ? c.json(
          toList({ ...page.value, data: page.value.data.map((turn) => toCallersTurn(c, turn)) }, (turn) => turn.id),
          200,
        )
      : sendProblem(c, page.error);
  });

  app.openapi(get, async (c) => {
    const { session_id, turn_id } = c.req.valid("param");
    const turn = await sessionClient(deps, c, session_id).repeatable((api, caller) => api.turn(caller, turn_id));
    return turn.ok ? c.json(toCallersTurn(c, turn.value), 200) : sendProblem(c, turn.error);
  });

  app.openapi(settings, async (c) => {
    const { session_id, turn_id } = c.req.valid("param");
    const asked = await sessionClient(deps, c, session_id).repeatable((api, caller) => api.askedWith(caller, turn_id));
    return asked.ok ? c.json(asked.value, 200) : sendProblem(c, asked.error);
  });

  app.openapi(stop, async (c) => {
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const { turn_id: turn } = c.req.valid("json");
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const send = idempotency || turn ? calls.repeatable : calls.once;
    const stopped = await send((api, caller) => api.stop(caller, { idempotency, ...(turn && { turn }) }));
    if (!stopped.ok) return sendProblem(c, stopped.error);
    if (stopped.value.replayed) c.header("idempotent-replayed", "true");
    return c.json(stopped.value.turn, 200);
  });

  app.openapi(retry, async (c) => {
    const beyond = findBeyondToken(c, c.req.valid("json"));
    if (beyond) return sendProblem(c, beyond);
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const send = idempotency ? calls.repeatable : calls.once;
    const body = c.req.valid("json");
    const accepted = await send((api, caller) => api.retry(caller, { idempotency, ...toTurnInput(body) }));
    return accepted.ok ? await answerTurn(c, calls, accepted.value) : sendProblem(c, ofNamedModel(accepted.error, body));
  });
}
