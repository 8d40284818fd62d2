import { describe, expect, it } from "vitest";
import type { CompactionView, DisplayItem, OpenInput, PageInput, PatchInput, SessionApi } from "../../src/app/session-api";
import type { ModelOverride, TenantApi } from "../../src/app/tenant-api";
import type { SessionId, TenantId } from "../../src/domain/ids";
import { err, ok } from "../../src/lib/result";
import { ADMIN_KEY, description, FOREIGN_TENANT, makeId, principal, problemOf, SESSION, TENANT, world } from "./support";

const base = `/v1/sessions/${SESSION}`;

describe("making a session", () => {
  async function opened(body: unknown) {
    const seen: OpenInput[] = [];
    const open: SessionApi["open"] = async (_, input) => {
      seen.push(input);
      return ok(description());
    };
    const response = await world({ session: { open } }).call("POST", "/v1/sessions", { body });
    return { response, seen };
  }

  it("takes what is not said from the tenant", async () => {
    const { response, seen } = await opened({});

    expect(response.status).toBe(201);
    expect(seen).toEqual([{ model: "embedded", policy: "oneclaw", system: null, tools: null, title: null, metadata: {} }]);
  });

  it("takes no body for an empty one", async () => {
    const { response } = await opened(undefined);

    expect(response.status).toBe(201);
  });

  it("hands on what is said", async () => {
    const said = {
      model: "gpt-4o",
      policy: "oneclaw",
      system: "Be brief",
      title: "T",
      metadata: { a: "b" },
      tools: [{ name: "x", parameters: {} }],
    };

    expect((await opened(said)).seen).toEqual([said]);
  });

  it("notes it in the directory before it is opened, and says where it is", async () => {
    const steps: string[] = [];
    const tenant: Partial<TenantApi> = {
      registerSession: async ({ session }) => {
        steps.push(`registered ${session}`);
        return ok({ session, replayed: false });
      },
    };
    const open: SessionApi["open"] = async ({ session }) => {
      steps.push(`opened ${session}`);
      return ok(description({ id: session }));
    };

    const response = await world({ tenant, session: { open } }).call("POST", "/v1/sessions", { body: {} });

    const session: SessionId = (await response.json<{ id: SessionId }>()).id;
    expect(steps).toEqual([`registered ${session}`, `opened ${session}`]);
    expect(response.headers.get("location")).toBe(`/v1/sessions/${session}`);
  });

  it("leaves no trace in the directory when it is refused", async () => {
    const forgotten: SessionId[] = [];
    const tenant: Partial<TenantApi> = {
      forgetSession: async (session) => {
        forgotten.push(session);
        return ok(null);
      },
    };
    const { call, asked } = world({ tenant, session: { open: async () => err({ code: "unknown_model", model: "nope" }) } });

    const response = await call("POST", "/v1/sessions", { body: { model: "nope" } });

    expect(response.status).toBe(400);
    expect(forgotten).toEqual(asked.sessions.map(({ session }) => session));
  });
});

describe("changing a session", () => {
  it.each<[string, unknown, PatchInput]>([
    ["what is absent stays", { title: "New" }, { title: "New" }],
    ["null removes", { system: null, tools: null, title: null }, { system: null, tools: null, title: null }],
    ["nothing changes nothing", {}, {}],
  ])("%s", async (_, body, changes) => {
    const seen: PatchInput[] = [];
    const patch: SessionApi["patch"] = async (_caller, input) => {
      seen.push(input);
      return ok(description());
    };

    const response = await world({ session: { patch } }).call("PATCH", base, { body });

    expect(response.status).toBe(200);
    expect(seen).toEqual([changes]);
    expect(Object.keys(seen[0] ?? {})).toEqual(Object.keys(changes));
  });
});

describe("erasing a session", () => {
  const receipt = { session: SESSION, erased_at: 1, stores: [{ store: "object", status: "erased" as const, rows: 4 }] };

  it.each([
    ["erased now", ok(receipt), 200],
    ["erased before", err({ code: "session_erased" } as const), 404],
  ])("%s: it leaves the directory", async (_, outcome, status) => {
    const forgotten: SessionId[] = [];
    const tenant: Partial<TenantApi> = {
      forgetSession: async (session) => {
        forgotten.push(session);
        return ok(null);
      },
    };

    const response = await world({ tenant, session: { erase: async () => outcome } }).call("DELETE", base);

    expect(response.status).toBe(status);
    expect(forgotten).toEqual([SESSION]);
  });

  it("answers with the receipt", async () => {
    const { call } = world({ session: { erase: async () => ok(receipt) } });

    expect(await (await call("DELETE", base)).json()).toEqual(receipt);
  });

  it("that is unknown leaves the directory alone", async () => {
    const { call, asked } = world();

    await call("DELETE", base);

    expect(asked.tenants).toEqual([]);
  });
});

describe("pages", () => {
  const item = (position: number): DisplayItem => ({
    id: makeId("msg", position),
    position,
    kind: "user",
    turn_id: null,
    created_at: 1,
    parts: [{ type: "text", text: "x" }],
    execution_id: null,
    incomplete: false,
    tokens: 1,
  });

  it.each<[string, PageInput]>([
    ["", { after: null, limit: 50, order: "asc" }],
    ["?limit=200&after=7&order=desc", { after: 7, limit: 200, order: "desc" }],
  ])("messages%s are asked for as the client says", async (query, page) => {
    const seen: PageInput[] = [];
    const items: SessionApi["items"] = async (_, input) => {
      seen.push(input);
      return ok({ data: [], has_more: false });
    };

    await world({ session: { items } }).call("GET", `${base}/messages${query}`);

    expect(seen).toEqual([page]);
  });

  it("end with the cursor of the next one", async () => {
    const { call } = world({ session: { items: async () => ok({ data: [item(1), item(2)], has_more: true }) } });

    expect(await (await call("GET", `${base}/messages?limit=2`)).json()).toMatchObject({ has_more: true, next_cursor: "2" });
  });

  it("have no cursor when they are the last", async () => {
    const { call } = world({ session: { items: async () => ok({ data: [item(1)], has_more: false }) } });

    expect(await (await call("GET", `${base}/messages`)).json()).toEqual({ data: [item(1)], has_more: false, next_cursor: null });
  });

  it("of the log go by seq, those of compactions by time", async () => {
    const compaction: CompactionView = {
      id: makeId("cmp"),
      trigger: "threshold",
      status: "requested",
      did_compact: false,
      requested_at: 77,
      finished_at: null,
      attempts: 0,
      failure: null,
      epoch: null,
      ops: [],
      summary: null,
      receipt: null,
    };
    const { call } = world({
      session: {
        events: async () => ok({ data: [{ seq: 5, at: 1, type: "SessionErased" }], has_more: true }),
        compactions: async () => ok({ data: [compaction], has_more: true }),
      },
    });

    expect(await (await call("GET", `${base}/events`)).json()).toMatchObject({ next_cursor: "5" });
    expect(await (await call("GET", `${base}/compactions`)).json()).toMatchObject({ next_cursor: "77", data: [compaction] });
  });
});

describe("the list of sessions", () => {
  it("hands the cursor on and back as it is", async () => {
    const seen: unknown[] = [];
    const sessionList = {
      listSessions: async (input: { tenant: TenantId; limit: number; after: string | null }) => {
        seen.push(input);
        return ok({ data: [], has_more: true, next_cursor: "next" });
      },
    };

    const response = await world({ deps: { sessionList } }).call("GET", "/v1/sessions?limit=10&after=abc");

    expect(seen).toEqual([{ tenant: TENANT, limit: 10, after: "abc" }]);
    expect(await response.json()).toEqual({ data: [], has_more: true, next_cursor: "next" });
  });

  it("refuses a cursor of somewhere else by name", async () => {
    const sessionList = { listSessions: async () => err({ code: "invalid_cursor" } as const) };

    const response = await world({ deps: { sessionList } }).call("GET", "/v1/sessions?after=abc");

    expect(response.status).toBe(400);
    expect((await problemOf(response)).errors?.map(({ field }) => field)).toEqual(["after"]);
  });

  it("out of reach is 503, without the database's words", async () => {
    const sessionList = { listSessions: () => Promise.reject(new Error("D1_ERROR: secret text")) };
    const { call, log } = world({ deps: { sessionList } });

    const response = await call("GET", "/v1/sessions");

    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(JSON.stringify([await problemOf(response), log])).not.toContain("secret");
  });
});

describe("a queued message that is taken back", () => {
  it("leaves nothing to say", async () => {
    const { call } = world({ session: { cancelQueued: async () => ok(null) } });

    const response = await call("DELETE", `${base}/messages/${makeId("msg")}`);

    expect([response.status, await response.text()]).toEqual([204, ""]);
  });
});

describe("the next request", () => {
  it.each([
    ["as it stands", "", null],
    ["as if a message were sent", "?content=Hello%20there", [{ type: "text", text: "Hello there" }]],
  ])("is shown %s", async (_, query, content) => {
    const seen: unknown[] = [];
    const context: SessionApi["context"] = async (_caller, input) => {
      seen.push(input.content);
      return err({ code: "session_not_found" });
    };

    await world({ session: { context } }).call("GET", `${base}/context${query}`);

    expect(seen).toEqual([content]);
  });
});

describe("keys", () => {
  it("are shown once: the tenant gets the hash, the client the key", async () => {
    const hashes: string[] = [];
    const addKey: TenantApi["addKey"] = async ({ id, hash, name, scopes, expires_at }) => {
      hashes.push(hash);
      return ok({ id, name, scopes, created_at: 1, expires_at, revoked_at: null });
    };

    const response = await world({ tenant: { addKey } }).call("POST", "/v1/keys", { body: { name: "ci", scopes: ["sessions:read"] } });

    expect(response.status).toBe(201);
    const view = await response.json<{ key: string }>();
    expect(view).toMatchObject({ name: "ci", scopes: ["sessions:read"], expires_at: null });
    expect(hashes).toEqual([`hash of ${view.key}`]);
    expect(JSON.stringify(view)).not.toContain("hash");
  });

  it("cannot give what their maker does not have", async () => {
    const { call, asked } = world({ principal: principal(["keys:write"]) });

    const response = await call("POST", "/v1/keys", { body: { name: "ci", scopes: ["keys:write", "sessions:read"] } });

    expect(response.status).toBe(403);
    expect((await problemOf(response)).scope).toBe("sessions:read");
    expect(asked.tenants).toEqual([]);
  });

  it("have their maker's scopes when none are said", async () => {
    const { call } = world({ principal: principal(["keys:write"]) });

    expect(await (await call("POST", "/v1/keys", { body: { name: "ci" } })).json()).toMatchObject({ scopes: ["keys:write"] });
  });
});

describe("models", () => {
  const remote = { provider: "openai-compatible", base_url: "https://llm.example.com/v1", context_window: 128_000, max_output: 4_096 };

  it("may have a slash in their id, and are called by it upstream", async () => {
    const seen: [string, ModelOverride][] = [];
    const putModel: TenantApi["putModel"] = async (id, model) => {
      seen.push([id, model]);
      return ok({ id, source: "tenant", ...model });
    };

    const response = await world({ tenant: { putModel } }).call("PUT", "/v1/models/openai%2Fgpt-4o", { body: remote });

    expect(response.status).toBe(200);
    expect(seen).toEqual([["openai/gpt-4o", { ...remote, upstream_id: "openai/gpt-4o" }]]);
  });

  it("may not be inside", async () => {
    const { call, asked } = world();

    const response = await call("PUT", "/v1/models/m", { body: { ...remote, base_url: "https://169.254.169.254/v1" } });

    expect(response.status).toBe(400);
    expect((await problemOf(response)).errors).toEqual([{ field: "base_url", detail: "must be a public address" }]);
    expect(asked.tenants).toEqual([]);
  });

  it("may be inside where the deployment allows it", async () => {
    const { call } = world({ config: { allowPrivateModelUrls: true } });

    expect((await call("PUT", "/v1/models/m", { body: { ...remote, base_url: "http://127.0.0.1:9999/v1" } })).status).toBe(200);
  });

  it("of the deployment do not say where they are", async () => {
    const own = { id: "a", upstream_id: "a", provider: "openai-compatible" as const, context_window: null, max_output: 1 };
    const { call } = world({
      tenant: {
        listModels: async () =>
          ok([
            { ...own, base_url: "https://inside.example.com", source: "deployment" },
            { ...own, base_url: "https://theirs.example.com", source: "tenant" },
          ]),
      },
    });

    const { data } = await (await call("GET", "/v1/models")).json<{ data: { base_url: string | null }[] }>();

    expect(data.map((model) => model.base_url)).toEqual([null, "https://theirs.example.com"]);
  });
});

describe("the tenant", () => {
  it("shows its settings", async () => {
    expect(await (await world().call("GET", "/v1/tenant")).json()).toEqual({
      id: TENANT,
      name: "Acme",
      default_model: "embedded",
      default_policy: "oneclaw",
    });
  });

  it("takes a default model that it has", async () => {
    const resolveModel: TenantApi["resolveModel"] = async (id) => ({
      id,
      provider: "embedded",
      upstream_id: id,
      base_url: null,
      context_window: null,
      max_output: 1,
      source: "deployment",
    });

    const response = await world({ tenant: { resolveModel } }).call("PATCH", "/v1/tenant", { body: { default_model: "gpt-4o" } });

    expect(await response.json()).toMatchObject({ default_model: "gpt-4o" });
  });
});

describe("the admin", () => {
  it("makes a tenant and its key", async () => {
    const { call, asked } = world();

    const made = await (await call("POST", "/v1/admin/tenants", { key: ADMIN_KEY, body: { name: "Acme" } })).json<{
      tenant_id: TenantId;
    }>();
    const key = await call("POST", `/v1/admin/tenants/${made.tenant_id}/keys`, { key: ADMIN_KEY, body: { name: "first" } });

    expect(key.status).toBe(201);
    expect(Object.keys(await key.json<object>()).sort()).toEqual(["id", "key"]);
    expect(asked.tenants).toEqual([made.tenant_id, made.tenant_id]);
  });

  it("reads a log page by page", async () => {
    const seen: unknown[] = [];
    const exportLog: SessionApi["exportLog"] = async (caller, page) => {
      seen.push([caller, page]);
      return ok({ events: [{ seq: 4, at: 1, type: "SessionErased" }], bodies: [], has_more: true });
    };
    const { call } = world({ session: { exportLog } });

    const response = await call("GET", `/v1/admin/tenants/${FOREIGN_TENANT}/sessions/${SESSION}/log?after=3&limit=1`, { key: ADMIN_KEY });

    expect(seen).toEqual([
      [
        { tenant: FOREIGN_TENANT, session: SESSION },
        { after: 3, limit: 1 },
      ],
    ]);
    expect(await response.json()).toEqual({
      events: [{ seq: 4, at: 1, type: "SessionErased" }],
      bodies: [],
      has_more: true,
      next_cursor: "4",
    });
  });

  it("lists a tenant's sessions", async () => {
    const listSessions: TenantApi["listSessions"] = async () => ok({ data: [{ id: SESSION, created_at: 1 }], has_more: true });
    const { call } = world({ tenant: { listSessions } });

    const response = await call("GET", `/v1/admin/tenants/${FOREIGN_TENANT}/sessions`, { key: ADMIN_KEY });

    expect(await response.json()).toEqual({ data: [{ id: SESSION, created_at: 1 }], has_more: true, next_cursor: SESSION });
  });
});
