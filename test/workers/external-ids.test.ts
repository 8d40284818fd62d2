import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { tenantObjectName } from "../../src/app/object-name";
import type { SessionDescription } from "../../src/contract/session";
import { migrate, newId, newTenant, readBody, type Tenant } from "./support";

beforeAll(migrate);

const toPath = (name: string): string => `/v1/sessions/by-external-id/${encodeURIComponent(name)}`;
const put = (tenant: Tenant, name: string, body: unknown = {}) => tenant.call("PUT", toPath(name), body);
const read = (response: Response, status: number) => readBody<SessionDescription>(response, status);

describe("PUT by external id", () => {
  it("ten at once make one session: one creates it, the others get it", async () => {
    const tenant = await newTenant();

    const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => put(tenant, "会话/1", { title: `t${index}` })));

    expect(answers.map(({ status }) => status).sort()).toEqual([...Array<number>(9).fill(200), 201]);
    const sessions = await Promise.all(answers.map((answer) => answer.json<SessionDescription>()));
    expect(new Set(sessions.map(({ id, title }) => `${id} ${title}`)).size).toBe(1);
    expect(sessions[0]).toMatchObject({ external_id: "会话/1" });
  });

  it("and POST at once make one session, and POST is refused or creates it", async () => {
    const tenant = await newTenant();
    const post = () => tenant.call("POST", "/v1/sessions", { external_id: "x" });

    const answers = await Promise.all([post(), put(tenant, "x"), post(), put(tenant, "x"), post()]);

    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.every(({ status }) => [200, 201, 409].includes(status))).toBe(true);
    const ids = await Promise.all(answers.map((answer) => answer.json<{ id?: string; session_id?: string }>()));
    expect(new Set(ids.map(({ id, session_id }) => id ?? session_id)).size).toBe(1);
  });

  it("opens the session of a request that died between the directory and the session", async () => {
    const tenant = await newTenant();
    const session = newId("ses");
    const stub = env.TENANTS.getByName(tenantObjectName(tenant.id));
    await stub.registerSession({ session, idempotency: null, external_id: "half" });

    expect((await tenant.call("GET", toPath("half"))).status).toBe(404);
    expect(await read(await put(tenant, "half", { title: "whole" }), 201)).toMatchObject({ id: session, title: "whole" });
    expect(await read(await tenant.call("GET", toPath("half")), 200)).toMatchObject({ id: session });
  });

  it("a refused session leaves its id free for the next request", async () => {
    const tenant = await newTenant();
    const body = { external_id: "x", model: "no-such-model" };
    expect((await tenant.call("POST", "/v1/sessions", body)).status).toBe(400);
    expect((await put(tenant, "x", { model: "no-such-model" })).status).toBe(400);

    await read(await tenant.call("POST", "/v1/sessions", { ...body, model: undefined }), 201);
  });
});

it("an erased session frees its external id, and its new holder is another session", async () => {
  const tenant = await newTenant();
  const first = await read(await put(tenant, "x"), 201);
  expect((await tenant.call("DELETE", `/v1/sessions/${first.id}`)).status).toBe(200);

  expect((await tenant.call("GET", toPath("x"))).status).toBe(404);
  const second = await read(await put(tenant, "x"), 201);
  expect(second.id).not.toBe(first.id);
});

it("an external id and an end user stay with their tenant", async () => {
  const [one, other] = [await newTenant(), await newTenant()];
  const mine = await read(await put(one, "x"), 201);
  const theirs = await read(await put(other, "x"), 201);

  expect(mine.id).not.toBe(theirs.id);
  expect((await other.call("GET", `/v1/sessions/${mine.id}`)).status).toBe(404);
});

it("an end user is changed and cleared, a fork keeps it, and no fork has its source's external id", async () => {
  const tenant = await newTenant();
  const { id } = await read(await put(tenant, "x", { end_user: "ann", metadata: { a: "b" } }), 201);
  const change = async (end_user: string | null) => read(await tenant.call("PATCH", `/v1/sessions/${id}`, { end_user }), 200);

  expect(await change("安娜")).toMatchObject({ end_user: "安娜", external_id: "x", metadata: { a: "b" } });
  const fork = await read(await tenant.call("POST", `/v1/sessions/${id}/fork`, {}), 201);
  expect(fork).toMatchObject({ end_user: "安娜", external_id: null, metadata: { a: "b" } });
  expect(await change(null)).toMatchObject({ end_user: null });
});
