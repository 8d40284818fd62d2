import { abortAllDurableObjects, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { TurnReport } from "../../src/contract/turn";
import { ringNow } from "./alarms";
import { type HeldTimers, holdTimers } from "./clock";
import { listTypes, spoken } from "./frames";
import { type Chat, migrate, newChat, newTenant, readBody, told } from "./support";

/** Displayed frames are stored within this time. If the timer is held, a crash always comes first. */
const FLUSH_MS = 1_000;
let flushes: HeldTimers | null = null;

beforeAll(migrate);
afterEach(() => {
  flushes?.restore();
  flushes = null;
});

/** The types of the events, read without the object's calls, which would recover the session. */
const storedTypes = (chat: Chat): Promise<string[]> =>
  runInDurableObject(chat.stub, (_, state) =>
    state.storage.sql
      .exec<{ type: string }>("SELECT type FROM events ORDER BY seq")
      .toArray()
      .map((row) => row.type),
  );

describe("a crash before anything was said", () => {
  it("runs the turn again at the first call, and the message is there once", async () => {
    const chat = await newChat({ replies: [{ gate: "never", text: "lost" }, { text: "found" }] });
    const { turn_id } = await chat.post("hello");
    await chat.model.heard(1);

    await abortAllDurableObjects();
    const report = await chat.ended(turn_id);

    expect(report).toMatchObject({ status: "completed", attempt: 2 });
    expect(told(await chat.items())).toEqual(["user: hello", "assistant: found"]);
    const [first, second] = await chat.model.heard(2);
    expect(second?.raw).toBe(first?.raw);
  });

  it("runs the turn again by the alarm, without any call", async () => {
    const chat = await newChat({ replies: [{ gate: "never", text: "lost" }, { text: "found" }] });
    await chat.post("hello");
    await chat.model.heard(1);

    await abortAllDurableObjects();
    const rang = await ringNow(chat.stub);
    await chat.model.heard(2);

    expect(rang).toBe(true);
    expect((await storedTypes(chat)).filter((type) => type === "TurnStarted")).toHaveLength(2);
  });

  it("has set its alarm within 30 seconds by the time the message is acknowledged", async () => {
    const chat = await newChat({ replies: [{ gate: "never", text: "lost" }] });
    await chat.post("hello");

    const alarm = await runInDurableObject(chat.stub, (_, state) => state.storage.getAlarm());

    expect((alarm ?? Number.POSITIVE_INFINITY) - Date.now()).toBeLessThanOrEqual(30_000);
    await readBody(await chat.call("POST", "/stop"));
  });

  it("three times ends the turn as crashed; no model is called a fourth time, and a person can retry", async () => {
    const chat = await newChat({ replies: [1, 2, 3].map(() => ({ gate: "never", text: "lost" })) });
    const { turn_id } = await chat.post("hello");
    for (let attempt = 1; attempt <= 3; attempt++) {
      await chat.model.heard(attempt);
      await abortAllDurableObjects();
      await chat.describe();
    }

    const report = await chat.ended(turn_id);

    expect(report).toMatchObject({ status: "failed", failure: { kind: "crashed" } });
    expect(await chat.model.heard()).toHaveLength(3);
    const retried = await readBody<TurnReport>(await chat.call("POST", "/retry"));
    expect(retried.status).toBe("completed");
    expect(told(await chat.items())).toEqual(["user: hello", "assistant: ok"]);
  });

  it("keeps the queue, in order", async () => {
    const chat = await newChat({ replies: [{ gate: "never", text: "lost" }, { text: "one" }, { text: "two" }] });
    await chat.post("first");
    const second = await chat.post("second");
    await chat.model.heard(1);

    await abortAllDurableObjects();
    await chat.ended(second.turn_id);

    expect(told(await chat.items())).toEqual(["user: first", "assistant: one", "user: second", "assistant: two"]);
  });

  it("keeps what an idempotency key led to: the message sent again is the same turn", async () => {
    const chat = await newChat({ replies: [{ gate: "never", text: "lost" }, { text: "found" }] });
    const headers = { "idempotency-key": "k-1", prefer: "respond-async" };
    const first = await readBody<{ turn_id: string }>(await chat.send("hello", {}, headers), 202);
    await chat.model.heard(1);
    await abortAllDurableObjects();

    const again = await readBody<TurnReport>(await chat.send("hello", {}, { "idempotency-key": "k-1" }));

    expect(again).toMatchObject({ id: first.turn_id, status: "completed" });
    expect(told(await chat.items())).toEqual(["user: hello", "assistant: found"]);
  });
});

describe("a crash in the middle of the reply", () => {
  async function crashed() {
    const chat = await newChat({ replies: [{ deltas: ["Half of ", { gate: "never" }, "it"] }, { text: "All of it." }] });
    const frames = await chat.hear("hello");
    const { turn_id, offset } = await frames.until("text.delta");
    await abortAllDurableObjects();
    await frames.leave();
    return { chat, turn_id, offset };
  }

  it("interrupts the turn, keeps the text and marks it; a retry answers again without it", async () => {
    const { chat, turn_id } = await crashed();

    const session = await chat.describe();
    const retried = await readBody<TurnReport>(await chat.call("POST", "/retry"));

    expect(session).toMatchObject({ turn: null, last_turn: { id: turn_id, status: "interrupted" } });
    expect(retried).toMatchObject({ status: "completed", items: [{ content: [{ text: "All of it." }] }] });
    const items = await chat.items();
    expect(told(items)).toEqual(["user: hello", "assistant: Half of ", "assistant: All of it."]);
    expect(items.map((item) => item.incomplete)).toEqual([false, true, false]);
    expect((await chat.model.heard(2))[1]?.body.messages).toHaveLength(1);
  });

  it("interrupts it by the alarm too, without any call", async () => {
    const { chat } = await crashed();

    await ringNow(chat.stub);

    expect((await storedTypes(chat)).slice(-2)).toEqual(["AssistantReplied", "TurnInterrupted"]);
  });

  it("tells a client that comes back what became of the turn", async () => {
    const { chat, offset } = await crashed();

    const frames = await chat.listen(offset);
    await frames.until("turn.interrupted");

    expect(listTypes(frames.seen)).toEqual(["usage.updated", "item.completed", "turn.interrupted"]);
    await frames.leave();
  });

  it("does not keep the next message from being answered, and the model reads what was kept", async () => {
    const { chat } = await crashed();

    await chat.say("go on");

    expect((await chat.model.heard(2))[1]?.body.messages.map(({ content }) => content)).toEqual(["hello", "Half of ", "go on"]);
  });

  it("sends a client that is ahead of the log back to what is stored, and gives no offset twice", async () => {
    flushes = holdTimers(FLUSH_MS);
    const chat = await newChat({ replies: [{ deltas: ["Stored. ", { gate: "shown" }, "Only shown.", { gate: "never" }] }] });
    const frames = await chat.hear("hello");
    const stored = await frames.until("text.delta");
    await chat.model.open("shown");
    const shown = await frames.until("text.delta");
    await abortAllDurableObjects();
    await frames.leave();

    const back = await chat.listen(shown.offset);
    await back.until("turn.interrupted");

    const [rewind, ...rest] = back.seen;
    expect(spoken(frames.seen)).toBe("Stored. Only shown.");
    expect(rewind).toMatchObject({ type: "stream.rewind", to: stored.offset });
    expect(listTypes(rest)).toEqual(["usage.updated", "item.completed", "turn.interrupted"]);
    expect(rest.every((frame) => frame.offset > shown.offset)).toBe(true);
    expect(told(await chat.items())).toEqual(["user: hello", "assistant: Stored. "]);
    await back.leave();
  });
});

describe("an eviction", () => {
  it("asked for in the middle of a turn lets the turn end, or runs it again; the reply is there once", async () => {
    const chat = await newChat({ replies: [{ gate: "go", text: "found" }, { text: "found" }] });
    const { turn_id } = await chat.post("hello");
    await chat.model.heard(1);

    const evicted = evictDurableObject(chat.stub);
    await chat.model.open("go");
    await evicted;
    const report = await chat.ended(turn_id);

    expect(report.status).toBe("completed");
    expect(told(await chat.items())).toEqual(["user: hello", "assistant: found"]);
  });

  it("between two turns loses nothing and sends the model the same history", async () => {
    const chat = await newChat({ system: "Be brief.", replies: [{ text: "one" }, { text: "two" }] });
    await chat.say("first");
    const before = await chat.describe();

    await evictDurableObject(chat.stub);

    expect(await chat.describe()).toEqual({ ...before, stream_offset: expect.any(Number) });
    await chat.say("second");
    expect((await chat.model.heard(2))[1]?.body.messages.map(({ content }) => content)).toEqual(["Be brief.", "first", "one", "second"]);
  });

  it("of everything, many sessions at once, is survived by each turn that ran", async () => {
    const tenant = await newTenant();
    const replies = [{ gate: "never", text: "lost" }, { text: "found" }];
    const chats = await Promise.all([1, 2, 3, 4].map(() => newChat({ tenant, replies })));
    const turns = await Promise.all(chats.map((chat) => chat.post("hello")));
    await Promise.all(chats.map((chat) => chat.model.heard(1)));

    await abortAllDurableObjects();
    const reports = await Promise.all(chats.map((chat, index) => chat.ended(turns[index]?.turn_id ?? ("" as never))));

    expect(reports.map((report) => report.status)).toEqual(chats.map(() => "completed"));
  });
});
