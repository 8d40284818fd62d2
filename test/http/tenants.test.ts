import { describe, expect, it } from "vitest";
import type { DeploymentApi } from "../../src/app/deployment-api";
import type { ModelOverride } from "../../src/app/model-entry";
import type { RebuildRows } from "../../src/app/projection/rebuild-ports";
import type { SessionApi } from "../../src/app/session-api";
import type { TenantApi, TenantMaintenance } from "../../src/app/tenant-api";
import { presets } from "../../src/context/presets";
import type { TenantId } from "../../src/domain/ids";
import { err, ok } from "../../src/lib/result";
import {
  ADMIN_KEY,
  emptyRows,
  emptyTenantRows,
  FOREIGN_TENANT,
  keyEntry,
  makeId,
  modelEntry,
  NOW,
  principal,
  readProblem,
  SESSION,
  TENANT,
  world,
} from "./support";

describe("keys", () => {
  it("are shown once: the tenant gets the hash, the client the key", async () => {
    const hashes: string[] = [];
    const addKey: TenantApi["addKey"] = async (_, { id, hash, name, scopes, expires_at }) => {
      hashes.push(hash);
      return ok(keyEntry({ id, name, scopes, expires_at }));
    };

    const response = await world({ tenant: { addKey } }).call("POST", "/v1/keys", { body: { name: "ci", scopes: ["sessions:read"] } });

    expect(response.status).toBe(201);
    const view = await response.json<{ key: string }>();
    expect(view).toMatchObject({ name: "ci", scopes: ["sessions:read"], expires_at: null });
    expect(hashes).toEqual([`hash of ${view.key}`]);
    expect(JSON.stringify(view)).not.toContain("hash");
  });

  it("that would have more than the key that asks are refused: 403, with the field", async () => {
    const asked: unknown[] = [];
    const addKey: TenantApi["addKey"] = async (_, { by }) => {
      asked.push(by);
      return err({ code: "beyond_own_key", field: "expires_at", detail: "too late" });
    };
    const { call } = world({ tenant: { addKey } });

    const response = await call("POST", "/v1/keys", { body: { name: "ci" } });

    expect(response.status).toBe(403);
    expect(await readProblem(response)).toMatchObject({
      type: expect.stringContaining("beyond_own_key"),
      errors: [{ field: "expires_at" }],
    });
    expect(asked).toEqual([expect.stringMatching(/^key_/)]);
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
    const putModel: TenantApi["putModel"] = async (_, id, model) => {
      seen.push([id, model]);
      return ok(modelEntry({ id }));
    };

    const response = await world({ tenant: { putModel } }).call("PUT", "/v1/models/openai%2Fgpt-4o", { body: remote });

    expect(response.status).toBe(200);
    expect(seen).toEqual([["openai/gpt-4o", { ...remote, upstream_id: "openai/gpt-4o" }]]);
  });

  it("may not be inside", async () => {
    const { call, asked } = world();

    const response = await call("PUT", "/v1/models/m", { body: { ...remote, base_url: "https://169.254.169.254/v1" } });

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors).toEqual([{ field: "base_url", detail: "must be a public address" }]);
    expect(asked.tenants).toEqual([]);
  });

  it("may be inside where the deployment allows it", async () => {
    const { call } = world({ config: { allowPrivateModelUrls: true } });

    expect((await call("PUT", "/v1/models/m", { body: { ...remote, base_url: "http://127.0.0.1:9999/v1" } })).status).toBe(200);
  });

  it("of the deployment do not say where they are", async () => {
    const entries = [
      modelEntry({ id: "a", base_url: "https://inside.example.com", source: "deployment" }),
      modelEntry({ id: "b", base_url: "https://theirs.example.com", source: "tenant" }),
    ];
    const { call } = world({ tenant: { listModels: async () => ok(entries) } });

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
      allowed_origins: [],
      plan: null,
      limits: { tenant: {}, key: {}, end_user: {} },
      effective_policy: presets.oneclaw,
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

  it("passes on a null for the default model, without looking it up", async () => {
    const given: unknown[] = [];
    const changeSettings: TenantApi["changeSettings"] = async (_, changes) => {
      given.push(changes);
      return ok({ name: "Acme", default_model: "embedded", default_policy: "", allowed_origins: [] });
    };

    const response = await world({ tenant: { changeSettings } }).call("PATCH", "/v1/tenant", { body: { default_model: null } });

    expect(response.status).toBe(200);
    expect(given).toEqual([{ default_model: null }]);
  });
});

const rebuildPath = `/v1/admin/tenants/${FOREIGN_TENANT}/sessions/${SESSION}/rebuild`;

describe("the admin", () => {
  it("makes a tenant and its key", async () => {
    const listed: unknown[] = [];
    const registerTenants: DeploymentApi["registerTenants"] = async (tenants) => {
      listed.push(...tenants);
      return { added: tenants.length };
    };
    const { call, asked } = world({ deployment: { registerTenants } });

    const made = await (await call("POST", "/v1/admin/tenants", { key: ADMIN_KEY, body: { name: "Acme" } })).json<{
      id: TenantId;
    }>();
    const key = await call("POST", `/v1/admin/tenants/${made.id}/keys`, { key: ADMIN_KEY, body: { name: "first" } });

    expect(key.status).toBe(201);
    expect(Object.keys(await key.json<object>()).sort()).toEqual(["id", "key"]);
    expect(new Set(asked.tenants)).toEqual(new Set([made.id]));
    expect(listed).toEqual([1, 2].map(() => ({ id: FOREIGN_TENANT, name: "Acme", created_at: NOW, status: "active", database: "DB" })));
  });

  it("makes no key of a tenant that it could not list", async () => {
    let keys = 0;
    const addKey: TenantApi["addKey"] = async () => {
      keys += 1;
      return err({ code: "key_limit", limit: 1 });
    };
    const registerTenants = () => Promise.reject(Object.assign(new Error("moved"), { retryable: true }));
    const { call } = world({ tenant: { addKey }, deployment: { registerTenants } });

    const response = await call("POST", `/v1/admin/tenants/${TENANT}/keys`, { key: ADMIN_KEY, body: { name: "first" } });

    expect([response.status, keys]).toEqual([503, 0]);
  });

  it("lists tenants page by page, and passes on what it was asked for", async () => {
    const seen: unknown[] = [];
    const found = { id: TENANT, name: "Acme", created_at: NOW, status: "active", database: "DB" } as const;
    const listTenants: DeploymentApi["listTenants"] = async (query) => {
      seen.push(query);
      return { data: [found], has_more: true };
    };
    const { call } = world({ deployment: { listTenants } });

    const first = await (await call("GET", "/v1/admin/tenants?name=ac&limit=1", { key: ADMIN_KEY })).json<{ next_cursor: string }>();
    await call("GET", `/v1/admin/tenants?order=asc&after=${first.next_cursor}`, { key: ADMIN_KEY });

    expect(first).toMatchObject({ data: [found], has_more: true });
    expect(seen).toEqual([
      { after: null, limit: 1, order: "desc", name: "ac", status: null },
      { after: { id: TENANT, created_at: NOW }, limit: 50, order: "asc", name: null, status: null },
    ]);
  });

  it.each(["x", "1.ten_1", `${NOW}`, `.${TENANT}`, `1e3.${TENANT}`])(
    "takes no cursor %j of tenants that it did not give",
    async (cursor) => {
      const response = await world().call("GET", `/v1/admin/tenants?after=${cursor}`, { key: ADMIN_KEY });

      expect((await readProblem(response)).type).toBe("urn:longhand:problem:invalid_cursor");
    },
  );

  it("repairs the list from the rows, and names those that no object knows", async () => {
    const ids = [makeId("ten", 7), makeId("ten", 8)];
    const pages: unknown[] = [];
    const deps = {
      tenantIds: {
        listTenantIds: async (page: unknown) => {
          pages.push(page);
          return { data: ids, has_more: true };
        },
      },
    };
    const gone: TenantMaintenance["identify"] = async () => err({ code: "tenant_not_found" });
    const { call } = world({ deps, tenant: { identify: gone }, deployment: { registerTenants: async () => ({ added: 0 }) } });

    const report = await (await call("POST", `/v1/admin/tenants/rebuild?after=${TENANT}`, { key: ADMIN_KEY })).json();

    expect(report).toEqual({ tenants: 2, added: 0, unknown: ids, next_cursor: ids[1] });
    expect(pages).toEqual([{ after: TENANT, limit: 50 }]);
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

  it("rebuilds a session's rows from its log, and returns the differences", async () => {
    const exportLog: SessionApi["exportLog"] = async () => err({ code: "session_erased" });
    const buried = new Set<string>();
    async function erase({ session }: { readonly session: string }) {
      buried.add(session);
      return { rows: 0 };
    }
    const standing = () => ({ live: 0, scratch: 0, buried: buried.size > 0 });
    const rows: RebuildRows = {
      ...emptyRows(),
      live: { write: async () => {}, erase, forgetEndUsers: async () => true },
      stand: async () => standing(),
      readPage: async () => ({ standing: standing(), live: [], scratch: [] }),
    };
    const { call } = world({ session: { exportLog }, deps: { rows: async () => rows } });

    const response = await call("POST", rebuildPath, { key: ADMIN_KEY });

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      session_id: SESSION,
      repaired: true,
      differences: [{ table: "session_tombstones", key: SESSION }],
      next_cursor: null,
    });
    expect([...buried]).toEqual([SESSION]);
  });

  it("rebuilds what is long in several requests, each going on where the last one ended", async () => {
    let parts = 0;
    const rows: RebuildRows = { ...emptyRows(), clearScratch: async () => ++parts > 150 };
    const { call } = world({ deps: { rows: async () => rows } });

    const first = await (await call("POST", rebuildPath, { key: ADMIN_KEY })).json<{ next_cursor: string }>();
    const done = parts;
    const second = await (await call("POST", `${rebuildPath}?after=${first.next_cursor}`, { key: ADMIN_KEY })).json();

    expect(first).toMatchObject({ repaired: null, next_cursor: expect.any(String) });
    expect(done).toBeLessThan(100);
    expect(second).toMatchObject({ repaired: expect.toSatisfy((value) => value === true || value === null) });
    expect(parts).toBeGreaterThan(done);
  });

  it.each(["x", "7b7d", ""])("takes no rebuild's cursor %j that it did not give", async (cursor) => {
    const response = await world().call("POST", `${rebuildPath}?after=${cursor}`, { key: ADMIN_KEY });

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors).toMatchObject([{ field: "after" }]);
  });

  it("reads a tenant with its models and keys", async () => {
    const response = await world().call("GET", `/v1/admin/tenants/${FOREIGN_TENANT}`, { key: ADMIN_KEY });

    expect(await response.json()).toMatchObject({ id: FOREIGN_TENANT, name: "Acme", models: [], keys: [] });
  });

  it("lists the sessions that have rows", async () => {
    const tenantRows = {
      ...emptyTenantRows(),
      listSessions: async () => ({ data: [{ id: SESSION, created_at: 1 }], has_more: false }),
    };
    const { call } = world({ deps: { tenantRows: async () => tenantRows } });

    const response = await call("GET", `/v1/admin/tenants/${FOREIGN_TENANT}/sessions?source=rows`, { key: ADMIN_KEY });

    expect(await response.json()).toMatchObject({ data: [{ id: SESSION }] });
  });

  it("is reported when D1 is unavailable", async () => {
    const rows: RebuildRows = { ...emptyRows(), stand: fail, readPage: fail, clearScratch: fail };
    async function fail(): Promise<never> {
      throw new Error("D1_ERROR: secret");
    }
    const { call } = world({ deps: { rows: async () => rows } });

    const response = await call("POST", rebuildPath, { key: ADMIN_KEY });

    expect(response.status).toBe(503);
    expect(JSON.stringify(await readProblem(response))).not.toContain("secret");
  });
});
