import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { SCOPES, type Scope } from "../../src/domain/scopes";
import { sampleBody, sampleQuery } from "../http/support";
import { advanceClock } from "./clock";
import { type Chat, migrate, newChat, newId, newTenant, readBody, request, type Tenant } from "./support";

interface Operation {
  readonly security?: readonly Readonly<Record<string, readonly Scope[]>>[];
}
interface Route {
  readonly method: string;
  /** `/v1/sessions/{session_id}` */
  readonly path: string;
  readonly scope: Scope | null;
}

const document = await readBody<{ paths: Record<string, Record<string, Operation>> }>(await request("GET", "/openapi.json", {}));
const routes: readonly Route[] = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, { security }]) => {
    const [scope = null] = (security ?? []).flatMap((entry) => Object.values(entry).flat());
    return { method: method.toUpperCase(), path, scope };
  }),
);
const closed = routes.filter(({ path }) => path.startsWith("/v1/"));
const ofTenants = closed.filter(({ path }) => !path.startsWith("/v1/admin/"));
const ofSessions = ofTenants.filter(({ path }) => path.includes("{session_id}"));
const named = (each: readonly Route[]) => each.map((route) => [`${route.method} ${route.path}`, route] as const);

let chat: Chat;
let stranger: Tenant;
let ids: Readonly<Record<string, string>>;

beforeAll(async () => {
  await migrate();
  chat = await newChat();
  stranger = await newTenant();
  const turn = await chat.say("hello");
  ids = {
    session_id: chat.id,
    turn_id: turn.id,
    message_id: turn.message_id ?? "",
    compaction_id: newId("cmp"),
    execution_id: newId("exe"),
    key_id: newId("key"),
    model_id: chat.model.upstream,
    credential_name: "openai",
    policy_name: "balanced",
    tool_name: "weather",
    schedule_name: "briefing",
    server_name: "github",
    tenant_id: chat.tenant.id,
  };
});

const fill = (path: string): string => path.replace(/\{([a-z_]+)\}/g, (_, name: string) => ids[name] ?? "missing") + sampleQuery(path);
const bodyFor = ({ method, path }: Route): unknown => {
  const body = sampleBody({ method, path: path.replace(/\{([a-z_]+)\}/g, ":$1") });
  return method === "GET" ? undefined : body;
};

async function keyWith(scopes: readonly Scope[], expires_at: number | null = null): Promise<{ readonly id: string; readonly key: string }> {
  const path = `/v1/admin/tenants/${chat.tenant.id}/keys`;
  return readBody(await request("POST", path, { key: env.ADMIN_KEY, body: { name: "some", scopes, expires_at } }), 201);
}

describe("the walk over the OpenAPI document of the running Worker", () => {
  it("finds the routes that it is about", () => {
    expect(ofSessions.length).toBeGreaterThanOrEqual(15);
    expect(closed.length).toBeGreaterThan(ofSessions.length + 8);
  });

  it.each(named(closed))("%s without a key, or with a made-up one, is refused", async (_, route) => {
    const made = chat.tenant.key.replace(/.$/, (last) => (last === "a" ? "b" : "a"));

    const answers = await Promise.all(
      [undefined, made, "x"].map((key) => request(route.method, fill(route.path), { ...(key && { key }), body: bodyFor(route) })),
    );

    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
  });

  it.each(named(ofSessions))("%s of another tenant's session is unknown, and nothing happens to it", async (_, route) => {
    const before = await chat.events();

    const answer = await stranger.call(route.method, fill(route.path), bodyFor(route));

    expect(answer.status).toBe(404);
    expect(await answer.text()).not.toContain("hello");
    expect(await chat.events()).toEqual(before);
  });

  it.each(named(ofTenants.filter(({ scope }) => scope !== null)))("%s needs its scope", async (_, route) => {
    const { id, key } = await keyWith(SCOPES.filter((scope) => scope !== route.scope));

    const answer = await request(route.method, fill(route.path), { key, body: bodyFor(route) });
    // A tenant has at most 100 valid keys, and there are more operations.
    await readBody(await chat.tenant.call("DELETE", `/v1/keys/${id}`));

    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ scope: route.scope });
  });

  it.each(named(closed.filter(({ path }) => path.startsWith("/v1/admin/"))))("%s is closed to a tenant's key", async (_, route) => {
    const answer = await chat.tenant.call(route.method, fill(route.path), bodyFor(route));

    expect(answer.status).toBe(401);
  });
});

describe("a session's object", () => {
  it("answers only its own tenant, whatever name addressed it", async () => {
    const caller = { tenant: stranger.id, session: chat.id };
    const { api } = chat;
    const page = { after: null, limit: 10, order: "asc" } as const;
    const before = await chat.events();

    const answers = await Promise.all([
      api.describe(caller),
      api.items(caller, page),
      api.events(caller, page),
      api.stop(caller, { idempotency: null }),
      api.erase(caller),
      api.exportLog(caller, { after: 0, limit: 10 }),
      api.leaseCompaction(caller, newId("cmp")),
      api.describe({ ...chat.caller, session: newId("ses") }),
    ]);

    expect(answers.map((answer) => (answer.ok ? "answered" : answer.error.code))).toEqual(answers.map(() => "session_not_found"));
    expect(await chat.events()).toEqual(before);
  });
});

describe("a key", () => {
  it("that was revoked is refused at once by an isolate that learned of the change", async () => {
    const { id, key } = await keyWith(["sessions:read"]);
    const ask = async () => (await request("GET", "/v1/sessions", { key })).status;
    expect(await ask()).toBe(200);

    await readBody(await chat.tenant.call("DELETE", `/v1/keys/${id}`));
    expect(await ask()).toBe(401);
  });

  it("is refused from its end on, remembered or not", async () => {
    const { key } = await keyWith(["sessions:read"], Date.now() + 10_000);
    const ask = async () => (await request("GET", "/v1/sessions", { key })).status;
    expect(await ask()).toBe(200);

    advanceClock(10_000);

    expect(await ask()).toBe(401);
  });

  it("of another tenant sees only its own sessions in the list", async () => {
    const list = await readBody<{ data: { id: string }[] }>(await stranger.call("GET", "/v1/sessions"));

    expect(list.data).toEqual([]);
  });
});
