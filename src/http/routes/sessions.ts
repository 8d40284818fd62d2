/** Creates, lists, reads, changes and erases sessions. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { OpenInput, Outcome, SessionError } from "../../app/session-api";
import { chainChoices, type PolicyChoice, parseLevel } from "../../context/policy-choice";
import { listView } from "../../contract/page";
import type { SessionDescription } from "../../contract/session";
import { erasureReceipt, sessionDescription, sessionSummary } from "../../contract/session";
import type { TenantId } from "../../domain/ids";
import { ok, type Result } from "../../lib/result";
import { toCallersView } from "../access-limits";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import { conditionHeaders, toCondition } from "../conditions";
import type { HttpDeps, HttpEnv } from "../deps";
import { erasureExample, sessionExample, sessionSummaryExample } from "../examples/conversation";
import { onePage } from "../examples/shared";
import { idempotencyHeaders } from "../idempotency";
import { type HttpError, sendProblem } from "../problem";
import { reachReadModel } from "../read-model";
import { eraseFor, registerSession } from "../register-session";
import { json, jsonBody, taggedJson, tenantRoute } from "../routing";
import { limitQuery } from "../schemas/page";
import { sessionPath } from "../schemas/paths";
import { createInput, faultOfPolicy, patchInput, toOpenInput, toPatchInput } from "../schemas/session";
import { type SessionCalls, sessionClient } from "../session-calls";
import { ofSessionModel } from "../session-model";
import { findTools } from "../session-tools";

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
  request: {
    headers: idempotencyHeaders,
    body: jsonBody(
      createInput,
      { model: "gpt-5", system: "You answer in one sentence.", title: "Weather", metadata: { channel: "web" } },
      false,
    ),
  },
  responses: { 201: taggedJson("The session", sessionDescription, sessionExample) },
});

const list = tenantRoute({
  method: "get",
  path: "/v1/sessions",
  tag,
  scope: "sessions:read",
  operationId: "listSessions",
  summary: "List sessions",
  description: "The most recently updated session comes first. The list lags behind the sessions by a short delay.",
  request: {
    query: z.strictObject({
      ...limitQuery,
      after: z.string().min(1).max(512).optional().openapi({ description: "next_cursor of the page before" }),
    }),
  },
  responses: {
    200: json(
      "A page of sessions. The list lags behind the sessions by a short delay",
      listView(sessionSummary),
      onePage(sessionSummaryExample),
    ),
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
    "Shows the settings, the size of the next request, the usage so far, and the turn that is open, if there is one. An access token is not shown `system`, `tools`, `pins` and `metadata`.",
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
  request: {
    params: sessionPath,
    headers: conditionHeaders,
    body: jsonBody(patchInput, { title: "Weather in Lisbon", policy: { keep: { ratio: 0.2 } } }),
  },
  responses: { 200: taggedJson("The session", sessionDescription, sessionExample) },
});

const erase = tenantRoute({
  method: "delete",
  path,
  tag,
  scope: "sessions:write",
  operationId: "eraseSession",
  summary: "Erase a session with all its content",
  description:
    "Ends the running turn and deletes every message, summary and output from every store. A store that is out of reach is reported as pending and is erased later. Erasing cannot be undone.",
  request: { params: sessionPath },
  responses: { 200: json("What was erased, by store", erasureReceipt, erasureExample) },
});

/** The first half of a creation: reads the tenant's defaults and registers the session in the tenant's directory. */
async function register(deps: HttpDeps, c: Context<HttpEnv>, key: string | undefined) {
  const { tenant } = readPrincipal(c);
  const [settings, place] = await Promise.all([
    callWithRetry(
      () => deps.tenants(tenant),
      (api) => api.settings(),
    ),
    registerSession(deps, c, key),
  ]);
  return { tenant, settings, ...place };
}

function registerCreate(app: App, deps: HttpDeps): void {
  app.openapi(create, async (c) => {
    const { tenant, settings, registered, isKeyed } = await register(deps, c, c.req.valid("header")["Idempotency-Key"]);
    if (!registered.ok) return sendProblem(c, registered.error);
    if (!settings.ok) return sendProblem(c, settings.error);
    const { session, replayed } = registered.value;
    const calls = sessionClient(deps, c, session);
    const body = c.req.valid("json");
    const forget = isKeyed ? null : () => deps.tenants(tenant).forgetSession(session);
    const tools = await findTools(deps, tenant, body.tools);
    if (!tools.ok) return await refuseCreation(c, tools.error, forget);
    const input = toOpenInput(body, { ...settings.value, deploymentPolicy: deps.config.defaultPolicy, tools: tools.value });
    const fault = faultOfPolicy(input.policy, body.policy);
    if (fault) return await refuseCreation(c, { code: "invalid_request", errors: [fault] }, forget);
    const opened = await openOnce(calls, input);
    if (!opened.ok) return await refuseCreation(c, ofNamedModel(opened.error, body.model), forget);
    if (replayed) c.header("idempotent-replayed", "true");
    return c.json(opened.value, 201, { Location: `/v1/sessions/${session}`, ETag: opened.value.etag });
  });
}

/** If the client named no model, the unknown one comes from the tenant's settings. */
const ofNamedModel = (error: SessionError, named: string | undefined): HttpError =>
  named === undefined && error.code === "unknown_model" ? { code: "default_model_gone", model: error.model } : error;

async function openOnce(calls: SessionCalls, input: OpenInput): Promise<Outcome<SessionDescription>> {
  const opened = await calls.repeatable((api, caller) => api.open(caller, input));
  // The request was sent before: its answer was lost, or the first attempt ended between the two objects.
  if (!opened.ok && opened.error.code === "session_exists") return calls.repeatable((api, caller) => api.describe(caller));
  return opened;
}

/**
 * Removes the id of a session that was refused, because no client knows it. `forget` is null when the request has an
 * idempotency key: the same request may come back to the id.
 */
async function refuseCreation(c: Context<HttpEnv>, error: HttpError, forget: (() => Promise<unknown>) | null): Promise<Response> {
  await forget?.();
  return sendProblem(c, error);
}

function registerList(app: App, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const { limit, after = null } = c.req.valid("query");
    const { tenant } = readPrincipal(c);
    const reached = await reachReadModel(c, deps, () => deps.sessionList.listSessions({ tenant, limit, after }));
    if (!reached.ok) return sendProblem(c, reached.error);
    return reached.value.ok ? c.json(reached.value.value, 200) : sendProblem(c, reached.value.error);
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
    const given = body.policy === null ? await readDefaultPolicy(deps, readPrincipal(c).tenant) : ok(body.policy);
    if (!given.ok) return sendProblem(c, given.error);
    const tools = await findTools(deps, readPrincipal(c).tenant, body.tools);
    if (!tools.ok) return sendProblem(c, tools.error);
    const input = toPatchInput(body, { policy: given.value, tools: tools.value });
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const condition = toCondition(c.req.valid("header"));
    const session = await calls.once((api, caller) => api.patch(caller, input, condition));
    if (session.ok) return c.json(session.value, 200, { ETag: session.value.etag });
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
  registerList(app, deps);
  registerOne(app, deps);
  registerErase(app, deps);
}
