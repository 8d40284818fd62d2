/** Goes back in a conversation, edits a message, has it answered again; lists branches, forks sessions, redacts messages. */

import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { branchComparison, branchView, redaction } from "../../contract/branch";
import { id } from "../../contract/ids";
import { listView } from "../../contract/page";
import { sessionDescription } from "../../contract/session";
import { findBeyondToken } from "../access-limits";
import { answerTurn, turnHeaders, turnResponses } from "../answer-turn";
import { readPrincipal } from "../auth";
import type { HttpDeps, HttpEnv } from "../deps";
import { branchComparisonExample, branchExample, sessionExample } from "../examples/conversation";
import { FORK, onePage, QUESTION, SESSION } from "../examples/shared";
import { forkSession } from "../fork-session";
import { idempotencyHeaders, readIdempotency } from "../idempotency";
import { sendProblem } from "../problem";
import { BUDGET_REFUSALS, FILE_REFUSALS, MODEL_REFUSALS } from "../refusals";
import { json, jsonBody, located, taggedJson, tenantRoute } from "../routing";
import { branchNumber, forkInput, rewindInput } from "../schemas/branch";
import { repeatInput, toTurnInput } from "../schemas/generation";
import { editInput, toParts } from "../schemas/message";
import { limitQuery, pageQuery, takeListPage } from "../schemas/page";
import { sessionPath } from "../schemas/paths";
import { actingClient, sessionClient } from "../session-calls";
import { ofNamedModel } from "../session-model";
import { findTools } from "../session-tools";
import { takeFiles } from "../take-files";

type App = OpenAPIHono<HttpEnv>;
const tag = "branches";
const path = "/v1/sessions/{session_id}/branches";
const messagePath = "/v1/sessions/{session_id}/messages/{message_id}";
const messageParams = sessionPath.extend({ message_id: id("msg") });
const nothing = z.strictObject({});

const list = tenantRoute({
  method: "get",
  path,
  tag,
  scope: "sessions:read",
  opensTo: "session",
  operationId: "listBranches",
  summary: "List branches",
  description: "A session begins with one branch. Going back, editing and regenerating each start another.",
  request: { params: sessionPath, query: pageQuery },
  responses: { 200: json("A page, the oldest branch first", listView(branchView), onePage(branchExample)) },
});

const rewind = tenantRoute({
  method: "post",
  path,
  tag,
  scope: "sessions:write",
  opensTo: "session",
  operationId: "rewindSession",
  summary: "Go back to a position",
  description:
    "Starts a new branch after the position, which becomes the current one. Nothing is deleted: the branch that was left can be read and switched to.",
  refuses: ["turn_running", "branch_limit", "too_many_items", "fork_unfinished"],
  request: { params: sessionPath, headers: idempotencyHeaders, body: jsonBody(rewindInput, { to: 0 }) },
  responses: { 201: json("The new branch", branchView, branchExample) },
});

const compare = tenantRoute({
  method: "get",
  path: `${path}/compare`,
  tag,
  scope: "sessions:read",
  opensTo: "session",
  operationId: "compareBranches",
  summary: "Compare two branches",
  description: "By default, compares the current branch with the branch that it was created from.",
  refuses: ["branch_not_found"],
  request: { params: sessionPath, query: z.strictObject({ a: branchNumber.optional(), b: branchNumber.optional(), ...limitQuery }) },
  responses: {
    200: json("The position where the branches diverge, and the messages after it on each", branchComparison, branchComparisonExample),
  },
});

const choose = tenantRoute({
  method: "post",
  path: `${path}/{branch}/switch`,
  tag,
  scope: "sessions:write",
  opensTo: "session",
  operationId: "switchBranch",
  summary: "Switch to another branch",
  description: "Continues on a branch that was left. Later messages are added to it.",
  refuses: ["branch_not_found", "turn_running", "too_many_items"],
  request: { params: sessionPath.extend({ branch: branchNumber }), headers: idempotencyHeaders, body: jsonBody(nothing, {}, false) },
  responses: { 200: json("The branch", branchView, branchExample) },
});

const edit = tenantRoute({
  method: "post",
  path: `${messagePath}/edit`,
  tag,
  scope: "sessions:write",
  opensTo: "session",
  operationId: "editMessage",
  summary: "Edit a message",
  description:
    "Puts other content in place of a user's message on a new branch, and runs a turn. The first version stays on its own branch.",
  refuses: [
    "beyond_access_token",
    "message_not_found",
    "branch_limit",
    "message_limit",
    "too_many_items",
    "fork_unfinished",
    "turn_running",
    ...BUDGET_REFUSALS,
    ...MODEL_REFUSALS,
    ...FILE_REFUSALS,
  ],
  request: { params: messageParams, headers: turnHeaders, body: jsonBody(editInput, { content: "What is the weather in Porto?" }) },
  responses: turnResponses,
});

const regenerate = tenantRoute({
  method: "post",
  path: `${messagePath}/regenerate`,
  tag,
  scope: "sessions:write",
  opensTo: "session",
  operationId: "regenerateMessage",
  summary: "Regenerate an answer",
  description:
    "Answers a user's message again on a new branch. The id is that of the message or of an answer to it. The body may choose otherwise what the turn is asked with.",
  refuses: [
    "beyond_access_token",
    "message_not_found",
    "branch_limit",
    "too_many_items",
    "fork_unfinished",
    "turn_running",
    ...BUDGET_REFUSALS,
    ...MODEL_REFUSALS,
  ],
  request: { params: messageParams, headers: turnHeaders, body: jsonBody(repeatInput, {}, false) },
  responses: turnResponses,
});

const redact = tenantRoute({
  method: "post",
  path: `${messagePath}/redact`,
  tag,
  scope: "sessions:erase",
  operationId: "redactMessage",
  summary: "Redact a message",
  description:
    "Deletes the content of a message and of its calls permanently, with every summary made from it. The id of a later call, or of a result, names that alone. The message keeps its position. Redacting cannot be undone.",
  refuses: ["message_not_found", "turn_running", "fork_unfinished"],
  request: { params: messageParams, body: jsonBody(nothing, {}, false) },
  responses: { 200: json("The message without its content. It keeps its position", redaction, { id: QUESTION, position: 1 }) },
});

const fork = tenantRoute({
  method: "post",
  path: "/v1/sessions/{session_id}/fork",
  tag,
  scope: "sessions:write",
  operationId: "forkSession",
  summary: "Fork a session",
  description: "Creates a new session with a copy of this one's history. Neither session sees later messages of the other.",
  refuses: ["session_limit"],
  request: { params: sessionPath, headers: idempotencyHeaders, body: jsonBody(forkInput, { at: 2, title: "A second try" }, false) },
  responses: {
    201: located(
      taggedJson("The new session", sessionDescription, {
        ...sessionExample,
        id: FORK,
        title: "A second try",
        forked_from: { session_id: SESSION, at: 2 },
      }),
    ),
  },
});

function registerLines(app: App, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const branches = await calls.repeatable((api, caller) => api.branches(caller));
    if (!branches.ok) return sendProblem(c, branches.error);
    return c.json(
      takeListPage(branches.value, c.req.valid("query"), ({ number }) => number),
      200,
    );
  });

  app.openapi(rewind, async (c) => {
    const { to } = c.req.valid("json");
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const calls = actingClient(deps, c, c.req.valid("param").session_id);
    const done = await (idempotency ? calls.repeatable : calls.once)((api, caller) => api.rewind(caller, { to, idempotency }));
    if (!done.ok) return sendProblem(c, done.error);
    if (done.value.replayed) c.header("idempotent-replayed", "true");
    return c.json(done.value.branch, 201);
  });

  app.openapi(compare, async (c) => {
    const { a = null, b = null, limit } = c.req.valid("query");
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const compared = await calls.repeatable((api, caller) => api.compareBranches(caller, { a, b, limit }));
    return compared.ok ? c.json(compared.value, 200) : sendProblem(c, compared.error);
  });

  app.openapi(choose, async (c) => {
    const { session_id, branch } = c.req.valid("param");
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const calls = sessionClient(deps, c, session_id);
    const done = await calls.repeatable((api, caller) => api.switchBranch(caller, { branch, idempotency }));
    if (!done.ok) return sendProblem(c, done.error);
    if (done.value.replayed) c.header("idempotent-replayed", "true");
    return c.json(done.value.branch, 200);
  });
}

function registerMessagesAgain(app: App, deps: HttpDeps): void {
  app.openapi(edit, async (c) => {
    const { session_id, message_id: message } = c.req.valid("param");
    const body = c.req.valid("json");
    const beyond = findBeyondToken(c, body);
    if (beyond) return sendProblem(c, beyond);
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const tools = await findTools(deps, readPrincipal(c).tenant, body.tools);
    if (!tools.ok) return sendProblem(c, tools.error);
    const content = await takeFiles(c, deps, { session: session_id, content: body.content });
    if (!content.ok) return sendProblem(c, content.error);
    const input = { message, parts: toParts(content.value), tools: tools.value, idempotency, ...toTurnInput(body) };
    const calls = sessionClient(deps, c, session_id);
    const accepted = await (idempotency ? calls.repeatable : calls.once)((api, caller) => api.editMessage(caller, input));
    return accepted.ok ? await answerTurn(c, calls, accepted.value) : sendProblem(c, ofNamedModel(accepted.error, body));
  });

  app.openapi(regenerate, async (c) => {
    const { session_id, message_id: message } = c.req.valid("param");
    const beyond = findBeyondToken(c, c.req.valid("json"));
    if (beyond) return sendProblem(c, beyond);
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const calls = sessionClient(deps, c, session_id);
    const body = c.req.valid("json");
    const input = { message, idempotency, ...toTurnInput(body) };
    const accepted = await (idempotency ? calls.repeatable : calls.once)((api, caller) => api.regenerate(caller, input));
    return accepted.ok ? await answerTurn(c, calls, accepted.value) : sendProblem(c, ofNamedModel(accepted.error, body));
  });

  app.openapi(redact, async (c) => {
    const { session_id, message_id } = c.req.valid("param");
    const redacted = await actingClient(deps, c, session_id).repeatable((api, caller) => api.redact(caller, message_id));
    return redacted.ok ? c.json(redacted.value, 200) : sendProblem(c, redacted.error);
  });
}

function registerFork(app: App, deps: HttpDeps): void {
  app.openapi(fork, async (c) => {
    const { session_id: from } = c.req.valid("param");
    const { at = null, title = null } = c.req.valid("json");
    const forked = await forkSession(deps, c, { from, at, title, key: c.req.valid("header")["Idempotency-Key"] });
    if (!forked.ok) return sendProblem(c, forked.error);
    const { session, replayed } = forked.value;
    if (replayed) c.header("idempotent-replayed", "true");
    return c.json(session, 201, { Location: `/v1/sessions/${session.id}`, ETag: session.etag });
  });
}

export function registerBranches(app: App, deps: HttpDeps): void {
  registerLines(app, deps);
  registerMessagesAgain(app, deps);
  registerFork(app, deps);
}
