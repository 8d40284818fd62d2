/** Creates, lists, reads, changes and erases sessions. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { PolicyChoice } from "../../context/policy-choice";
import { chainChoices, parseLevel } from "../../context/policy-choice";
import { listView } from "../../contract/page";
import { erasureReceipt, sessionDescription, sessionSummary } from "../../contract/session";
import type { TenantId } from "../../domain/ids";
import { ok, type Result } from "../../lib/result";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import { createSession, findByExternalId, putSession } from "../create-session";
import type { HttpDeps, HttpEnv } from "../deps";
import { idempotencyHeaders } from "../idempotency";
import { type HttpError, sendProblem } from "../problem";
import { reachReadModel } from "../read-model";
import { eraseFor } from "../register-session";
import { json, jsonBody, tenantRoute } from "../routing";
import { sessionPath } from "../schemas/paths";
import { createInput, externalId, listQuery, patchInput, putInput, toFilter, toPatchInput } from "../schemas/session";
import { sessionClient } from "../session-calls";
import { ofSessionModel } from "../session-model";
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
  summary: "Create a session",
  request: { headers: idempotencyHeaders, body: jsonBody(createInput, false) },
  responses: { 201: json("The session", sessionDescription) },
});

const list = tenantRoute({
  method: "get",
  path: "/v1/sessions",
  tag,
  scope: "sessions:read",
  summary: "List sessions, the most recently updated first, or in another order; filters select some of them",
  request: { query: listQuery },
  responses: { 200: json("A page of sessions. The list lags behind the sessions by a short delay", listView(sessionSummary)) },
});

const named = "/v1/sessions/by-external-id/{external_id}";
const namedPath = z.object({ external_id: z.string().openapi({ description: "A slash in it is written %2F", example: "ticket-4711" }) });

const getNamed = tenantRoute({
  method: "get",
  path: named,
  tag,
  scope: "sessions:read",
  summary: "Read the session that has an external id",
  request: { params: namedPath },
  responses: { 200: json("The session", sessionDescription) },
});

const putNamed = tenantRoute({
  method: "put",
  path: named,
  tag,
  scope: "sessions:write",
  summary: "Get the session that has an external id, or create it. An existing session stays as it is, whatever the body says",
  request: { params: namedPath, body: jsonBody(putInput, false) },
  responses: { 200: json("The session that has the id, unchanged", sessionDescription), 201: json("The new session", sessionDescription) },
});

const get = tenantRoute({
  method: "get",
  path,
  tag,
  scope: "sessions:read",
  summary: "Read a session",
  request: { params: sessionPath },
  responses: { 200: json("The session", sessionDescription) },
});

const patch = tenantRoute({
  method: "patch",
  path,
  tag,
  scope: "sessions:write",
  summary: "Update a session. Null clears a field; a null policy restores the current default of the tenant or the deployment",
  request: { params: sessionPath, body: jsonBody(patchInput) },
  responses: { 200: json("The session", sessionDescription) },
});

const erase = tenantRoute({
  method: "delete",
  path,
  tag,
  scope: "sessions:write",
  summary: "Erase a session with all its content",
  request: { params: sessionPath },
  responses: { 200: json("What was erased, by store", erasureReceipt) },
});

function registerCreate(app: App, deps: HttpDeps): void {
  app.openapi(create, async (c) => {
    const created = await createSession(deps, c, { body: c.req.valid("json"), key: c.req.valid("header")["Idempotency-Key"] });
    if (!created.ok) return sendProblem(c, created.error);
    const { session, replayed } = created.value;
    if (replayed) c.header("idempotent-replayed", "true");
    return c.json(session, 201, { Location: `/v1/sessions/${session.id}` });
  });
}

/** These routes are registered before those of `/v1/sessions/{session_id}/…`, whose patterns match their paths too. */
function registerNamed(app: App, deps: HttpDeps): void {
  app.openapi(getNamed, async (c) => {
    const found = await findByExternalId(deps, c, c.req.valid("param").external_id);
    return found.ok ? c.json(found.value, 200) : sendProblem(c, found.error);
  });
  app.openapi(putNamed, async (c) => {
    const { external_id: name } = c.req.valid("param");
    const errors = faultOfName("external_id", externalId.safeParse(name));
    if (errors.length > 0) return sendProblem(c, { code: "invalid_request", errors });
    const created = await putSession(deps, c, { ...c.req.valid("json"), external_id: name });
    if (!created.ok) return sendProblem(c, created.error);
    const { session, isNew } = created.value;
    return c.json(session, isNew ? 201 : 200, { Location: `/v1/sessions/${session.id}` });
  });
}

function registerList(app: App, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const { limit, after = null, order_by: orderBy, order, ...selecting } = c.req.valid("query");
    const input = { tenant: readPrincipal(c).tenant, filter: toFilter(selecting), orderBy, order, limit, after };
    const reached = await reachReadModel(c, deps, () => deps.sessionList.listSessions(input));
    if (!reached.ok) return sendProblem(c, reached.error);
    return reached.value.ok ? c.json(reached.value.value, 200) : sendProblem(c, reached.value.error);
  });
}

function registerOne(app: App, deps: HttpDeps): void {
  app.openapi(get, async (c) => {
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const session = await calls.repeatable((api, caller) => api.describe(caller));
    return session.ok ? c.json(session.value, 200) : sendProblem(c, session.error);
  });
  app.openapi(patch, async (c) => {
    const body = c.req.valid("json");
    const given = body.policy === null ? await readDefaultPolicy(deps, readPrincipal(c).tenant) : ok(body.policy);
    if (!given.ok) return sendProblem(c, given.error);
    const tools = await findTools(deps, readPrincipal(c).tenant, body.tools);
    if (!tools.ok) return sendProblem(c, tools.error);
    const input = toPatchInput(body, { policy: given.value, tools: tools.value });
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const session = await calls.once((api, caller) => api.patch(caller, input));
    if (session.ok) return c.json(session.value, 200);
    return sendProblem(c, body.model === undefined ? ofSessionModel(session.error) : session.error);
  });
}

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
    const receipt = await eraseFor(deps, c, session);
    return receipt.ok ? c.json(receipt.value, 200) : sendProblem(c, receipt.error);
  });
}

export function registerSessions(app: App, deps: HttpDeps): void {
  registerCreate(app, deps);
  registerNamed(app, deps);
  registerList(app, deps);
  registerOne(app, deps);
  registerErase(app, deps);
}
