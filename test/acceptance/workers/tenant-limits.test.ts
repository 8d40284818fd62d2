/** Limits of sessions, files and model calls through the running Worker, and the list of limits. */
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import type { LimitUse } from "../../../src/contract/limit-use";
import { type LimitSet, NO_LIMITS } from "../../../src/contract/limits";
import { advanceClock } from "../../workers/clock";
import { deliver, holdQueue, talk, words } from "../../workers/conversation";
import { migrate, newChat, newTenant, readBody, request, Tenant } from "../../workers/support";

beforeAll(migrate);

let revision = 0;

function limit({ id }: Tenant, limits: Partial<LimitSet>) {
  revision += 1;
  return env.TENANTS.getByName(tenantObjectName(id)).setLimits({ limits: { ...NO_LIMITS, ...limits }, revision });
}

async function newLimited(limits: Partial<LimitSet>): Promise<Tenant> {
  const tenant = await newTenant();
  await limit(tenant, limits);
  return tenant;
}

/** At the begin of a minute, so that no test is at the end of one. */
const startMinute = () => advanceClock(60_000 - (Date.now() % 60_000));
const readType = async (response: Response): Promise<string> => (await readBody<{ type: string }>(response, response.status)).type;

describe("a limit of sessions", () => {
  it("refuses one more, by whatever request it would be made, and one that was erased makes room", async () => {
    const tenant = await newLimited({ tenant: { sessions: 1 } });
    const { id } = await readBody<{ id: string }>(await tenant.call("POST", "/v1/sessions", {}), 201);

    const refused = [
      await tenant.call("POST", "/v1/sessions", {}),
      await tenant.call("PUT", "/v1/sessions/by-external-id/order-1", {}),
      await tenant.call("POST", `/v1/sessions/${id}/fork`, {}),
    ];

    expect(refused.map(({ status }) => status)).toEqual([409, 409, 409]);
    expect(await Promise.all(refused.map(readType))).toEqual(refused.map(() => "urn:longhand:problem:session_limit"));
    await readBody(await tenant.call("DELETE", `/v1/sessions/${id}`));
    expect((await tenant.call("POST", "/v1/sessions", {})).status).toBe(201);
  });

  it("lets exactly as many be made, of many at once", async () => {
    const tenant = await newLimited({ tenant: { sessions: 5 } });

    const answers = await Promise.all(Array.from({ length: 20 }, () => tenant.call("POST", "/v1/sessions", {})));

    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
  });
});

describe("limits of files", () => {
  const upload = (tenant: Tenant, text: string) => tenant.call("POST", "/v1/files", new TextEncoder().encode(text));

  it("are the smaller of the tenant's own and those of all tenants", async () => {
    const tenant = await newLimited({ tenant: { files: 1, stored_bytes: 10 } });

    const large = await upload(tenant, "More than ten bytes");
    await readBody(await upload(tenant, "Ten bytes."), 201);
    const second = await upload(tenant, "");

    expect(await readBody(large, 409)).toMatchObject({ limit: 10 });
    expect(second.status).not.toBe(201);
  });
});

describe("a limit of model calls a minute", () => {
  it("is not exceeded: the turn waits for the next minute as for a provider that limits it", async () => {
    startMinute();
    // The rest of the minute is within the turn's patience.
    advanceClock(10_000);
    const tenant = await newTenant();
    const chat = await newChat({ tenant, replies: [{ text: "one" }] });
    await limit(tenant, { tenant: { model_calls_per_minute: 0 } });

    const frames = await chat.hear("hello");
    const waiting = await frames.until("turn.waiting");
    await readBody(await chat.call("POST", "/stop", {}));

    expect(waiting).toMatchObject({ reason: "rate_limit" });
    expect(waiting.wait_ms).toBeGreaterThan(1_000);
    expect(await chat.model.heard()).toEqual([]);
  });

  it("lets the calls within it pass", async () => {
    startMinute();
    const tenant = await newTenant();
    const chat = await newChat({ tenant, replies: [{ text: "one" }] });
    await limit(tenant, { tenant: { model_calls_per_minute: 5 } });

    expect((await chat.say("hello")).status).toBe("completed");
    const { data } = await readBody<{ data: LimitUse[] }>(await tenant.call("GET", "/v1/limits"));
    expect(data[0]).toMatchObject({ limit: "model_calls_per_minute", max: 5, of: "tenant" });
    expect(data[0]?.used).toBeGreaterThanOrEqual(1);
  });
});

describe("a compaction by hand that a worker of the queue makes", () => {
  afterEach(() => vi.restoreAllMocks());

  it("counts for the key that asked for it and for the end user whom the session has then, and not before it is made", async () => {
    startMinute();
    const tenant = await newTenant();
    const chat = await newChat({ tenant, window: 4_096, maxOutput: 100, summaries: [{ text: words(60, "SUMMARY") }] });
    await limit(tenant, { key: { model_calls_per_minute: 1_000 }, end_user: { model_calls_per_minute: 1_000 } });
    await readBody(await chat.call("PATCH", "", { end_user: "ada" }));
    await talk(chat, 1, 2);
    await readBody(await chat.call("PATCH", "", { end_user: "bob" }));
    const { token } = await readBody<{ token: string }>(await tenant.call("POST", "/v1/tokens", { end_user: "bob" }), 201);
    const made = await request("POST", `/v1/admin/tenants/${tenant.id}/keys`, { key: env.ADMIN_KEY, body: { name: "another" } });
    const other = new Tenant(tenant.id, (await readBody<{ key: string }>(made, 201)).key);
    const readUsed = async () => {
      const ofKey = await readBody<{ data: LimitUse[] }>(await other.call("GET", "/v1/limits"));
      const ofUser = await readBody<{ data: LimitUse[] }>(await request("GET", "/v1/limits", { key: token }));
      const find = (data: readonly LimitUse[], of: string) => data.find((each) => each.of === of)?.used;
      return { key: find(ofKey.data, "key"), user: find(ofUser.data, "end_user") };
    };
    const queue = holdQueue();
    await readBody(await other.call("POST", `/v1/sessions/${chat.id}/compactions`, { keep_recent: 100 }), 202);
    const job = await queue.next();
    expect(await readUsed()).toEqual({ key: 0, user: 0 });

    await deliver(job);

    expect((await chat.model.heard()).filter(({ kind }) => kind === "compaction")).toHaveLength(1);
    const { key, user } = await readUsed();
    expect(key).toBeGreaterThanOrEqual(1);
    expect(user).toBeGreaterThanOrEqual(1);
  });
});

describe("the list of limits", () => {
  it("has what applies to the caller, with what is used of it", async () => {
    startMinute();
    const tenant = await newLimited({ tenant: { sessions: 5, requests_per_minute: 100, files: null }, key: { concurrent_turns: 3 } });
    await readBody(await tenant.call("POST", "/v1/sessions", {}), 201);

    const { data } = await readBody<{ data: LimitUse[] }>(await tenant.call("GET", "/v1/limits"));

    expect(data.map(({ of, limit: name, max }) => [of, name, max])).toEqual([
      ["tenant", "sessions", 5],
      ["tenant", "requests_per_minute", 100],
      ["key", "concurrent_turns", 3],
    ]);
    expect(data[0]).toMatchObject({ used: 1, resets_at: null });
    expect(data[1]?.used).toBeGreaterThanOrEqual(2);
    expect(data[1]?.resets_at).toBeGreaterThan(Date.now());
    expect(data[2]?.used).toBe(0);
  });

  it("is empty for a tenant without limits", async () => {
    expect(await readBody(await (await newTenant()).call("GET", "/v1/limits"))).toEqual({ data: [] });
  });
});
