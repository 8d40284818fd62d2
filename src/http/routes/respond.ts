/** Takes everything that a client has to say in one request: results of calls, messages, the place of both, and what the turn is asked with. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { SessionError } from "../../app/session-api";
import { acceptedView } from "../../contract/item";
import { findBeyondToken } from "../access-limits";
import { answerTurn, turnHeaders, turnResponses } from "../answer-turn";
import { readPrincipal } from "../auth";
import type { HttpDeps, HttpEnv } from "../deps";
import { acceptedExample, respondExample } from "../examples/conversation";
import { readIdempotency } from "../idempotency";
import { type HttpError, sendProblem } from "../problem";
import { BUDGET_REFUSALS, FILE_REFUSALS, MODEL_REFUSALS } from "../refusals";
import { json, jsonBody, tenantRoute } from "../routing";
import { sessionPath } from "../schemas/paths";
import { respondInput, toRespondInput } from "../schemas/respond";
import { sessionClient } from "../session-calls";
import { ofNamedModel } from "../session-model";
import { findTools } from "../session-tools";
import { takeAllFiles } from "../take-files";

const respond = tenantRoute({
  method: "post",
  path: "/v1/sessions/{session_id}/respond",
  tag: "messages",
  scope: "sessions:write",
  opensTo: "session",
  operationId: "respond",
  takesLongBody: true,
  summary: "Add results, messages and their turn at once",
  description:
    "Records the place, then the results, then the messages, and runs the turn that follows: all of them in one transaction, or none. Results of all open calls without messages let their turn go on. With messages, that turn ends, and a new one reads the results and the messages. A request without messages that names `model`, `system`, `generation` or `tools` must name all that differs from the session; if the turn was asked otherwise, a new one answers its message again.",
  refuses: [
    "beyond_access_token",
    "turn_running",
    "queue_full",
    "call_not_open",
    "calls_unanswered",
    "client_id_taken",
    "message_limit",
    "branch_limit",
    "too_many_items",
    "fork_unfinished",
    ...BUDGET_REFUSALS,
    ...MODEL_REFUSALS,
    ...FILE_REFUSALS,
  ],
  request: { params: sessionPath, headers: turnHeaders, body: jsonBody(respondInput, respondExample) },
  responses: { ...turnResponses, 201: json("Recorded (run: false)", acceptedView, acceptedExample) },
});

export function registerRespond(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(respond, async (c) => {
    const body = c.req.valid("json");
    const beyond = findBeyondToken(c, body);
    if (beyond) return sendProblem(c, beyond);
    const { session_id: session } = c.req.valid("param");
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const tools = await findTools(deps, readPrincipal(c).tenant, body.tools);
    if (!tools.ok) return sendProblem(c, tools.error);
    const written = body.messages ?? [];
    const contents = written.map(({ content }, index) => ({ field: `messages.${index}.content`, content }));
    const taken = await takeAllFiles(c, deps, { session, contents });
    if (!taken.ok) return sendProblem(c, taken.error);
    const messages = written.map((message, index) => ({ ...message, content: taken.value[index] }));
    const input = toRespondInput(body, { messages, tools: tools.value, idempotency });
    const calls = sessionClient(deps, c, session);
    const send = idempotency ? calls.repeatable : calls.once;
    const accepted = await send((api, caller) => api.respond(caller, input));
    return accepted.ok ? await answerTurn(c, calls, accepted.value) : sendProblem(c, toFault(accepted.error, body));
  });
}

/** An unknown turn is named in the body, as an unknown model is. */
const toFault = (error: SessionError, body: { readonly model?: string | null | undefined }): HttpError =>
  error.code === "turn_not_found"
    ? { code: "invalid_request", errors: [{ field: "after", detail: "no such turn" }] }
    : ofNamedModel(error, body);
