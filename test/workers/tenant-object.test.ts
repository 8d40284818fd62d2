import { applyD1Migrations, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { ulid } from "ulidx";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { IDEMPOTENCY_TTL_MS } from "../../src/app/idempotency";
import type { ModelOverride } from "../../src/app/model-entry";
import type { TenantApi, TenantMaintenance } from "../../src/app/tenant-api";
import { type IdKinds, type IdPrefix, parseId, type TenantId } from "../../src/domain/ids";
import type { Scope } from "../../src/domain/scopes";
import type { Env } from "../../src/env";
import { hashKey } from "../../src/lib/peppered";
import { generateApiKey } from "../../src/tenant/keys/api-key";
import { ACT } from "../support/act";
import { ringNow } from "./alarms";

type TenantStub = ReturnType<Env["TENANTS"]["getByName"]>;

const PEPPER = "a-pepper-for-tests-only";
const TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'";

function newId<P extends IdPrefix>(prefix: P): IdKinds[P] {
  const id = parseId(prefix, `${prefix}_${ulid()}`);
  if (!id) throw new Error("ulidx made no ULID");
  return id;
}

function getStub(tenant: TenantId): TenantStub {
  return env.TENANTS.getByName(tenant);
}

/** Once its alarm has run, or none is set, the tenant's write to the read model is over. */
async function settle(stub: TenantStub): Promise<void> {
  await ringNow(stub);
}

async function givenTenant() {
  const tenant = newId("ten");
  const stub = getStub(tenant);
  await stub.create(ACT, { tenant, name: "Ada", idempotency: null });
  return { tenant, stub };
}

async function givenKey(
  stub: TenantStub,
  { tenant, scopes = ["sessions:read"], expires_at = null }: { tenant: TenantId; scopes?: readonly Scope[]; expires_at?: number | null },
) {
  const key = await generateApiKey({ env: "dev", tenant }, PEPPER);
  const hash = await hashKey(key, PEPPER);
  const id = newId("key");
  await stub.addKey(ACT, { id, hash, name: "ci", scopes, restriction: null, clients: null, expires_at, by: null, idempotency: null });
  return { key, hash, id };
}

function model(changes: Partial<ModelOverride> = {}): ModelOverride {
  return {
    provider: "openai-compatible",
    upstream_id: "gpt-4o",
    base_url: "https://x.example",
    context_window: 9_000,
    max_output: 512,
    ...changes,
  };
}

/** Every value of every row of every table of the object, as one text. */
function dump(stub: TenantStub): Promise<string> {
  return runInDurableObject(stub, (_, state) => {
    const tables = state.storage.sql.exec<{ name: string }>(TABLES).toArray();
    return JSON.stringify(tables.map(({ name }) => state.storage.sql.exec(`SELECT * FROM "${name}"`).toArray()));
  });
}

beforeAll(() => applyD1Migrations(env.DB, env.MIGRATIONS));
afterEach(() => vi.restoreAllMocks());

describe("a tenant that was never created", () => {
  it("answers tenant_not_found to everything and leaves no tables and no alarm behind", async () => {
    const stub = getStub(newId("ten"));
    const answers = await Promise.all([
      stub.settings(),
      stub.changeSettings(ACT, { name: "x" }),
      stub.addKey(ACT, {
        id: newId("key"),
        hash: "h",
        name: "x",
        scopes: [],
        restriction: null,
        clients: null,
        expires_at: null,
        by: null,
        idempotency: null,
      }),
      stub.listKeys(),
      stub.revokeKey(ACT, newId("key"), null),
      stub.registerSession({ session: newId("ses"), idempotency: null }),
      stub.forgetSession(newId("ses")),
      stub.listSessions({ after: null, limit: 10 }),
      stub.listModels(),
      stub.putModel(ACT, "m", model()),
      stub.getModel("m"),
      stub.deleteModel(ACT, "m"),
      stub.suggestLimit({ model: "m", context_window: 4_096, source: "provider_error" }),
      stub.putCredential(ACT, { name: "c", sealed: { kid: "k", wrapped_key: "w", sealed: "s" } }),
      stub.listCredentials(),
      stub.deleteCredential(ACT, "c"),
      stub.sealedCredentials(),
      stub.replaceSealed(ACT, []),
      stub.exportTenant(),
    ]);
    for (const answer of answers) expect(answer).toMatchObject({ ok: false, error: { code: "tenant_not_found" } });
    expect(await stub.authenticate("h", null)).toBeNull();
    expect(await stub.resolveModel("embedded")).toBeNull();
    expect(await stub.sealedCredential("c")).toBeNull();
    const left = await runInDurableObject(stub, async (_, state) => ({
      tables: state.storage.sql.exec(TABLES).toArray(),
      alarm: await state.storage.getAlarm(),
    }));
    expect(left).toEqual({ tables: [], alarm: null });
  });
});

describe("creating a tenant", () => {
  it("gives it the embedded model and no policy of its own", async () => {
    const { stub } = await givenTenant();
    expect(await stub.settings()).toMatchObject({
      ok: true,
      value: { name: "Ada", default_model: "embedded", default_policy: "" },
    });
  });

  it("twice is refused and changes nothing", async () => {
    const { tenant, stub } = await givenTenant();
    expect(await stub.create(ACT, { tenant, name: "Eve", idempotency: null })).toMatchObject({
      ok: false,
      error: { code: "tenant_exists" },
    });
    expect(await stub.settings()).toMatchObject({ value: { name: "Ada" } });
  });

  it("again with its idempotency key is the first outcome, for a day", async () => {
    const tenant = newId("ten");
    const stub = getStub(tenant);
    const first = { tenant, name: "Ada", idempotency: { key: "k", digest: "d" } };

    expect(await stub.create(ACT, first)).toEqual({ ok: true, value: { replayed: false } });
    expect(await stub.create(ACT, first)).toEqual({ ok: true, value: { replayed: true } });
    expect(await stub.create(ACT, { ...first, name: "Eve", idempotency: { key: "k", digest: "other" } })).toMatchObject({
      error: { code: "idempotency_conflict" },
    });
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + IDEMPOTENCY_TTL_MS);
    expect(await stub.create(ACT, first)).toMatchObject({ error: { code: "tenant_exists" } });
    expect(await stub.settings()).toMatchObject({ value: { name: "Ada" } });
  });

  it("two at once make one", async () => {
    const tenant = newId("ten");
    const stub = getStub(tenant);
    const outcomes = await Promise.all([
      stub.create(ACT, { tenant, name: "one", idempotency: null }),
      stub.create(ACT, { tenant, name: "two", idempotency: null }),
    ]);
    expect(outcomes.map((outcome) => outcome.ok).sort()).toEqual([false, true]);
  });
});

describe("keys", () => {
  it("are never stored, nor any part of their secret", async () => {
    const { tenant, stub } = await givenTenant();
    const { key, hash } = await givenKey(stub, { tenant });
    const stored = await dump(stub);
    expect(stored).toContain(hash);
    expect(stored).not.toContain(key);
    expect(stored).not.toContain(key.split("_")[3]);
  });

  it("of one tenant are unknown to another", async () => {
    const one = await givenTenant();
    const two = await givenTenant();
    const { hash, id } = await givenKey(one.stub, { tenant: one.tenant });
    expect((await one.stub.authenticate(hash, null))?.tenant).toBe(one.tenant);
    expect(await two.stub.authenticate(hash, null)).toBeNull();
    expect(await two.stub.revokeKey(ACT, id, null)).toMatchObject({ ok: false, error: { code: "key_not_found" } });
    expect(await one.stub.authenticate(hash, null)).not.toBeNull();
  });

  it("that have expired are refused", async () => {
    const { tenant, stub } = await givenTenant();
    const past = await givenKey(stub, { tenant, expires_at: Date.now() - 1 });
    const future = await givenKey(stub, { tenant, expires_at: Date.now() + 60_000 });
    expect(await stub.authenticate(past.hash, null)).toBeNull();
    expect((await stub.authenticate(future.hash, null))?.key).toBe(future.id);
  });

  it("that were revoked are refused, also after an eviction", async () => {
    const { tenant, stub } = await givenTenant();
    const { hash, id } = await givenKey(stub, { tenant });
    const first = await stub.revokeKey(ACT, id, null);
    expect(await stub.revokeKey(ACT, id, null)).toEqual(first);
    expect(await stub.authenticate(hash, null)).toBeNull();
    await evictDurableObject(stub);
    expect(await getStub(tenant).authenticate(hash, null)).toBeNull();
  });
});

describe("sessions", () => {
  it("two requests at once with one key make one session", async () => {
    const { stub } = await givenTenant();
    const idempotency = { key: "k", digest: "d" };
    const outcomes = await Promise.all([1, 2, 3].map(() => stub.registerSession({ session: newId("ses"), idempotency })));
    const sessions = outcomes.map((outcome) => (outcome.ok ? outcome.value.session : null));
    expect(new Set(sessions).size).toBe(1);
    expect(outcomes.filter((outcome) => outcome.ok && outcome.value.replayed)).toHaveLength(2);
  });

  it("another body under the same key is a conflict, also after an eviction", async () => {
    const { tenant, stub } = await givenTenant();
    await stub.registerSession({ session: newId("ses"), idempotency: { key: "k", digest: "d" } });
    await evictDurableObject(stub);
    const other = await getStub(tenant).registerSession({ session: newId("ses"), idempotency: { key: "k", digest: "e" } });
    expect(other).toMatchObject({ ok: false, error: { code: "idempotency_conflict" } });
  });
});

describe("models", () => {
  it("the tenant's own goes before the deployment's, and the other tenants see none of it", async () => {
    const one = await givenTenant();
    const two = await givenTenant();
    await one.stub.putModel(ACT, "embedded", model({ provider: "embedded", base_url: null }));
    expect(await one.stub.resolveModel("embedded")).toMatchObject({ context_window: 9_000, source: "tenant" });
    expect(await two.stub.resolveModel("embedded")).toMatchObject({ context_window: 32_000, source: "deployment" });
    await one.stub.deleteModel(ACT, "embedded");
    expect(await one.stub.resolveModel("embedded")).toMatchObject({ context_window: 32_000, source: "deployment" });
  });

  it("a default model that does not exist is refused and changes nothing", async () => {
    const { stub } = await givenTenant();
    const outcome = await stub.changeSettings(ACT, { name: "Eve", default_model: "nope" });
    expect(outcome).toMatchObject({ ok: false, error: { code: "model_not_found", model: "nope" } });
    expect(await stub.settings()).toMatchObject({ value: { name: "Ada", default_model: "embedded" } });
  });

  it("a session's look-up gets plain data over RPC", async () => {
    const { tenant, stub } = await givenTenant();
    await stub.putModel(ACT, "mine", model());
    expect(await getStub(tenant).resolveModel("mine")).toEqual({
      ...model(),
      id: "mine",
      source: "tenant",
      capabilities: { tools: true, images: true, files: true, reasoning: false },
    });
  });
});

describe("a tenant's default model", () => {
  it("is not removed while sessions that name none would get it", async () => {
    const { stub } = await givenTenant();
    await stub.putModel(ACT, "mine", model());
    await stub.changeSettings(ACT, { default_model: "mine" });

    expect(await stub.deleteModel(ACT, "mine")).toEqual({ ok: false, error: { code: "model_is_default", model: "mine" } });
    expect(await stub.resolveModel("mine")).not.toBeNull();

    await stub.changeSettings(ACT, { default_model: "embedded" });
    expect((await stub.deleteModel(ACT, "mine")).ok).toBe(true);
  });

  it("returns to the deployment's default on null, and stays as it is when it is not named", async () => {
    const { stub } = await givenTenant();
    await stub.putModel(ACT, "mine", model());
    await stub.changeSettings(ACT, { default_model: "mine" });

    expect(await stub.changeSettings(ACT, { name: "Eve" })).toMatchObject({ value: { name: "Eve", default_model: "mine" } });
    expect(await stub.changeSettings(ACT, { default_model: null })).toMatchObject({ value: { name: "Eve", default_model: "embedded" } });
    expect(await stub.changeSettings(ACT, { default_policy: null })).toMatchObject({ value: { default_model: "embedded" } });
  });
});

describe("a tenant as a whole", () => {
  it("survives eviction with everything it knew", async () => {
    const { tenant, stub } = await givenTenant();
    const { hash } = await givenKey(stub, { tenant, scopes: ["models:write"] });
    const session = newId("ses");
    await stub.registerSession({ session, idempotency: null });
    await stub.putModel(ACT, "mine", model());
    await stub.changeSettings(ACT, { default_model: "mine" });
    const before = await stub.exportTenant();
    await evictDurableObject(stub);
    const after: TenantApi & TenantMaintenance = getStub(tenant);
    expect(await after.exportTenant()).toEqual(before);
    expect(await after.authenticate(hash, null)).toMatchObject({ tenant, scopes: ["models:write"] });
    expect(await after.listSessions({ after: null, limit: 10 })).toMatchObject({ value: { data: [{ id: session }] } });
  });

  it("is exported with settings, models and keys, but no hash", async () => {
    const { tenant, stub } = await givenTenant();
    const { id, hash } = await givenKey(stub, { tenant });
    const exported = await stub.exportTenant();
    expect(exported).toMatchObject({
      value: { tenant, settings: { name: "Ada" }, models: [{ id: "embedded" }], keys: [{ id, revoked_at: null }] },
    });
    expect(JSON.stringify(exported)).not.toContain(hash);
  });
});

describe("the read model", () => {
  async function readRows(tenant: TenantId) {
    const rows = await env.DB.prepare("SELECT name, default_model FROM tenants WHERE tenant_id = ?").bind(tenant).all();
    return rows.results;
  }

  it("learns of a new tenant and of each change", async () => {
    const { tenant, stub } = await givenTenant();
    await settle(stub);
    expect(await readRows(tenant)).toEqual([{ name: "Ada", default_model: "embedded" }]);
    await stub.putModel(ACT, "mine", model());
    await stub.changeSettings(ACT, { name: "Eve", default_model: "mine" });
    await settle(stub);
    expect(await readRows(tenant)).toEqual([{ name: "Eve", default_model: "mine" }]);
    const models = await env.DB.prepare("SELECT id, context_window_size FROM models WHERE tenant_id = ? ORDER BY id").bind(tenant).all();
    expect(models.results).toEqual([
      { id: "embedded", context_window_size: 32_000 },
      { id: "mine", context_window_size: 9_000 },
    ]);
  });

  it("has what was said of a model, prices per million tokens, and no price of the day", async () => {
    const { tenant, stub } = await givenTenant();
    const prices = { input: 0.000_003, output: 0.000_015, cached: 0.000_000_3, cache_write: 0.000_003_75 };
    const capabilities = { tools: true, images: false, files: false, reasoning: true };
    await stub.putModel(ACT, "mine", model({ prices, capabilities, ratio: 1.2 }));
    await stub.putModel(ACT, "known", { provider: "openai", upstream_id: "gpt-4o", base_url: null });
    await settle(stub);

    const columns =
      "id, provider_id, max_output, capabilities, ratio, price_input, price_output, price_cached, price_cache_write, credential";
    const rows = await env.DB.prepare(`SELECT ${columns} FROM models WHERE tenant_id = ? AND id <> 'embedded' ORDER BY id`)
      .bind(tenant)
      .all();

    expect(rows.results).toMatchObject([
      { id: "known", provider_id: "openai", max_output: 16_384, ratio: null, price_input: null, credential: null },
      {
        id: "mine",
        capabilities: JSON.stringify(capabilities),
        ratio: 1.2,
        price_input: 3,
        price_output: 15,
        price_cached: 0.3,
        price_cache_write: 3.75,
      },
    ]);
    expect(await stub.resolveModel("known")).toMatchObject({ prices: { input: 0.000_002_5 } });
  });

  it("out of order does not stop a change, and the alarm catches up", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => {});
    await env.DB.exec("ALTER TABLE tenants RENAME TO tenants_away");
    const { tenant, stub } = await givenTenant();
    expect(await stub.changeSettings(ACT, { name: "Eve" })).toMatchObject({ ok: true });
    await settle(stub);
    const alarm = await runInDurableObject(stub, (_, state) => state.storage.getAlarm());
    expect(alarm).toBeGreaterThan(Date.now());
    await env.DB.exec("ALTER TABLE tenants_away RENAME TO tenants");
    await settle(stub);
    expect(await readRows(tenant)).toEqual([{ name: "Eve", default_model: "embedded" }]);
    expect(await runInDurableObject(stub, (_, state) => state.storage.getAlarm())).toBeNull();
  });
});
