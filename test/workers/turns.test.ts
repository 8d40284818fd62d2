import { beforeAll, describe, expect, it } from "vitest";
import type { Accepted } from "../../src/contract/item";
import type { TurnReport } from "../../src/contract/turn";
import { listTypes, spoken } from "./frames";
import { migrate, newChat, readBody, readText, told } from "./support";

beforeAll(migrate);

describe("sending a message", () => {
  it("is acknowledged before the first token and ends with the finished turn", async () => {
    const chat = await newChat({ replies: [{ text: "Good morning." }] });

    const frames = await chat.hear("hello");
    await frames.rest();

    expect(listTypes(frames.seen).slice(0, 3)).toEqual(["message.accepted", "turn.started", "text.delta"]);
    expect(listTypes(frames.seen).at(-1)).toBe("turn.completed");
    expect(spoken(frames.seen)).toBe("Good morning.");
    expect(frames.seen[0]).toMatchObject({ position: 1, queued: false });
    expect(told(await chat.items())).toEqual(["user: hello", "assistant: Good morning."]);
  });

  it("two sent at once become two turns in order, and the second sees the first's reply", async () => {
    const chat = await newChat({ replies: [{ text: "one" }, { text: "two" }] });

    const sent = await Promise.all([chat.post("first"), chat.post("second")]);
    const reports = await Promise.all(sent.map(({ turn_id }) => chat.ended(turn_id)));

    expect(reports.map((report) => report.status)).toEqual(["completed", "completed"]);
    const items = await chat.items();
    expect(items.map(({ role, position }) => `${position} ${role}`)).toEqual(["1 user", "2 assistant", "3 user", "4 assistant"]);
    const [, later] = await chat.model.heard(2);
    expect(later?.body.messages.map((message) => message.content)).toEqual([readText(items[0]), "one", readText(items[2])]);
  });

  it("a provider's failure ends the turn with its class and words, keeps the message, and retry answers it", async () => {
    const chat = await newChat({ replies: [{ status: 402, error: { message: "no credit left" } }, { text: "now" }] });

    const failed = await chat.send("hello");

    expect(failed.status).toBe(200);
    const failure = {
      kind: "quota",
      status: 402,
      detail: expect.any(String),
      remedy: expect.stringContaining("retry the turn"),
      reported: { message: "no credit left" },
    };
    expect(await failed.json()).toMatchObject({
      status: "failed",
      failure,
      output_text: "",
    });
    const retried = await readBody<TurnReport>(await chat.call("POST", "/retry"));
    expect(retried).toMatchObject({ status: "completed", items: [{ role: "assistant" }], output_text: "now" });
    expect(told(await chat.items())).toEqual(["user: hello", "assistant: now"]);
  });
});

describe("what a turn was asked with", () => {
  it("is its own system prompt in place of the session's, and the client's note, which no model reads", async () => {
    const chat = await newChat({ replies: [{ text: "Olá." }] });
    const sent = await readBody<TurnReport>(await chat.send("hello", { system: "Answer in Portuguese.", note: '{"page":7}' }));

    const [heard] = await chat.model.heard(1);
    expect(heard?.body.messages[0]).toEqual({ role: "system", content: "Answer in Portuguese." });
    expect(heard?.raw).not.toContain("page");
    expect(await readBody(await chat.call("GET", `/turns/${sent.id}/settings`))).toMatchObject({
      system: "Answer in Portuguese.",
      note: '{"page":7}',
      tools: [],
      generation: {},
      redacted: false,
    });
    expect(sent.ended_at).toBeGreaterThanOrEqual(sent.created_at);
    expect((await chat.call("GET", "/turns/trn_01JD8Z3V6Q4N7R2T5W9X0Y1A00/settings")).status).toBe(404);
  });
});

describe("a retry", () => {
  it("offers the tools that the failed turn had", async () => {
    const chat = await newChat({ replies: [{ status: 402, error: { message: "no" } }] });
    await chat.send("hello", { tools: [{ name: "look", parameters: { type: "object" } }] });

    await readBody(await chat.call("POST", "/retry"));

    const [first, second] = await chat.model.heard(2);
    expect(second?.raw).toBe(first?.raw);
  });

  it("of a completed turn is refused", async () => {
    const chat = await newChat();
    await chat.say("hello");

    expect((await chat.call("POST", "/retry")).status).toBe(409);
  });
});

describe("a busy session", () => {
  async function busy() {
    const chat = await newChat({ replies: [{ deltas: ["Once upon ", { gate: "go" }, "a time."] }] });
    const frames = await chat.hear("tell me");
    await frames.until("text.delta");
    return { chat, frames };
  }

  it("queues a message by default, shows it waiting, and gives it its turn", async () => {
    const { chat, frames } = await busy();

    const accepted = await chat.post("and then?");

    expect(accepted).toMatchObject({ queued: true, position: null });
    expect((await chat.describe()).queued).toEqual([{ id: accepted.message_id, turn_id: accepted.turn_id }]);
    await chat.model.open("go");
    await frames.rest();
    await chat.ended(accepted.turn_id);
    expect(told(await chat.items())).toEqual(["user: tell me", "assistant: Once upon a time.", "user: and then?", "assistant: ok"]);
  });

  it("refuses with on_busy reject, and appends nothing", async () => {
    const { chat } = await busy();
    const before = await chat.events();

    const refused = await chat.send("and then?", { on_busy: "reject" });

    expect(refused.status).toBe(409);
    expect(await chat.events()).toEqual(before);
    await chat.model.open("go");
  });

  it("stops for on_busy interrupt, keeps the partial reply, and puts the message before queued ones", async () => {
    const { chat, frames } = await busy();
    const queued = await chat.post("later");

    const urgent = await chat.say("stop that", { on_busy: "interrupt" });

    expect(urgent.status).toBe("completed");
    await frames.until("turn.stopped", ({ reason }) => reason === "interrupted_by_message");
    await chat.ended(queued.turn_id);
    const items = await chat.items();
    expect(told(items)).toEqual([
      "user: tell me",
      "assistant: Once upon ",
      "user: stop that",
      "assistant: ok",
      "user: later",
      "assistant: ok",
    ]);
    expect(items.map((item) => item.incomplete)).toEqual([false, true, false, false, false, false]);
  });

  it("holds 32 messages and refuses the next with a time to come back", async () => {
    const { chat } = await busy();
    for (let n = 1; n <= 32; n++) await chat.post(`message ${n}`);

    const refused = await chat.send("one too many");

    expect(refused.status).toBe(409);
    expect(refused.headers.get("retry-after")).toBe("1");
    const responded = await chat.call("POST", "/respond", { messages: [{ content: "one too many" }] });
    expect(await readBody(responded, 409)).toMatchObject({ type: "urn:longhand:problem:queue_full", limit: 32 });
    expect((await chat.describe()).queued).toHaveLength(32);
    await readBody(await chat.call("POST", "/stop"));
  });

  it("a cancelled queued message is never sent", async () => {
    const { chat, frames } = await busy();
    const queued = await chat.post("forget it");

    const cancelled = await chat.call("DELETE", `/messages/${queued.message_id}`);
    await chat.model.open("go");
    await frames.rest();

    expect(cancelled.status).toBe(204);
    expect((await chat.call("DELETE", `/messages/${queued.message_id}`)).status).toBe(409);
    expect(told(await chat.items())).toEqual(["user: tell me", "assistant: Once upon a time."]);
    expect(await chat.model.heard()).toHaveLength(1);
  });

  it("tells a client that listens to its waiting message when its turn comes", async () => {
    const { chat } = await busy();

    const second = await chat.hear("and then?");
    await second.until("message.accepted");
    await chat.model.open("go");
    await second.rest();

    expect(second.seen[0]).toMatchObject({ type: "message.accepted", queued: true, position: null });
    expect(second.seen[1]).toMatchObject({ type: "turn.started", position: 3 });
    expect(second.seen.at(-1)?.type).toBe("turn.completed");
    expect(spoken(second.seen)).toBe("ok");
  });

  it("answers a client that waits for a message that is cancelled", async () => {
    const { chat } = await busy();
    const key = { "idempotency-key": "k-1" };
    const queued = await readBody<Accepted>(await chat.send("forget it", {}, { ...key, prefer: "respond-async" }), 202);
    const waiting = chat.send("forget it", {}, key);
    const listening = await chat.hear("forget it", {}, key);
    await listening.until("message.accepted");

    await chat.call("DELETE", `/messages/${queued.message_id}`);
    const report = await readBody<TurnReport>(await waiting);
    await listening.rest();

    expect(report).toMatchObject({ id: queued.turn_id, status: "stopped", items: [] });
    expect(listening.seen.at(-1)).toMatchObject({ type: "message.cancelled", message_id: queued.message_id });
    await chat.model.open("go");
  });

  it("takes run: false at its place in the queue, without a turn of its own", async () => {
    const { chat, frames } = await busy();

    const appended = await chat.append("a note");
    const next = await chat.post("and then?");
    await chat.model.open("go");
    await frames.rest();
    await chat.ended(next.turn_id);

    expect(appended).toMatchObject({ queued: true, turn_id: null });
    expect(told(await chat.items())).toEqual([
      "user: tell me",
      "assistant: Once upon a time.",
      "user: a note",
      "user: and then?",
      "assistant: ok",
    ]);
    expect(await chat.model.heard()).toHaveLength(2);
  });
});

describe("run: false", () => {
  it("appends without a turn, in any role, and the next request holds it", async () => {
    const chat = await newChat({ system: "Be brief." });

    const accepted = await chat.append("I am Ada.");
    await chat.append("Hello Ada.", "assistant");
    await chat.say("Who am I?");

    expect(accepted).toMatchObject({ position: 1, turn_id: null, queued: false });
    const [asked] = await chat.model.heard(1);
    expect(asked?.body.messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      "system: Be brief.",
      "user: I am Ada.",
      "assistant: Hello Ada.",
      "user: Who am I?",
    ]);
  });
});

describe("stopping", () => {
  it("keeps the partial reply, marked, and closes the provider's connection", async () => {
    const chat = await newChat({ replies: [{ deltas: ["Half of ", { gate: "never" }, "it"] }] });
    const frames = await chat.hear("hello");
    await frames.until("text.delta");

    const stopped = await readBody<TurnReport>(await chat.call("POST", "/stop"));

    expect(stopped).toMatchObject({ status: "stopped", items: [{ incomplete: true, content: [{ type: "text", text: "Half of " }] }] });
    expect(listTypes(await frames.rest()).slice(-2)).toEqual(["item.completed", "turn.stopped"]);
    expect(await chat.model.heard(1, 1)).toHaveLength(1);
    expect((await chat.call("POST", "/stop")).status).toBe(409);
  });

  it("of a named turn that is over stops no newer one, and says how the turn ended", async () => {
    const chat = await newChat({ replies: [{ text: "done" }, { gate: "never", text: "too late" }] });
    const first = await chat.say("one");
    const second: Accepted = await chat.post("two");
    await chat.model.heard(2);

    const late = await chat.call("POST", "/stop", { turn_id: first.id });

    expect([late.status, await readBody<TurnReport>(late)]).toMatchObject([
      200,
      { id: first.id, status: "completed", output_text: "done" },
    ]);
    expect(await chat.turn(second.turn_id ?? "")).toMatchObject({ status: "generating" });
    const meant = await chat.call("POST", "/stop", { turn_id: second.turn_id });
    expect(await readBody<TurnReport>(meant)).toMatchObject({ id: second.turn_id, status: "stopped" });
  });

  it("of a turn that the session does not have is refused", async () => {
    const chat = await newChat({ replies: [{ text: "done" }] });
    await chat.say("one");

    const refused = await chat.call("POST", "/stop", { turn_id: "trn_01ARZ3NDEKTSV4RRFFQ69G5FAV" });

    expect(await readBody(refused, 404)).toMatchObject({ type: "urn:longhand:problem:turn_not_found" });
  });

  it("before the first token leaves nothing but the question, and the session is free again", async () => {
    const chat = await newChat({ replies: [{ gate: "never", text: "too late" }] });
    const accepted: Accepted = await chat.post("hello");
    await chat.model.heard(1);

    await readBody(await chat.call("POST", "/stop"));
    const next = await chat.say("again");

    expect(accepted.queued).toBe(false);
    expect(next.status).toBe("completed");
    expect(told(await chat.items())).toEqual(["user: hello", "user: again", "assistant: ok"]);
  });
});
