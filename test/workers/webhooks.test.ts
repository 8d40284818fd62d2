/** Outbound webhooks from a turn to a receiver over HTTP. */
import { beforeAll, describe, expect, it } from "vitest";
import { migrate, newChat, newTenant, readBody } from "./support";
import { newHook, Receiver, ringTenant, verify } from "./webhooks";

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
  it("that fails is tried again under the same event id", async () => {
    const tenant = await newTenant();
    const hook = await newHook(tenant, { events: ["turn.completed"] });
    await hook.receiver.answers({ status: 500, body: "out of order" });
    const chat = await newChat({ tenant });
    await chat.say("Hello");

    await hook.receiver.received(1);
    const [failed] = await hook.settled("pending");
    expect(failed).toMatchObject({ attempts: 1, last_status: 500, log: [{ failure: "status", answer: "out of order" }] });
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
