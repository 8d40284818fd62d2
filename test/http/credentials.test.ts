import { describe, expect, it } from "vitest";
import type { SealedCredential, TenantApi } from "../../src/app/tenant-api";
import { err, ok } from "../../src/lib/result";
import { createCredentialSealer } from "../../src/tenant/credentials/credential-sealer";
import { ADMIN_KEY, FOREIGN_TENANT, NOW, readProblem, world } from "./support";

const SECRET = "sk-proj-this-is-the-key";
const sealer = createCredentialSealer([{ kid: "k1", bytes: new Uint8Array(32).fill(1) }]);

describe("a credential", () => {
  it("is sealed before it leaves the Worker, and is not in the answer", async () => {
    const seen: { readonly name: string; readonly sealed: SealedCredential }[] = [];
    const putCredential: TenantApi["putCredential"] = async (_, input) => {
      seen.push(input);
      return ok({ name: input.name, key_id: input.sealed.kid, created_at: NOW, updated_at: NOW, models: [] });
    };
    const { call, log } = world({ tenant: { putCredential }, deps: { sealer } });

    const response = await call("PUT", "/v1/credentials/openai", { body: { api_key: SECRET } });
    const text = await response.text();

    expect([response.status, JSON.parse(text)]).toEqual([
      200,
      { name: "openai", key_id: "k1", created_at: NOW, updated_at: NOW, models: [] },
    ]);
    expect(seen).toMatchObject([{ name: "openai", sealed: { kid: "k1" } }]);
    for (const written of [text, JSON.stringify(seen), JSON.stringify(log)]) expect(written).not.toContain(SECRET);
  });

  it("is not stored if the deployment has no master key, and the response says so", async () => {
    const { call, asked } = world({ deps: { sealer: null } });

    const response = await call("PUT", "/v1/credentials/openai", { body: { api_key: SECRET } });

    expect(response.status).toBe(501);
    expect(await readProblem(response)).toMatchObject({
      type: "urn:longhand:problem:credentials_disabled",
      detail: expect.stringContaining("CREDENTIALS_KEYS"),
    });
    expect(asked.tenants).toEqual([]);
  });

  it.each<[string, string, unknown, string]>([
    ["a key with a space", "openai", { api_key: `${SECRET} x` }, "api_key"],
    ["a key with a line break", "openai", { api_key: `${SECRET}\nx` }, "api_key"],
    ["no key", "openai", {}, "api_key"],
    ["an empty key", "openai", { api_key: "" }, "api_key"],
    ["a key that is too long", "openai", { api_key: SECRET.repeat(300) }, "api_key"],
    ["a key that is no text", "openai", { api_key: { value: SECRET } }, "api_key"],
    ["a body that is not JSON", "openai", `{"api_key": "${SECRET}`, "body"],
    ["an odd name", "a%20b", { api_key: SECRET }, "credential_name"],
  ])("is refused for %s, and not quoted", async (_, name, body, field) => {
    const { call, log, asked } = world({ deps: { sealer } });

    const response = await call("PUT", `/v1/credentials/${name}`, { body });
    const problem = await readProblem(response);

    expect([response.status, problem.errors?.map((error) => error.field)]).toEqual([400, [field]]);
    expect(JSON.stringify([problem, log])).not.toContain(SECRET);
    expect(asked.tenants).toEqual([]);
  });

  it("is listed by name, with the models that use it", async () => {
    const shown = { name: "openai", key_id: "k1", created_at: 1, updated_at: 2, models: ["gpt-4o"] };
    const { call } = world({ tenant: { listCredentials: async () => ok([shown]) } });

    expect(await (await call("GET", "/v1/credentials")).json()).toEqual({ data: [shown], has_more: false, next_cursor: null });
  });

  it("is removed, and is then unknown", async () => {
    expect((await world({ tenant: { deleteCredential: async () => ok(null) } }).call("DELETE", "/v1/credentials/openai")).status).toBe(204);
    expect((await world().call("DELETE", "/v1/credentials/openai")).status).toBe(404);
  });

  it("more than a tenant can have is refused", async () => {
    const putCredential = async () => err({ code: "credential_limit", limit: 50 } as const);
    const response = await world({ tenant: { putCredential } }).call("PUT", "/v1/credentials/x", { body: { api_key: SECRET } });

    expect([response.status, await readProblem(response)]).toMatchObject([409, { limit: 50 }]);
  });
});

describe("the rotation of a tenant's credentials", () => {
  const path = `/v1/admin/tenants/${FOREIGN_TENANT}/credentials/rotate`;

  it("reports counts and names, and no credential", async () => {
    const sealed = { kid: "k0", wrapped_key: "w", sealed: "s" };
    const { call, asked } = world({ tenant: { sealedCredentials: async () => ok([{ name: "openai", sealed }]) } });

    const report = await (await call("POST", path, { key: ADMIN_KEY })).json();

    expect(report).toEqual({ key_id: "k1", total: 1, current: 0, resealed: 1, changed: 0, unreadable: [] });
    expect(new Set(asked.tenants)).toEqual(new Set([FOREIGN_TENANT]));
  });

  it("needs a key to seal with", async () => {
    expect((await world({ deps: { sealer: null } }).call("POST", path, { key: ADMIN_KEY })).status).toBe(501);
  });
});
