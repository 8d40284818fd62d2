/** Outbound webhooks from a turn to a receiver over HTTP. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import type { TurnReport } from "../../../src/contract/turn";
import { advanceClock, holdTimers } from "../../workers/clock";
import { migrate, newChat, newTenant, readBody, readStorage } from "../../workers/support";
import { newHook, Receiver, ringTenant, verify } from "../../workers/webhooks";

beforeAll(migrate);

describe("a delivery", () => {
  it("tells the end of a turn, and both official packages verify it", async () => {
    const tenant = await newTenant();
    const hook = await newHook(tenant);
    const chat = await newChat({ tenant });
    const turn = await chat.say("Hello");

    const received = await hook.receiver.received(2);
    const events = await Promise.all(received.map((each) => verify(each, hook.secret)));

    expect(events.map(({ type, data }) => [type, data.id])).toEqual([
      ["session.created", chat.id],
      ["turn.completed", turn.id],
    ]);
    expect(events[1]).toMatchObject({ object: "event", data: { session_id: chat.id, finish: "stop" } });
    expect(events[1]?.id).toBe(received[1]?.headers["webhook-id"]);
    await hook.settled("delivered", "delivered");
  });

  it("that tells the end of a turn has the usage and the cost that the API shows of the turn", async () => {
    const tenant = await newTenant();
    const hook = await newHook(tenant, { events: ["turn.completed"] });
    const chat = await newChat({ tenant });
    const { id } = await chat.say("Hello");

    const { data } = await verify(await hook.receiver.nth(1), hook.secret);
    const { usage, cost } = await readBody<TurnReport>(await chat.call("GET", `/turns/${id}`));
    expect(usage?.input).toBeGreaterThan(0);
    expect(data).toMatchObject({ id, usage, cost });
  });

  it("holds ids and figures, and nothing of what was said", async () => {
    const tenant = await newTenant();
    const hook = await newHook(tenant);
    const chat = await newChat({ tenant, replies: [{ text: "A planted reply" }] });
    await chat.say("A planted question");

    const bodies = await hook.receiver.received(2);

    expect(bodies.map(({ body }) => body).join()).not.toMatch(/planted/);
  });

  it("is signed with the secrets of a rotation while they overlap, and then with the new one alone", async () => {
    const tenant = await newTenant();
    const hook = await newHook(tenant, { events: ["turn.completed"] });
    const before = hook.secret;
    const rotated = await readBody<{ secret: string }>(await tenant.call("POST", `${hook.path}/rotate`, { overlap_seconds: 60 }));
    const chat = await newChat({ tenant });
    await chat.say("Hello");

    const both = await hook.receiver.nth(1);
    await verify(both, before);
    await verify(both, rotated.secret);
    const last = await readBody<{ secret: string }>(await tenant.call("POST", `${hook.path}/rotate`, { overlap_seconds: 0 }));
    await chat.say("Again");
    const one = await hook.receiver.nth(2);

    await verify(one, last.secret);
    await expect(verify(one, rotated.secret)).rejects.toThrow();
  });
});

describe("a receiver", () => {
  it("that fails is tried again under the same event id, and both tries are in the log", async () => {
    const tenant = await newTenant();
    const hook = await newHook(tenant, { events: ["turn.completed"] });
    await hook.receiver.answers({ status: 500, body: "out of order" }, { how: "close" });
    const chat = await newChat({ tenant });
    await chat.say("Hello");
    await hook.receiver.received(1);
    await hook.until(({ attempts }) => attempts === 1);
    advanceClock(6_000);
    await ringTenant(tenant);
    await hook.receiver.received(2);
    await hook.until(({ attempts }) => attempts === 2);
    advanceClock(6 * 60_000);
    await ringTenant(tenant);
    const received = await hook.receiver.received(3);
    await hook.settled("delivered");

    expect(new Set(received.map(({ headers, body }) => `${headers["webhook-id"]} ${body}`)).size).toBe(1);
    for (const each of received.slice(-1)) await verify(each, hook.secret);
    const [delivery] = await hook.deliveries();
    expect(delivery).toMatchObject({
      attempts: 3,
      body: received[0]?.body,
      log: [
        { status: 500, failure: "status", answer: "out of order" },
        { failure: "unreachable", answer: null },
        { status: 200, failure: null },
      ],
    });
  });

  it("that answers 410 is disabled at once, and another endpoint is told of it", async () => {
    const tenant = await newTenant();
    const hook = await newHook(tenant, { events: ["turn.completed"] });
    const other = await newHook(tenant, { events: ["webhook_endpoint.disabled"] });
    await hook.receiver.answers({ status: 410 });
    const chat = await newChat({ tenant });
    await chat.say("Hello");

    await hook.receiver.received(1);
    await hook.settled("failed");
    await ringTenant(tenant);
    const [told] = await other.receiver.bodies(1);

    expect(await hook.describe()).toMatchObject({ status: "disabled", disabled_reason: "gone" });
    expect(told).toMatchObject({ type: "webhook_endpoint.disabled", data: { id: hook.id, reason: "gone" } });
  });

  it("that hangs is given up after 15 seconds, and tried again", async () => {
    const tenant = await newTenant();
    const hook = await newHook(tenant, { events: ["turn.completed"] });
    await hook.receiver.answers({ how: "hang" });
    const chat = await newChat({ tenant });
    const timers = holdTimers(15_000);
    await chat.say("Hello");
    await hook.receiver.received(1);
    await timers.set();
    await runInDurableObject(env.TENANTS.getByName(tenantObjectName(tenant.id)), timers.ring);
    await hook.until(({ last_failure }) => last_failure === "timeout");
    timers.restore();
    advanceClock(6_000);
    await hook.settled("delivered");

    const [first, second] = await hook.receiver.received(2);
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
  });

  it("meets the events of a session in order of seq, the next one when the one before was answered", async () => {
    const tenant = await newTenant();
    const hook = await newHook(tenant);
    await hook.receiver.answers({ gate: "first" });
    const chat = await newChat({ tenant });
    for (let turn = 0; turn < 3; turn++) await chat.say("Hello");
    await hook.until(({ type }) => type === "turn.completed");
    expect(await hook.receiver.received(1)).toHaveLength(1);
    await hook.receiver.open("first");

    const seqs = (await hook.receiver.bodies(4)).map(({ data }) => Number(data.seq));
    expect(seqs).toEqual(seqs.toSorted((one, other) => one - other));
  });

  it("that redirects is not followed", async () => {
    const tenant = await newTenant();
    const target = new Receiver();
    const hook = await newHook(tenant, { events: ["turn.completed"] });
    await hook.receiver.answers({ status: 307, location: target.url });
    const chat = await newChat({ tenant });
    await chat.say("Hello");

    await hook.receiver.received(1);
    const [redirected] = await hook.settled("pending");

    expect(redirected).toMatchObject({ last_status: 307, last_failure: "status" });
    expect(await target.received()).toEqual([]);
  });
});

describe("an endpoint", () => {
  it("is changed only as it was read, and its secret is in no answer but the first, nor in the object", async () => {
    const tenant = await newTenant();
    const hook = await newHook(tenant, { metadata: { team: "desk" } });
    const read = await tenant.call("GET", hook.path);
    const etag = read.headers.get("etag") ?? "";
    const changed = await tenant.call("PATCH", hook.path, { description: "The help desk" }, { "if-match": etag });

    expect((await tenant.call("PATCH", hook.path, { description: "x" }, { "if-match": etag })).status).toBe(412);
    expect(await readBody(changed)).toMatchObject({ description: "The help desk", metadata: { team: "desk" }, events: null });
    const said = JSON.stringify([await hook.describe(), await (await tenant.call("GET", "/v1/webhook_endpoints")).json()]);
    const stored = await readStorage(env.TENANTS.getByName(tenantObjectName(tenant.id)));
    expect(said + stored).not.toContain(hook.secret);
    expect(said + stored).not.toContain(hook.secret.slice("whsec_".length));
  });

  it("is made once by a request that is repeated, and the repetition has no secret", async () => {
    const tenant = await newTenant();
    const settings = { url: "http://127.0.0.1:9/hooks" };
    const make = () => tenant.call("POST", "/v1/webhook_endpoints", settings, { "idempotency-key": "once" });
    const first = await readBody<{ id: string; secret: string }>(await make(), 201);
    const again = await readBody<{ id: string; secret: null }>(await make(), 201);

    expect([again.id, again.secret]).toEqual([first.id, null]);
  });

  it.each([
    ["url", { url: "ftp://example.com" }],
    ["events.0", { url: "https://example.com", events: ["turn.done"] }],
    ["events", { url: "https://example.com", events: [] }],
    ["colour", { url: "https://example.com", colour: "red" }],
  ])("is refused for its %s", async (field, settings) => {
    const tenant = await newTenant();
    const refused = await readBody<{ errors: readonly { field: string }[] }>(
      await tenant.call("POST", "/v1/webhook_endpoints", settings),
      400,
    );

    expect(refused.errors.map((each) => each.field)).toEqual([field]);
  });

  it("that is deleted is gone with its log, and is sent nothing more", async () => {
    const tenant = await newTenant();
    const hook = await newHook(tenant);
    const chat = await newChat({ tenant });
    await hook.settled("delivered");
    expect((await tenant.call("DELETE", hook.path)).status).toBe(204);
    const other = await newHook(tenant, { events: ["turn.completed"] });
    await chat.say("Hello");
    await other.receiver.received(1);

    for (const path of [hook.path, `${hook.path}/deliveries`]) expect((await tenant.call("GET", path)).status).toBe(404);
    expect(await hook.receiver.received()).toHaveLength(1);
  });

  it("is one of at most 20", async () => {
    const tenant = await newTenant();
    for (let n = 0; n < 20; n++) await newHook(tenant);

    const refused = await tenant.call("POST", "/v1/webhook_endpoints", { url: "https://example.com" });
    expect(await readBody(refused, 409)).toMatchObject({ type: "urn:longhand:problem:webhook_endpoint_limit", limit: 20 });
  });

  it("is tested by an event of its own, which is signed and tried once", async () => {
    const tenant = await newTenant();
    const hook = await newHook(tenant, { events: ["turn.completed"] });
    await hook.receiver.answers({ status: 500 });
    await readBody(await tenant.call("POST", `${hook.path}/test`), 202);

    const event = await verify(await hook.receiver.nth(1), hook.secret);
    expect(event).toMatchObject({ type: "webhook.test", data: { id: hook.id } });
    await hook.settled("failed");
  });

  it("that is disabled gets nothing, no test and no replay, and hears of what follows once it is enabled", async () => {
    const tenant = await newTenant();
    const hook = await newHook(tenant, { events: ["turn.completed"] });
    const chat = await newChat({ tenant });
    await readBody(await tenant.call("PATCH", hook.path, { enabled: false }));
    await chat.say("unheard");
    const refusals = [
      await tenant.call("POST", `${hook.path}/test`),
      await tenant.call("POST", `${hook.path}/replay`, { since: 0 }),
      await tenant.call("POST", `${hook.path}/deliveries/dlv_01JD8Z3V6Q4N7R2T5W9X0Y1ABC/replay`),
    ];
    for (const refused of refusals)
      expect(await readBody(refused, 409)).toMatchObject({ type: "urn:longhand:problem:webhook_endpoint_disabled" });
    await readBody(await tenant.call("PATCH", hook.path, { enabled: true }));
    const heard = await chat.say("heard");

    expect((await hook.receiver.bodies(1)).map(({ data }) => data.id)).toContain(heard.id);
  });

  it("has what failed sent again, and what was delivered too, under the same event id", async () => {
    const tenant = await newTenant();
    const hook = await newHook(tenant, { events: ["turn.completed"] });
    await hook.receiver.answers({ status: 410 });
    const chat = await newChat({ tenant });
    await chat.say("Hello");
    await hook.settled("failed");
    await readBody(await tenant.call("PATCH", hook.path, { enabled: true }));

    expect(await readBody(await tenant.call("POST", `${hook.path}/replay`, { since: 0 }), 202)).toEqual({ replayed: 1, has_more: false });
    const [delivered] = await hook.settled("delivered");
    await readBody(await tenant.call("POST", `${hook.path}/deliveries/${delivered?.id}/replay`), 202);
    const received = await hook.receiver.received(3);

    expect(new Set(received.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([delivered?.event_id]));
    const none = await tenant.call("GET", `${hook.path}/deliveries/dlv_01JD8Z3V6Q4N7R2T5W9X0Y1ABC`);
    expect(await readBody(none, 404)).toMatchObject({ type: "urn:longhand:problem:webhook_delivery_not_found" });
    const again = await tenant.call("POST", `${hook.path}/deliveries/dlv_01JD8Z3V6Q4N7R2T5W9X0Y1ABC/replay`);
    expect((await readBody<{ type: string }>(again, 404)).type).toBe("urn:longhand:problem:webhook_delivery_not_found");
  });
});

describe("an erased session", () => {
  it("leaves no delivery with it, and is announced by its erasure alone", async () => {
    const tenant = await newTenant();
    const hook = await newHook(tenant);
    const chat = await newChat({ tenant });
    await chat.say("Hello");
    await hook.settled("delivered", "delivered");
    await readBody(await chat.call("DELETE", ""));
    await ringTenant(tenant);
    await hook.until(({ state, type }) => state === "delivered" && type === "session.erased");

    const left = await hook.deliveries();
    expect(left.map(({ type }) => type)).toEqual(["session.erased", "erasure.completed"]);
    expect(left.map(({ session_id }) => session_id)).toEqual([null, null]);
  });
});
