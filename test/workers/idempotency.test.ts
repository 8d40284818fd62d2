import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { Accepted } from "../../src/contract/item";
import type { Page } from "../../src/contract/page";
import type { SessionDescription } from "../../src/contract/session";
import type { TurnReport } from "../../src/contract/turn";
import { advanceClock } from "./clock";
import { migrate, newChat, newTenant, readBody, request, told } from "./support";

beforeAll(migrate);

const key = { "idempotency-key": "k-1" };

describe("one idempotency key on a message", () => {
  it("twice is one turn, and the second answer is the first one's", async () => {
    const chat = await newChat({ replies: [{ text: "one" }, { text: "two" }] });

    const first = await readBody<TurnReport>(await chat.send("hello", {}, key));
    const again = await chat.send("hello", {}, key);

    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect((await readBody<TurnReport>(again)).items).toEqual(first.items);
    expect(told(await chat.items())).toEqual(["user: hello", "assistant: one"]);
    expect(await chat.model.heard()).toHaveLength(1);
  });

  it("twice at once is one turn", async () => {
    const chat = await newChat();

    const answers = await Promise.all([1, 2, 3].map(async () => readBody<TurnReport>(await chat.send("hello", {}, key))));

    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(told(await chat.items())).toEqual(["user: hello", "assistant: ok"]);
  });

  it("again while the turn runs attaches to it and sees the whole stream", async () => {
    const chat = await newChat({ replies: [{ deltas: ["Once upon ", { gate: "go" }, "a time."] }] });
    const first = await chat.hear("tell me", {}, key);
    await first.until("text.delta");

    const second = await chat.hear("tell me", {}, key);
    await second.until("text.delta");
    await chat.model.open("go");
    await Promise.all([first.rest(), second.rest()]);

    expect(second.seen).toEqual(first.seen);
    expect(second.seen.at(-1)?.type).toBe("turn.completed");
    expect(await chat.model.heard()).toHaveLength(1);
  });

  it("again after the turn gives the same stream once more, also after an eviction", async () => {
    const chat = await newChat({ replies: [{ text: "Once upon a time there was a log." }] });
    const first = await chat.hear("tell me", {}, key);
    await first.rest();
    await evictDurableObject(chat.stub);

    const second = await chat.hear("tell me", {}, key);
    await second.rest();

    expect(second.seen).toEqual(first.seen);
  });

  it("again with Last-Event-ID continues right after that offset, while the turn runs and when it is over", async () => {
    const chat = await newChat({ replies: [{ deltas: ["Once upon ", { gate: "go" }, "a time."] }] });
    const first = await chat.hear("tell me", {}, key);
    const { offset } = await first.until("text.delta");

    const second = await chat.hear("tell me", {}, { ...key, "last-event-id": String(offset) });
    await chat.model.open("go");
    await Promise.all([first.rest(), second.rest()]);
    const third = await chat.hear("tell me", {}, { ...key, "last-event-id": String(offset) });
    await third.rest();

    expect(second.seen).toEqual(first.seen.filter((frame) => frame.offset > offset));
    expect(third.seen).toEqual(second.seen);
  });

  it("with a Last-Event-ID that is no offset is refused, and the message can still be sent", async () => {
    const chat = await newChat();

    const refused = await chat.send("hello", {}, { ...key, "last-event-id": "-1" });
    const accepted = await chat.send("hello", {}, key);

    expect([refused.status, accepted.status]).toEqual([400, 200]);
  });

  it("with another body is refused, and nothing is appended", async () => {
    const chat = await newChat();
    await chat.send("hello", {}, key);
    const before = await chat.events();

    const refused = await chat.send("something else", {}, key);

    expect(refused.status).toBe(422);
    expect(await chat.events()).toEqual(before);
  });

  it("of a message that waits in the queue is the same message", async () => {
    const chat = await newChat({ replies: [{ gate: "go", text: "one" }] });
    const running = await chat.post("first");
    const headers = { ...key, prefer: "respond-async" };

    const queued = await readBody<Accepted>(await chat.send("second", {}, headers), 202);
    const again = await readBody<Accepted>(await chat.send("second", {}, headers), 202);
    await chat.model.open("go");
    await chat.ended(running.turn_id);

    expect(again).toEqual(queued);
    expect(queued.queued).toBe(true);
  });

  it("is one message with run: false", async () => {
    const chat = await newChat();

    const [one, two] = await Promise.all([1, 2].map(() => chat.send("a note", { run: false }, key)));

    expect(await readBody(one as Response, 201)).toEqual(await readBody(two as Response, 201));
    expect(told(await chat.items())).toEqual(["user: a note"]);
  });

  it("on a refused message may be used again: nothing came of it", async () => {
    const chat = await newChat({ replies: [{ gate: "go", text: "one" }] });
    const running = await chat.post("first");
    const refused = await chat.send("second", { on_busy: "reject" }, key);
    await chat.model.open("go");
    await chat.ended(running.turn_id);

    const accepted = await chat.send("second", { on_busy: "reject" }, key);

    expect([refused.status, accepted.status]).toEqual([409, 200]);
  });
});

describe("an idempotency key", () => {
  it("is kept for 24 hours, and no longer", async () => {
    const chat = await newChat();
    const send = async () => readBody<TurnReport>(await chat.send("hello", {}, key));
    const first = await send();

    advanceClock(24 * 60 * 60 * 1_000 - 60_000);
    const same = await send();
    advanceClock(60_000);
    const another = await send();

    expect(same.id).toBe(first.id);
    expect(another.id).not.toBe(first.id);
  });
});

describe("one idempotency key on POST /v1/sessions", () => {
  it("makes one session, also when sent at once", async () => {
    const tenant = await newTenant();
    const create = () => tenant.call("POST", "/v1/sessions", { title: "Trip" }, key);

    const answers = await Promise.all([create(), create()]);
    const again = await create();

    const made = await Promise.all([...answers, again].map((answer) => readBody<SessionDescription>(answer, 201)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  });

  it("with another body is refused, and no session is made", async () => {
    const tenant = await newTenant();
    await readBody(await tenant.call("POST", "/v1/sessions", { title: "Trip" }, key), 201);

    const refused = await tenant.call("POST", "/v1/sessions", { title: "Work" }, key);

    expect(refused.status).toBe(422);
  });

  it("of another tenant is another key", async () => {
    const [one, two] = await Promise.all([newTenant(), newTenant()]);

    const made = await Promise.all(
      [one, two].map(async (tenant) => readBody<SessionDescription>(await tenant.call("POST", "/v1/sessions", {}, key), 201)),
    );

    expect(made[0]?.id).not.toBe(made[1]?.id);
  });
});

describe("one idempotency key on a retry", () => {
  it("is one retry", async () => {
    const chat = await newChat({ replies: [{ status: 402, error: { message: "no" } }] });
    await chat.send("hello");

    const [one, two] = await Promise.all([1, 2].map(async () => readBody<TurnReport>(await chat.call("POST", "/retry", {}, key))));

    expect(one?.id).toBe(two?.id);
    expect((await chat.read<Page<unknown>>("/messages")).data).toHaveLength(2);
  });

  it("again after the turn has ended is the first turn, and says so", async () => {
    const chat = await newChat({ replies: [{ status: 402, error: { message: "no" } }, { text: "here" }] });
    await chat.send("hello");
    const first = await readBody<TurnReport>(await chat.call("POST", "/retry", {}, key));
    const before = await chat.events();

    const again = await chat.call("POST", "/retry", {}, key);

    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await readBody<TurnReport>(again)).toMatchObject({ id: first.id, items: first.items });
    expect(await chat.events()).toEqual(before);
  });

  it("with another request is refused, and nothing runs", async () => {
    const chat = await newChat({ replies: [{ status: 402, error: { message: "no" } }] });
    await chat.send("hello", {}, key);
    const before = await chat.events();

    expect((await chat.call("POST", "/retry", {}, key)).status).toBe(422);
    expect((await chat.call("POST", "/stop", {}, key)).status).toBe(422);
    expect(await chat.events()).toEqual(before);
  });
});

describe("one idempotency key on an API key", () => {
  it("makes one, whose secret is shown once, and opens with it alone", async () => {
    const tenant = await newTenant();
    const make = () => tenant.call("POST", "/v1/keys", { name: "ci" }, key);

    const [first, second] = [await make(), await make()];

    const made = await readBody<{ id: string; key: string }>(first, 201);
    expect(await readBody(second, 201)).toMatchObject({ id: made.id, key: null });
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect((await request("GET", "/v1/tenant", { key: made.key })).status).toBe(200);
    const { data } = await readBody<Page<{ name: string }>>(await tenant.call("GET", "/v1/keys"));
    expect(data.filter(({ name }) => name === "ci")).toHaveLength(1);
  });

  it("with another body is refused, and with a session's request too", async () => {
    const tenant = await newTenant();
    await readBody(await tenant.call("POST", "/v1/keys", { name: "ci" }, key), 201);

    expect((await tenant.call("POST", "/v1/keys", { name: "cd" }, key)).status).toBe(422);
    expect((await tenant.call("POST", "/v1/sessions", {}, key)).status).toBe(422);
  });
});

describe("one idempotency key on a tenant", () => {
  const make = (name: string, idempotencyKey: string) =>
    request("POST", "/v1/admin/tenants", { key: env.ADMIN_KEY, body: { name }, headers: { "idempotency-key": idempotencyKey } });

  it("makes one, also when both requests come at once", async () => {
    const made = await Promise.all([make("Ada", "t-1"), make("Ada", "t-1")]);

    const ids = await Promise.all(made.map((response) => readBody<{ id: string }>(response, 201)));
    expect(ids[0]).toEqual(ids[1]);
    expect(made.map((response) => response.headers.get("idempotent-replayed")).sort()).toEqual(["true", null].sort());
  });

  it("with another body is refused", async () => {
    await readBody(await make("Ada", "t-2"), 201);

    expect((await make("Eve", "t-2")).status).toBe(422);
  });
});
