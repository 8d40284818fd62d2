/** Accepts messages and tool results, and lists the conversation as people read it. */

import type { OpenAPIHono } from "@hono/zod-openapi";
import type { WrittenMessage } from "../../app/written-message";
import { id } from "../../contract/ids";
import { acceptedView, displayItem, importedMessages } from "../../contract/item";
import { listView } from "../../contract/page";
import { findBeyondToken } from "../access-limits";
import { answerAppended, answerTurn, turnHeaders, turnResponses } from "../answer-turn";
import { readPrincipal } from "../auth";
import type { HttpDeps, HttpEnv } from "../deps";
import { acceptedExample, answerExample, importExample, importedExample, questionExample } from "../examples/conversation";
import { EXECUTION, onePage } from "../examples/shared";
import { idempotencyHeaders, readIdempotency } from "../idempotency";
import { sendProblem } from "../problem";
import { BUDGET_REFUSALS, FILE_REFUSALS, MODEL_REFUSALS } from "../refusals";
import { json, jsonBody, tenantRoute } from "../routing";
import { branchQuery } from "../schemas/branch";
import { defined } from "../schemas/defined";
import { batchInput, clientIdQuery, messageInput, toSubmitInput, toWritten } from "../schemas/message";
import { pageQuery, toList } from "../schemas/page";
import { sessionPath } from "../schemas/paths";
import { approvalsInput, toApproval, toolResultsInput, toToolResult } from "../schemas/tool";
import { sessionClient } from "../session-calls";
import { ofNamedModel } from "../session-model";
import { findTools } from "../session-tools";
import { takeAllFiles, takeFiles } from "../take-files";

const tag = "messages";
const path = "/v1/sessions/{session_id}/messages";

const submit = tenantRoute({
  method: "post",
  path,
  tag,
  scope: "sessions:write",
  opensTo: "session",
  operationId: "sendMessage",
  summary: "Send a message",
  description:
    "Records the message, and the model answers it in a turn. The turn runs to its end whether or not the client stays connected. `run: false` only appends a message, of any role, without a turn.",
  refuses: [
    "beyond_access_token",
    "queue_full",
    "call_not_open",
    "client_id_taken",
    "message_limit",
    "fork_unfinished",
    "turn_running",
    ...BUDGET_REFUSALS,
    ...MODEL_REFUSALS,
    ...FILE_REFUSALS,
  ],
  request: { params: sessionPath, headers: turnHeaders, body: jsonBody(messageInput, { content: "What is the weather in Lisbon?" }) },
  responses: { ...turnResponses, 201: json("Appended (run: false)", acceptedView, acceptedExample) },
});

const batch = tenantRoute({
  method: "post",
  path: `${path}/batch`,
  tag,
  scope: "sessions:write",
  operationId: "importMessages",
  summary: "Import messages",
  description:
    "Appends up to 1,000 messages without turns, all or none. The items of a list of messages can be sent as they are. Refused with 409 while a turn is open or messages wait.",
  refuses: ["turn_running", "client_id_taken", "message_limit", "fork_unfinished", ...FILE_REFUSALS],
  request: { params: sessionPath, headers: idempotencyHeaders, body: jsonBody(batchInput, importExample) },
  responses: { 201: json("Appended", importedMessages, importedExample) },
});

const list = tenantRoute({
  method: "get",
  path,
  tag,
  scope: "sessions:read",
  opensTo: "session",
  operationId: "listMessages",
  summary: "List messages",
  description: "Lists the whole conversation as people read it, whether or not the messages are in the model's view.",
  refuses: ["branch_not_found"],
  request: { params: sessionPath, query: pageQuery.extend({ branch: branchQuery, client_id: clientIdQuery }) },
  responses: { 200: json("A page, in order of position", listView(displayItem), onePage(questionExample, answerExample)) },
});

const get = tenantRoute({
  method: "get",
  path: `${path}/{message_id}`,
  tag,
  scope: "sessions:read",
  opensTo: "session",
  operationId: "getMessage",
  summary: "Read a message",
  description:
    "Reads one message of any branch. The id of a call inside a reply returns the reply. A message that waits in the queue is not in the conversation yet, and is unknown here.",
  refuses: ["message_not_found"],
  request: { params: sessionPath.extend({ message_id: id("msg") }) },
  responses: { 200: json("The message", displayItem, answerExample) },
});

const cancel = tenantRoute({
  method: "delete",
  path: "/v1/sessions/{session_id}/messages/{message_id}",
  tag,
  scope: "sessions:write",
  opensTo: "session",
  operationId: "cancelMessage",
  summary: "Cancel a queued message",
  description: "Takes back a message that waits in the queue. A message whose turn has started is refused with 409; stop its turn instead.",
  refuses: ["message_not_queued", "fork_unfinished"],
  request: { params: sessionPath.extend({ message_id: id("msg") }) },
  responses: { 204: { description: "Cancelled. For an imported reply, the queued results of its calls are cancelled too" } },
});

const toolResults = tenantRoute({
  method: "post",
  path: "/v1/sessions/{session_id}/tool_results",
  tag,
  scope: "sessions:write",
  opensTo: "session",
  operationId: "submitToolResults",
  summary: "Submit results of client tools",
  description: "Answers open calls of the model. The turn continues after the last open call is answered.",
  refuses: ["call_not_open", "fork_unfinished"],
  takesLongBody: true,
  request: {
    params: sessionPath,
    headers: turnHeaders,
    body: jsonBody(toolResultsInput, { results: [{ execution_id: EXECUTION, output: { sky: "clear", celsius: 21 } }] }),
  },
  responses: turnResponses,
});

const approvals = tenantRoute({
  method: "post",
  path: "/v1/sessions/{session_id}/approvals",
  tag,
  scope: "sessions:write",
  opensTo: "session",
  operationId: "resolveApprovals",
  summary: "Approve or refuse tool calls",
  description:
    "Answers calls that wait for a person's approval. Approved calls run; the model reads that a call was refused, with the reason.",
  refuses: ["approval_not_open", "fork_unfinished"],
  request: {
    params: sessionPath,
    headers: turnHeaders,
    body: jsonBody(approvalsInput, { approvals: [{ execution_id: EXECUTION, approved: true }] }),
  },
  responses: turnResponses,
});

export function registerMessages(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(submit, async (c) => {
    const body = c.req.valid("json");
    const beyond = findBeyondToken(c, body);
    if (beyond) return sendProblem(c, beyond);
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const tools = await findTools(deps, readPrincipal(c).tenant, body.tools);
    if (!tools.ok) return sendProblem(c, tools.error);
    const { session_id: session } = c.req.valid("param");
    const content = await takeFiles(c, deps, { session, content: body.content });
    if (!content.ok) return sendProblem(c, content.error);
    const input = toSubmitInput({ ...body, content: content.value }, { tools: tools.value, idempotency });
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const send = idempotency ? calls.repeatable : calls.once;
    const accepted = await send((api, caller) => api.submit(caller, input));
    if (!accepted.ok) return sendProblem(c, ofNamedModel(accepted.error, body));
    return input.run ? await answerTurn(c, calls, accepted.value) : answerAppended(c, accepted.value);
  });

  app.openapi(batch, async (c) => {
    const { items } = c.req.valid("json");
    const contents = items.map(({ content }, index) => ({ field: `items.${index}.content`, content }));
    const taken = await takeAllFiles(c, deps, { session: c.req.valid("param").session_id, contents });
    if (!taken.ok) return sendProblem(c, taken.error);
    const messages: WrittenMessage[] = items.map((item, index) => toWritten({ ...item, content: taken.value[index] }));
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const send = idempotency ? calls.repeatable : calls.once;
    const done = await send((api, caller) => api.importMessages(caller, { messages, idempotency }));
    if (!done.ok) return sendProblem(c, done.error);
    const { replayed, ...imported } = done.value;
    if (replayed) c.header("idempotent-replayed", "true");
    return c.json(imported, 201);
  });

  app.openapi(list, async (c) => {
    const { after = null, limit, order, branch, client_id } = c.req.valid("query");
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const page = await calls.repeatable((api, caller) =>
      api.items(caller, { after, limit, order, ...defined({ branch, clientId: client_id }) }),
    );
    return page.ok
      ? c.json(
          // The last position that the page covers. A reply's calls come after its text.
          toList(page.value, ({ position, tool_calls }) => (order === "asc" ? (tool_calls?.at(-1)?.position ?? position) : position)),
          200,
        )
      : sendProblem(c, page.error);
  });

  app.openapi(get, async (c) => {
    const { session_id, message_id } = c.req.valid("param");
    const found = await sessionClient(deps, c, session_id).repeatable((api, caller) => api.message(caller, message_id));
    return found.ok ? c.json(found.value, 200) : sendProblem(c, found.error);
  });

  app.openapi(cancel, async (c) => {
    const { session_id, message_id } = c.req.valid("param");
    const done = await sessionClient(deps, c, session_id).once((api, caller) => api.cancelQueued(caller, message_id));
    return done.ok ? c.body(null, 204) : sendProblem(c, done.error);
  });

  app.openapi(toolResults, async (c) => {
    const results = c.req.valid("json").results.map(toToolResult);
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const send = idempotency ? calls.repeatable : calls.once;
    const accepted = await send((api, caller) => api.toolResults(caller, { results, idempotency }));
    return accepted.ok ? await answerTurn(c, calls, accepted.value) : sendProblem(c, accepted.error);
  });

  app.openapi(approvals, async (c) => {
    const answers = c.req.valid("json").approvals.map(toApproval);
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const send = idempotency ? calls.repeatable : calls.once;
    const accepted = await send((api, caller) => api.approvals(caller, { approvals: answers, idempotency }));
    return accepted.ok ? await answerTurn(c, calls, accepted.value) : sendProblem(c, accepted.error);
  });
}
