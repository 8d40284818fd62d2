/**
 * Walks over the running Worker's document, and causes the refusals that many operations share, on each operation that lists them. What a route
 * alone is refused for is in `refusals.test.ts`. `request` checks every answer against the document.
 */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import type { WholeSessionApi } from "../../src/app/control-api";
import { sessionObjectName, tenantObjectName } from "../../src/app/object-name";
import { NO_LIMITS } from "../../src/contract/limits";
import type { SessionId } from "../../src/domain/ids";
import worker from "../../src/index";
import { CHANNEL_SECRETS, sampleBody, sampleQuery } from "../http/support";
import { type Document, DocumentedAnswers } from "../support/documented-answers";
import { NEVER_ANSWERED } from "../support/never-answered";
import { PATIENCE_MS } from "../support/read-seed";
import { type Chat, migrate, newChat, newId, newTenant, readBody, request } from "./support";

interface Route {
  readonly method: string;
  /** `/v1/sessions/{session_id}` */
  readonly path: string;
}

const known = new DocumentedAnswers(await readBody<Document>(await request("GET", "/openapi.json", {})));

/** The operations that list the refusal: `404 session_not_found`. */
function listing(refusal: string) {
  const answers = known.all
    .filter((answer) => answer.endsWith(` ${refusal}`) && !NEVER_ANSWERED.has(answer))
    .map((answer) => answer.split(" "));
  return answers.map(([method = "", path = ""]) => [`${method} ${path}`, { method, path }] as const);
}

let chat: Chat;
let erased: SessionId;
let forking: SessionId;
let message: string;
let forked: string;
let token: string;
let ids: Readonly<Record<string, string>>;

const TOOL = { url: "https://api.example.com/weather", parameters: { type: "object" } };

/** A session whose copy was begun and not completed. It has one message. */
async function beginFork(): Promise<{ readonly session: SessionId; readonly message: string }> {
  const session = newId("ses");
  const caller = { tenant: chat.tenant.id, session };
  const stub = env.SESSIONS.getByName(sessionObjectName(caller.tenant, session));
  const head = await chat.api.forkHead(chat.caller, null);
  if (!head.ok) throw new Error(head.error.code);
  await stub.beginFork(caller, { from: chat.id, head: head.value });
  const { at, elsewhere, shown } = head.value;
  const page = await chat.api.forkPage(chat.caller, { at, elsewhere, shown, after: 0, copied: 0 });
  if (!page.ok) throw new Error(page.error.code);
  await stub.copyIntoFork(caller, page.value);
  const copy: WholeSessionApi = stub;
  const items = await copy.items(caller, { after: null, limit: 1, order: "asc" });
  if (!items.ok) throw new Error(items.error.code);
  return { session, message: items.value.data[0]?.id ?? "" };
}

beforeAll(async () => {
  await migrate();
  chat = await newChat();
  const turn = await chat.say("hello");
  message = turn.message_id ?? "";
  const gone = await newChat({ tenant: chat.tenant });
  erased = gone.id;
  await readBody(await gone.call("DELETE"));
  ({ session: forking, message: forked } = await beginFork());
  token = (await readBody<{ token: string }>(await chat.tenant.call("POST", "/v1/tokens", { session_id: chat.id }), 201)).token;
  const hook = { url: "http://127.0.0.1:9/hooks", events: ["export.failed"] };
  const endpoint = await readBody<{ id: string }>(await chat.tenant.call("POST", "/v1/webhook_endpoints", hook), 201);
  ids = {
    session_id: chat.id,
    turn_id: turn.id,
    message_id: message,
    compaction_id: newId("cmp"),
    execution_id: newId("exe"),
    key_id: newId("key"),
    file_id: newId("fil"),
    model_id: chat.model.upstream,
    external_id: "order-1",
    credential_name: "openai",
    channel_name: "support",
    user_id: "4711",
    policy_name: "balanced",
    plan_name: "starter",
    tool_name: "weather",
    schedule_name: "briefing",
    server_name: "github",
    branch: "1",
    file: "start.js",
    tenant_id: chat.tenant.id,
    endpoint_id: endpoint.id,
    delivery_id: newId("dlv"),
  };
  await readBody(await request("PUT", "/v1/admin/plans/starter", { key: env.ADMIN_KEY, body: {} }));
  await readBody(await chat.tenant.call("PUT", "/v1/tools/weather", TOOL));
  await readBody(await chat.tenant.call("PUT", "/v1/channels/support", { type: "generic", credentials: CHANNEL_SECRETS }));
  await readBody(await chat.tenant.call("PUT", "/v1/mcp_servers/github", { url: `${inject("toolServer")}/mcp` }));
}, PATIENCE_MS);

const toPattern = (path: string): string => path.replace(/\{([a-z_]+)\}/g, ":$1");
const fill = (path: string, changes: Readonly<Record<string, string>> = {}): string =>
  path.replace(
    /\{([a-z_]+)\}/g,
    (_, name: string) => ({ ...ids, ...(path.startsWith("/v1/admin/keys/") && { key_id: newId("adm") }), ...changes })[name] ?? "missing",
  ) + sampleQuery(toPattern(path));
const keyFor = ({ path }: Route): string => (path.startsWith("/v1/admin/") ? env.ADMIN_KEY : chat.tenant.key);

interface Cause {
  readonly changes?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly key?: string;
  readonly send?: Parameters<typeof request>[2]["send"];
}

/** A request that would succeed or be refused for another reason, but for its cause. */
async function ask(route: Route, { changes, query, headers = {}, body, key = keyFor(route), send }: Cause): Promise<string> {
  const path = fill(route.path, changes);
  const url = query === undefined ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`;
  const sample = sampleBody({ method: route.method, path: toPattern(route.path) });
  const sent = body ?? (route.path === "/v1/files" && route.method === "POST" ? new TextEncoder().encode("A text") : sample);
  const response = await request(route.method, url, {
    key,
    headers,
    ...(sent !== undefined && { body: sent }),
    ...(send && { send }),
  });
  const { type } = await readBody<{ type: string }>(response, response.status);
  return `${response.status} ${type.replace("urn:longhand:problem:", "")}`;
}

const JSON_BODY = { "content-type": "application/json" };
const toLongText = (units: number) => Uint8Array.from(new TextEncoder().encode(`"${"x".repeat(units)}"`));
/** Results of tools, which are cut when they are recorded. */
const LONG_BODIES = /\/(respond|tool_results)$/;

describe.each([
  ["400 invalid_request", { query: "of_no_route=1" }],
  ["401 unauthorized", { key: "lh_test_of_nobody" }],
  ["403 origin_not_allowed", { headers: { origin: "https://elsewhere.example" } }],
  ["404 not_found", { changes: { session_id: "odd", message_id: "odd", turn_id: "odd", compaction_id: "odd", execution_id: "odd" } }],
  ["413 body_too_large", { body: toLongText(1_048_576), headers: JSON_BODY }],
  ["414 url_too_long", { query: `q=${"x".repeat(16_384)}` }],
  ["431 headers_too_large", { headers: { "x-many": "x".repeat(32_768) } }],
  ["415 unsupported_media_type", { body: new TextEncoder().encode("{}"), headers: { "content-type": "text/plain" } }],
] as const)("%s", (refusal, cause: Cause) => {
  const odd = { key_id: "odd", file_id: "odd", tenant_id: "odd", branch: "odd", policy_name: "odd", file: "odd", endpoint_id: "odd" };
  const changes = refusal.startsWith("404") ? { ...cause.changes, ...odd } : {};

  it.each(listing(refusal))("%s", async (_, route) => {
    const longer = refusal.startsWith("413") && LONG_BODIES.test(route.path) ? { body: toLongText(8 * 1_048_576) } : {};
    expect(await ask(route, { ...cause, ...longer, changes })).toBe(refusal);
  });
});

describe("403 role_missing", () => {
  it.each(listing("403 role_missing"))("%s", async (_, route) => {
    const made = await request("POST", "/v1/admin/keys", { key: env.ADMIN_KEY, body: { name: "reader", role: "read" } });
    const { id, key } = await readBody<{ id: string; key: string }>(made, 201);

    expect(await ask(route, { key })).toBe("403 role_missing");
    await readBody(await request("DELETE", `/v1/admin/keys/${id}`, { key: env.ADMIN_KEY }));
  });
});

describe("429 rate_limited", () => {
  let limited: string;
  beforeAll(async () => {
    const { id, key } = await newTenant();
    await env.TENANTS.getByName(tenantObjectName(id)).setLimits({
      limits: { ...NO_LIMITS, tenant: { requests_per_minute: 0 } },
      revision: 1,
    });
    limited = key;
  });

  it.each(listing("429 rate_limited").filter(([, { path }]) => !path.startsWith("/v1/admin/")))("%s", async (_, route) => {
    expect(await ask(route, { key: limited })).toBe("429 rate_limited");
  });

  describe("for guesses of an admin key", () => {
    const headers = { "cf-connecting-ip": "192.0.2.99" };
    const counted = { ...env, FLOODS: env.TEST_FLOODS };
    const send: Cause["send"] = (asked) => worker.fetch(asked, counted, createExecutionContext());
    const guess = (route: Route) => ask(route, { key: "guess", headers, send });
    beforeAll(async () => {
      const many = Array.from({ length: 5 }, () => guess({ method: "GET", path: "/v1/admin/tenants" }));
      expect(await Promise.all(many)).toEqual(many.map(() => "401 unauthorized"));
    });

    it.each(listing("429 rate_limited").filter(([, { path }]) => path.startsWith("/v1/admin/")))("%s", async (_, route) => {
      expect(await guess(route)).toBe("429 rate_limited");
    });
  });
});

describe("403 key_required", () => {
  it.each(listing("403 key_required"))("%s", async (_, route) => {
    expect(await ask(route, { key: token })).toBe("403 key_required");
  });
});

describe("404 session_erased", () => {
  const inPath = listing("404 session_erased").filter(([, { path }]) => path.includes("{session_id}"));

  it.each(inPath)("%s", async (_, route) => {
    expect(await ask(route, { changes: { session_id: erased } })).toBe("404 session_erased");
  });
});

describe("404 session_not_found", () => {
  const inPath = listing("404 session_not_found").filter(([, { path }]) => path.includes("{session_id}"));

  it.each(inPath)("%s", async (_, route) => {
    expect(await ask(route, { changes: { session_id: newId("ses") } })).toBe("404 session_not_found");
  });
});

describe("409 fork_unfinished", () => {
  it.each(listing("409 fork_unfinished"))("%s", async (_, route) => {
    const bodies: Readonly<Record<string, unknown>> = { PATCH: { title: "Other" } };
    const cause = { changes: { session_id: forking, message_id: forked }, body: bodies[route.method] };

    expect(await ask(route, cause)).toBe("409 fork_unfinished");
  });
});

describe("412 precondition_failed", () => {
  const url = () => `${inject("toolServer")}/mcp`;
  const bodies = (): Readonly<Record<string, unknown>> => ({ "/v1/mcp_servers/{server_name}": { url: url() } });

  it.each(listing("412 precondition_failed"))("%s", async (_, route) => {
    const body = route.method === "PUT" ? bodies()[route.path] : undefined;

    expect(await ask(route, { headers: { "if-match": '"never"' }, body })).toBe("412 precondition_failed");
  });
});

describe("422 idempotency_conflict", () => {
  const MADE_WITH: Readonly<Record<string, object>> = {
    "/v1/sessions": {},
    "/v1/admin/keys": { name: "other", role: "read" },
    "/v1/webhook_endpoints": { url: "http://127.0.0.1:9/hooks", events: ["export.failed"] },
  };
  const headers = { "idempotency-key": "used-before" };

  /** Sends another request with the key to the owner of what the route concerns: the session, the directory of sessions, the keys or the files. */
  function useKey(route: Route): Promise<Response> {
    const { path } = route;
    const { tenant } = chat;
    if (path.endsWith("/fork")) return tenant.call("POST", "/v1/sessions", {}, headers);
    if (path === "/v1/files") return tenant.call("POST", path, new TextEncoder().encode("Other"), headers);
    if (path.startsWith("/v1/sessions/{session_id}/"))
      return tenant.call("POST", `/v1/sessions/${chat.id}/messages`, { content: "again", run: false }, headers);
    const maker = path.replace("/{key_id}/rotate", "");
    return request("POST", fill(maker), { key: keyFor(route), headers, body: MADE_WITH[maker] ?? { name: "other" } });
  }

  // A compaction is looked for first, and there is none.
  it.each(listing("422 idempotency_conflict").filter(([, { path }]) => !path.includes("{compaction_id}")))("%s", async (_, route) => {
    await useKey(route);

    const other = route.path === "/v1/sessions" ? { title: "Other" } : undefined;
    expect(await ask(route, { headers, body: other })).toBe("422 idempotency_conflict");
  });
});
