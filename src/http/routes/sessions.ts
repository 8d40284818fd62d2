/** Creates, lists, reads, changes and erases sessions. */

import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { refuseUnmet } from "../../app/conditions";
import type { PolicyChoice } from "../../context/policy-choice";
import { chainChoices, parseLevel } from "../../context/policy-choice";
import { externalId } from "../../contract/label";
import { listView } from "../../contract/page";
import { sessionDescription, sessionErasure, sessionSummary } from "../../contract/session";
import { foundSession } from "../../contract/session-search";
import type { SessionId, TenantId } from "../../domain/ids";
import { ok, type Result } from "../../lib/result";
import { boundToEndUser, toCallersFinds, toCallersList, toCallersView } from "../access-limits";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import { conditionHeaders, toCondition } from "../conditions";
import { createSession, findByExternalId, putSession } from "../create-session";
import type { Asker, HttpDeps, HttpEnv } from "../deps";
import { erasureExample, foundSessionExample, sessionExample, sessionSummaryExample } from "../examples/conversation";
import { onePage } from "../examples/shared";
import { idempotencyHeaders } from "../idempotency";
import { refuseRelabel } from "../key-reach";
import { type HttpError, sendProblem } from "../problem";
import { reachReadModel } from "../read-model";
import { CREATION_REFUSALS, MODEL_REFUSALS } from "../refusals";
import { eraseFor } from "../register-session";
import { json, jsonBody, located, taggedJson, tenantRoute } from "../routing";
import { sessionPath } from "../schemas/paths";
import { createInput, listQuery, patchInput, putInput, toFilter, toPatchInput } from "../schemas/session";
import { searchInput, toSearchInput } from "../schemas/session-search";
import { actingClient, sessionClient } from "../session-calls";
import { ofNamedModel } from "../session-model";
import { findTools } from "../session-tools";
import { faultOfName } from "../validation";

type App = OpenAPIHono<HttpEnv>;
const tag = "sessions";
const path = "/v1/sessions/{session_id}";

const create = tenantRoute({
  method: "post",
  path: "/v1/sessions",
  tag,
  scope: "sessions:write",
  operationId: "createSession",
  summary: "Create a session",
  description:
    "Every field is optional. What the request leaves out comes from the tenant's settings, and then from the deployment's. The session keeps these settings when the defaults change later.",
  bounded: true,
  refuses: [...CREATION_REFUSALS, "external_id_taken"],
  request: {
    headers: idempotencyHeaders,
    body: jsonBody(
      createInput,
      { model: "gpt-5", system: "You answer in one sentence.", title: "Weather", metadata: { channel: "web" } },
      false,
    ),
  },
  responses: { 201: located(taggedJson("The session", sessionDescription, sessionExample)) },
});

const list = tenantRoute({
  method: "get",
  path: "/v1/sessions",
  tag,
  scope: "sessions:read",
  opensTo: "end_user",
  operationId: "listSessions",
  summary: "List sessions",
  description:
    "Without parameters the most recently updated session comes first. Filters select some of the sessions, and all filters must hold. The list lags behind the sessions by a short delay. The access token of an end user lists that end user's sessions, without `metadata`.",
  refuses: ["beyond_access_token", "beyond_own_key", "invalid_cursor", "read_model_unavailable"],
  request: { query: listQuery },
  responses: {
    200: json(
      "A page of sessions. The list lags behind the sessions by a short delay",
      listView(sessionSummary),
      onePage(sessionSummaryExample),
    ),
  },
});

const search = tenantRoute({
  method: "post",
  path: "/v1/sessions/search",
  tag,
  scope: "sessions:read",
  opensTo: "end_user",
  operationId: "searchSessions",
  summary: "Search sessions by words",
  description:
    "Finds sessions by words in their titles and messages, best first, with up to three messages of each. Other forms of a word are found too, in the languages of `memory_query`. The answer lags behind the sessions by a short delay. The access token of an end user searches that end user's sessions alone.",
  refuses: ["beyond_access_token", "beyond_own_key", "invalid_cursor", "read_model_unavailable"],
  request: { body: jsonBody(searchInput, { query: "weather in Lisbon", end_user: "user-42" }) },
  responses: { 200: json("A page of the sessions found", listView(foundSession), onePage(foundSessionExample)) },
});

const named = "/v1/sessions/by-external-id/{external_id}";
const namedPath = z.object({ external_id: z.string().openapi({ description: "A slash in it is written %2F", example: "ticket-4711" }) });

const getNamed = tenantRoute({
  method: "get",
  path: named,
  tag,
  scope: "sessions:read",
  operationId: "getSessionByExternalId",
  summary: "Read the session that has an external id",
  description: "Shows the same as reading the session by its id. The external id belongs to at most one session of the tenant.",
  bounded: true,
  refuses: ["session_not_found", "session_erased"],
  request: { params: namedPath },
  responses: { 200: taggedJson("The session", sessionDescription, sessionExample) },
});

const putNamed = tenantRoute({
  method: "put",
  path: named,
  tag,
  scope: "sessions:write",
  operationId: "getOrCreateSession",
  summary: "Get or create the session that has an external id",
  description:
    "Returns the session that has the external id, unchanged whatever the body says, or creates it. Requests for the same id at once end in one session: one of them creates it, and the others get it.",
  bounded: true,
  refuses: [...CREATION_REFUSALS, "session_not_found"],
  request: { params: namedPath, body: jsonBody(putInput, { title: "Order 4711", end_user: "user-42" }, false) },
  responses: {
    200: located(taggedJson("The session that has the id, unchanged", sessionDescription, sessionExample)),
    201: located(taggedJson("The new session", sessionDescription, sessionExample)),
  },
});

const get = tenantRoute({
  method: "get",
  path,
  tag,
  scope: "sessions:read",
  opensTo: "session",
  operationId: "getSession",
  summary: "Read a session",
  description:
    "Shows the settings, the size of the next request, the usage so far, and the turn that is open, if there is one. An access token is not shown `system`, `summary_instructions`, `tools`, `pins` and `metadata`.",
  request: { params: sessionPath },
  responses: { 200: taggedJson("The session", sessionDescription, sessionExample) },
});

const patch = tenantRoute({
  method: "patch",
  path,
  tag,
  scope: "sessions:write",
  operationId: "updateSession",
  summary: "Update a session",
  description:
    "Changes the fields that the request names. Null clears a field; a null policy restores the current default of the tenant or the deployment. A turn that runs keeps the settings that it started with.",
  refuses: [...MODEL_REFUSALS, "beyond_own_key", "session_limit", "fork_unfinished"],
  request: {
    params: sessionPath,
    headers: conditionHeaders,
    body: jsonBody(patchInput, { title: "Weather in Lisbon", policy: { keep: { ratio: 0.2 } } }),
  },
  responses: { 200: taggedJson("The session", sessionDescription, sessionExample) },
});

const eraseQuery = z.strictObject({
  forks: z.enum(["true", "false"]).default("false").openapi({ description: "true: the forks of the session, and forks of these, too" }),
});

const erase = tenantRoute({
  method: "delete",
  path,
  tag,
  scope: "sessions:erase",
  operationId: "eraseSession",
  summary: "Erase a session with all its content",
  description:
    "Ends the running turn and deletes every message, summary and output from every store. A store that is out of reach, or that has much of a long session, is reported as pending and is erased later, without another request. Erasing cannot be undone. The etag of a condition is that of the settings and pins, so it does not change when messages come. A session that is already erased meets any condition. `Location` is the erasure with its receipt.",
  refuses: ["read_model_unavailable"],
  request: { params: sessionPath, headers: conditionHeaders, query: eraseQuery },
  responses: { 200: located(json("What was erased, by store", sessionErasure, erasureExample)) },
});

function registerCreate(app: App, deps: HttpDeps): void {
  app.openapi(create, async (c) => {
    const created = await createSession(deps, c, { body: c.req.valid("json"), key: c.req.valid("header")["Idempotency-Key"] });
    if (!created.ok) return sendProblem(c, created.error);
    const { session, replayed } = created.value;
    if (replayed) c.header("idempotent-replayed", "true");
    return c.json(session, 201, { Location: `/v1/sessions/${session.id}`, ETag: session.etag });
  });
}

/** These routes are registered before those of `/v1/sessions/{session_id}/…`, whose patterns match their paths too. */
function registerNamed(app: App, deps: HttpDeps): void {
  app.openapi(getNamed, async (c) => {
    const found = await findByExternalId(deps, c, c.req.valid("param").external_id);
    return found.ok ? c.json(found.value, 200, { ETag: found.value.etag }) : sendProblem(c, found.error);
  });
  app.openapi(putNamed, async (c) => {
    const { external_id: name } = c.req.valid("param");
    const errors = faultOfName("external_id", externalId.safeParse(name));
    if (errors.length > 0) return sendProblem(c, { code: "invalid_request", errors });
    const created = await putSession(deps, c, { ...c.req.valid("json"), external_id: name });
    if (!created.ok) return sendProblem(c, created.error);
    const { session, isNew } = created.value;
    return c.json(session, isNew ? 201 : 200, { Location: `/v1/sessions/${session.id}`, ETag: session.etag });
  });
}

function registerList(app: App, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const { limit, after = null, order_by: orderBy, order, ...selecting } = c.req.valid("query");
    const bounded = boundToEndUser(c, selecting);
    if (!bounded.ok) return sendProblem(c, bounded.error);
    const input = { tenant: readPrincipal(c).tenant, filter: toFilter(bounded.value), orderBy, order, limit, after };
    const reached = await reachReadModel(c, deps, () => deps.sessionList.listSessions(input));
    if (!reached.ok) return sendProblem(c, reached.error);
    return reached.value.ok ? c.json(toCallersList(c, reached.value.value), 200) : sendProblem(c, reached.value.error);
  });
}

function registerSearch(app: App, deps: HttpDeps): void {
  app.openapi(search, async (c) => {
    const bounded = boundToEndUser(c, c.req.valid("json"));
    if (!bounded.ok) return sendProblem(c, bounded.error);
    const input = toSearchInput(readPrincipal(c).tenant, bounded.value);
    const reached = await reachReadModel(c, deps, () => deps.sessionSearch.searchSessions(input));
    if (!reached.ok) return sendProblem(c, reached.error);
    return reached.value.ok ? c.json(toCallersFinds(c, reached.value.value), 200) : sendProblem(c, reached.value.error);
  });
}

function registerOne(app: App, deps: HttpDeps): void {
  app.openapi(get, async (c) => {
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const session = await calls.repeatable((api, caller) => api.describe(caller));
    return session.ok ? c.json(toCallersView(c, session.value), 200, { ETag: session.value.etag }) : sendProblem(c, session.error);
  });
  app.openapi(patch, async (c) => {
    const body = c.req.valid("json");
    const relabelled = refuseRelabel(c, body);
    if (relabelled) return sendProblem(c, relabelled);
    const policy = body.policy === null ? await readDefaultPolicy(deps, readPrincipal(c).tenant) : ok(body.policy);
    if (!policy.ok) return sendProblem(c, policy.error);
    const tools = await findTools(deps, readPrincipal(c).tenant, body.tools);
    if (!tools.ok) return sendProblem(c, tools.error);
    const input = toPatchInput(body, { policy: policy.value, tools: tools.value });
    const calls = actingClient(deps, c, c.req.valid("param").session_id);
    const condition = toCondition(c.req.valid("header"));
    const given = await giveUnder(deps, c, { calls, endUser: body.end_user, condition });
    if (!given.ok) return sendProblem(c, given.error);
    const session = await calls.once((api, caller) => api.patch(caller, input, condition));
    if (session.ok) return c.json(session.value, 200, { ETag: session.value.etag });
    if (given.value) await give(deps, c, { session: calls.session, endUser: given.value.end_user });
    return sendProblem(c, ofNamedModel(session.error, body));
  });
}

interface Giving {
  readonly calls: ReturnType<typeof actingClient>;
  /** Absent: whose the session is does not change. */
  readonly endUser: string | null | undefined;
  readonly condition: ReturnType<typeof toCondition>;
}

/** Gives the session to the end user if the condition holds. Returns whose it was: a change that is refused later gives it back. */
async function giveUnder(deps: HttpDeps, c: Asker, { calls, endUser, condition }: Giving) {
  if (endUser === undefined) return ok(null);
  const before = await calls.repeatable((api, caller) => api.describe(caller));
  if (!before.ok) return before;
  const unmet = refuseUnmet(condition, before.value.etag);
  if (unmet) return unmet;
  const given = await give(deps, c, { session: calls.session, endUser });
  return given.ok ? ok({ end_user: before.value.end_user }) : given;
}

/** The tenant's directory must not name an end user who is not the session's any more, whatever becomes of this request. */
const give = (deps: HttpDeps, c: Asker, { session, endUser }: { readonly session: SessionId; readonly endUser: string | null }) =>
  callWithRetry(
    () => deps.tenants(readPrincipal(c).tenant),
    (api) => api.giveSession(session, endUser),
  );

/** The policy of a session that names none. It names a preset, so it replaces the session's policy as a whole. */
async function readDefaultPolicy(deps: HttpDeps, tenant: TenantId): Promise<Result<PolicyChoice, HttpError>> {
  const settings = await callWithRetry(
    () => deps.tenants(tenant),
    (api) => api.settings(),
  );
  return settings.ok ? ok(chainChoices(deps.config.defaultPolicy, parseLevel(settings.value.default_policy))) : settings;
}

function registerErase(app: App, deps: HttpDeps): void {
  app.openapi(erase, async (c) => {
    const { session_id: session } = c.req.valid("param");
    const forks = c.req.valid("query").forks === "true";
    const receipt = await eraseFor(deps, c, { session, forks, condition: toCondition(c.req.valid("header")) });
    if (!receipt.ok) return sendProblem(c, receipt.error);
    const { erasure_id: erasure } = receipt.value;
    return c.json(receipt.value, 200, erasure ? { Location: `/v1/erasures/${erasure}` } : {});
  });
}

export function registerSessions(app: App, deps: HttpDeps): void {
  registerCreate(app, deps);
  registerSearch(app, deps);
  registerNamed(app, deps);
  registerList(app, deps);
  registerOne(app, deps);
  registerErase(app, deps);
}
