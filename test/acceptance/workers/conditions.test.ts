/** Conditional requests, end to end: the etag that an answer has is the one that the object compares. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../../src/app/new-id";
import { tenantObjectName } from "../../../src/app/object-name";
import type { SessionDescription } from "../../../src/contract/session";
import { ACT } from "../../support/act";
import { migrate, newChat, newTenant, readBody, type Tenant } from "../../workers/support";

beforeAll(migrate);

const tool = (description: string) => ({
  description,
  parameters: { type: "object", properties: {} },
  url: "https://api.example.com/weather",
});
const model = (max_output: number) => ({ provider: "openai", upstream_id: "gpt-4o", max_output });

interface Resource {
  readonly path: string;
  readonly method: "PUT" | "PATCH";
  /** Two bodies that leave the resource in different states. */
  readonly bodies: readonly [object, object];
}

async function givenSession(tenant: Tenant): Promise<Resource> {
  const session = await readBody<SessionDescription>(await tenant.call("POST", "/v1/sessions", { title: "Before" }), 201);
  return { path: `/v1/sessions/${session.id}`, method: "PATCH", bodies: [{ title: "One" }, { title: "Two" }] };
}

const resources: readonly (readonly [string, (tenant: Tenant) => Promise<Resource>])[] = [
  ["a tool", async () => ({ path: "/v1/tools/weather", method: "PUT", bodies: [tool("one"), tool("two")] })],
  ["a model", async () => ({ path: "/v1/models/mine", method: "PUT", bodies: [model(1_000), model(2_000)] })],
  ["the tenant", async () => ({ path: "/v1/tenant", method: "PATCH", bodies: [{ name: "One" }, { name: "Two" }] })],
  ["a session", givenSession],
];

const readEtag = (response: Response): string => response.headers.get("etag") ?? "none";

describe.each(resources)("%s", (_, given) => {
  it("is changed under the etag that was read, and by one of two at once", async () => {
    const tenant = await newTenant();
    const { path, method, bodies } = await given(tenant);
    const [one, two] = bodies;
    const first = await tenant.call(method, path, one);
    const read = await tenant.call("GET", path);
    expect([first.status, readEtag(read)]).toEqual([200, readEtag(first)]);
    const condition = { "If-Match": readEtag(read) };

    const both = await Promise.all([tenant.call(method, path, two, condition), tenant.call(method, path, two, condition)]);

    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
    const now = readEtag(await tenant.call("GET", path));
    expect(both.map(readEtag)).toEqual([now, now]);
    expect(now).not.toBe(readEtag(read));
  });

  it("stays as it is under an older etag", async () => {
    const tenant = await newTenant();
    const { path, method, bodies } = await given(tenant);
    const old = readEtag(await tenant.call(method, path, bodies[0]));
    await tenant.call(method, path, bodies[1]);
    const before = await (await tenant.call("GET", path)).json();

    const refused = await tenant.call(method, path, bodies[0], { "If-Match": old });

    expect(refused.status).toBe(412);
    expect(await refused.json()).toMatchObject({ type: "urn:longhand:problem:precondition_failed" });
    expect(await (await tenant.call("GET", path)).json()).toEqual(before);
  });
});

describe.each(resources.slice(0, 2))("%s", (_, given) => {
  it("is created once with If-None-Match: *, and never with If-Match", async () => {
    const tenant = await newTenant();
    const { path, method, bodies } = await given(tenant);

    expect((await tenant.call(method, path, bodies[0], { "If-Match": "*" })).status).toBe(412);
    const both = await Promise.all(bodies.map((body) => tenant.call(method, path, body, { "If-None-Match": "*" })));

    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  });

  it("is removed under its etag alone; one that is not there is unknown", async () => {
    const tenant = await newTenant();
    const { path, method, bodies } = await given(tenant);
    const old = readEtag(await tenant.call(method, path, bodies[0]));
    const now = readEtag(await tenant.call(method, path, bodies[1]));

    expect((await tenant.call("DELETE", path, undefined, { "If-Match": old })).status).toBe(412);
    expect((await tenant.call("DELETE", path, undefined, { "If-Match": now })).ok).toBe(true);
    expect((await tenant.call("DELETE", path, undefined, { "If-Match": now })).status).toBe(404);
  });
});

describe("an MCP server", () => {
  const server = { url: "https://mcp.example.com", secret_header: null, timeout_ms: 1_000, needs_approval: false, allowed_tools: null };
  const listing = { tools: [], skipped: [], truncated: false };
  const never = { match: ['"never"'], none_match: null } as const;

  it("is compared in the tenant's object, and shown with the etag that counts there", async () => {
    const tenant = await newTenant();
    const stub = env.TENANTS.getByName(tenantObjectName(tenant.id));
    await stub.putMcpServer(ACT, { name: "github", server, listing });
    const etag = readEtag(await tenant.call("GET", "/v1/mcp_servers/github"));
    const condition = { match: [etag], none_match: null };

    expect(await stub.putMcpServer(ACT, { name: "github", server, listing, condition: never })).toMatchObject({
      error: { code: "precondition_failed", etag },
    });
    expect(await stub.deleteMcpServer(ACT, "github", never)).toMatchObject({ error: { code: "precondition_failed", etag } });
    expect((await stub.putMcpServer(ACT, { name: "github", server: { ...server, timeout_ms: 2_000 }, listing, condition })).ok).toBe(true);
    expect((await tenant.call("DELETE", "/v1/mcp_servers/github", undefined, { "If-Match": etag })).status).toBe(412);
    expect(readEtag(await tenant.call("GET", "/v1/mcp_servers/github"))).not.toBe(etag);
  });
});

describe("erasing a session under a condition", () => {
  const receipt = { stores: Array.from({ length: 6 }, () => ({ status: "erased" })) };

  it("is refused once its settings have changed, and then nothing is erased, hidden or renamed", async () => {
    const tenant = await newTenant();
    const named = await tenant.call("PUT", "/v1/sessions/by-external-id/ticket-1", { title: "Before" });
    const { id, etag } = await readBody<SessionDescription>(named, 201);
    const path = `/v1/sessions/${id}`;
    await readBody(await tenant.call("POST", `${path}/messages/batch`, { items: [{ role: "user", content: "To the sea?" }] }), 201);
    const changed = await tenant.call("PATCH", path, { title: "Holidays" });
    const readAll = async () =>
      Promise.all(
        [path, `${path}/messages`, `${path}/events`, "/v1/sessions/by-external-id/ticket-1"].map(async (each) => {
          const read = await tenant.call("GET", each);
          return [read.status, await read.json()];
        }),
      );
    const before = await readAll();

    for (const headers of [{ "If-Match": etag }, { "If-Match": `W/${readEtag(changed)}` }, { "If-None-Match": readEtag(changed) }]) {
      const refused = await tenant.call("DELETE", path, undefined, headers);
      expect([headers, refused.status, readEtag(refused)]).toEqual([headers, 412, readEtag(changed)]);
    }

    expect(await readAll()).toEqual(before);
    const stub = env.TENANTS.getByName(tenantObjectName(tenant.id));
    expect(await runInDurableObject(stub, (_, { storage }) => storage.sql.exec("SELECT * FROM erasures").toArray())).toEqual([]);
    expect((await tenant.call("DELETE", path, undefined, { "If-Match": readEtag(changed) })).status).toBe(200);
    expect((await tenant.call("GET", "/v1/sessions/by-external-id/ticket-1")).status).toBe(404);
  });

  it("is made under the etag that was read, though messages came since, and a repeated request gets the receipt again", async () => {
    const chat = await newChat({});
    const condition = { "If-Match": readEtag(await chat.call("GET")) };
    await chat.model.says({ text: "To the sea." });
    await chat.say("Where shall we go?");

    const first = await readBody<{ erased_at: number }>(await chat.call("DELETE", "", undefined, condition));
    expect(first).toMatchObject(receipt);
    expect((await chat.call("GET")).status).toBe(404);
    expect(await readBody(await chat.call("DELETE", "", undefined, condition))).toMatchObject({ ...receipt, erased_at: first.erased_at });
  });

  it("meets a change at once: either the change is refused, or the erasure", async () => {
    const chat = await newChat({});
    const condition = { "If-Match": readEtag(await chat.call("GET")) };

    const [changed, erased] = await Promise.all([
      chat.call("PATCH", "", { title: "One" }, condition),
      chat.call("DELETE", "", undefined, condition),
    ]);

    expect([
      [200, 412],
      [404, 200],
    ]).toContainEqual([changed.status, erased.status]);
    expect((await chat.call("GET")).status).toBe(erased.status === 200 ? 404 : 200);
  });

  it("of an id that was never given out is a 404", async () => {
    const chat = await newChat({});
    expect((await chat.tenant.call("DELETE", `/v1/sessions/${newId("ses")}`, undefined, { "If-Match": "*" })).status).toBe(404);
  });
});

describe("the etag of a session", () => {
  it("is in the session and in the header, and stays when messages come", async () => {
    const chat = await newChat({});
    await chat.call("PATCH", "", { title: "Holidays" });
    const before = await chat.call("GET");
    await chat.model.says({ text: "To the sea." });
    await chat.say("Where shall we go?");
    const after = await chat.call("GET");

    expect(readEtag(after)).toBe(readEtag(before));
    expect((await readBody<SessionDescription>(after)).etag).toBe(readEtag(before));
  });

  it("belongs to the new session of a fork as well", async () => {
    const chat = await newChat({});
    const forked = await chat.call("POST", "/fork", {});
    const { id, etag } = await readBody<SessionDescription>(forked, 201);

    expect([readEtag(forked), readEtag(await chat.tenant.call("GET", `/v1/sessions/${id}`))]).toEqual([etag, etag]);
  });
});
