/** `POST …/respond` in the real runtime: everything that one request adds is recorded together or not at all. */
import { evictDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import type { Accepted } from "../../../src/contract/item";
import type { TurnReport } from "../../../src/contract/turn";
import { listTypes } from "../../workers/frames";
import { type Chat, migrate, newChat, newId, readBody, toFrames, told } from "../../workers/support";

beforeAll(migrate);

const weather = { name: "weather", parameters: { type: "object" } };
const calls = (...ids: string[]) => ({ text: "Let me look.", tool_calls: ids.map((id) => ({ id, name: "weather", arguments: "{}" })) });
const result = (call_id: string, output: unknown = `result ${call_id}`) => ({ call_id, output });
const user = (content: string) => ({ content });

const send = (chat: Chat, body: object, headers?: Record<string, string>) => chat.call("POST", "/respond", body, headers);
const respond = async (chat: Chat, body: object, headers?: Record<string, string>) => readBody<TurnReport>(await send(chat, body, headers));
const refused = async (chat: Chat, body: object) => {
  const response = await send(chat, body);
  return [response.status, ((await response.json()) as { type: string }).type.replace("urn:longhand:problem:", "")];
};

async function heardBy(chat: Chat, nth: number): Promise<string[]> {
  const request = (await chat.model.heard(nth))[nth - 1];
  return (request?.body.messages ?? []).map(({ role, content }) => `${role}: ${content ?? ""}`);
}

describe("one request", () => {
  it("answers calls and says something: the model reads the results, then the message", async () => {
    const chat = await newChat({ tools: [weather], replies: [calls("a", "b"), { text: "21 degrees." }] });
    const waiting = await chat.say("How is Paris?");

    const turn = await respond(chat, { after: waiting.id, results: [result("b"), result("a")], messages: [user("换个城市？")] });

    expect(turn.status).toBe("completed");
    expect(turn.id).not.toBe(waiting.id);
    expect(await chat.turn(waiting.id)).toMatchObject({ status: "stopped" });
    expect((await heardBy(chat, 2)).slice(1)).toEqual(["assistant: Let me look.", "tool: result a", "tool: result b", "user: 换个城市？"]);
  });

  it("that only answers calls lets their turn go on, also over an eviction", async () => {
    const chat = await newChat({ tools: [weather], replies: [calls("a"), { text: "Sunny." }] });
    const waiting = await chat.say("How is Paris?");
    await evictDurableObject(chat.stub);

    expect(await respond(chat, { results: [result("a")] })).toMatchObject({ id: waiting.id, status: "completed" });
  });

  it("brings a whole conversation, and is answered in its place", async () => {
    const chat = await newChat({ replies: [{ text: "Rex." }] });
    const messages = [user("My dog is called Rex."), { role: "assistant", content: "Noted." }, user("What is it called?")];

    const turn = await respond(chat, { messages, system: "One word.", note: '{"surface":"test"}' });

    expect(turn.output_text).toBe("Rex.");
    expect(await heardBy(chat, 1)).toEqual([
      "system: One word.",
      "user: My dog is called Rex.",
      "assistant: Noted.",
      "user: What is it called?",
    ]);
    expect(await chat.read(`/turns/${turn.id}/settings`)).toMatchObject({ system: "One word.", note: '{"surface":"test"}' });
  });

  it("may end with the result of an imported call, which the turn answers", async () => {
    const chat = await newChat({ replies: [{ text: "Sunny." }] });
    const called = { role: "assistant", tool_calls: [{ call_id: "c", name: "look", arguments: "{}" }] };

    const turn = await respond(chat, { messages: [user("How is Paris?"), called, { role: "tool", call_id: "c", content: "晴" }] });

    expect(turn).toMatchObject({ status: "completed", message_id: null, output_text: "Sunny." });
    expect((await heardBy(chat, 1)).at(-1)).toBe("tool: 晴");
  });

  it("after an earlier turn starts a branch; after the last turn of the other branch it goes on there", async () => {
    const chat = await newChat({ replies: ["one", "two", "three", "four"].map((text) => ({ text })) });
    const first = await chat.say("1");
    const second = await chat.say("2");
    await respond(chat, { after: first.id, messages: [user("3")] });
    expect(told(await chat.items())).toEqual(["user: 1", "assistant: one", "user: 3", "assistant: three"]);

    await respond(chat, { after: second.id, messages: [user("4")] });

    expect(told(await chat.items())).toEqual(["user: 1", "assistant: one", "user: 2", "assistant: two", "user: 4", "assistant: four"]);
    expect(await chat.describe()).toMatchObject({ branch: 1, branches: 2 });
  });

  it("streams the turn that it leads to, without the end of the turn before", async () => {
    const chat = await newChat({ tools: [weather], replies: [calls("a"), { text: "Sunny." }] });
    const waiting = await chat.say("How is Paris?");
    const body = { results: [result("a")], messages: [user("And?")] };
    const frames = toFrames(await send(chat, body, { accept: "text/event-stream" }));
    await frames.rest();

    expect(listTypes(frames.seen).filter((type) => type !== "text.delta")).toEqual([
      "message.accepted",
      "turn.started",
      "usage.updated",
      "item.completed",
      "turn.completed",
    ]);
    expect(frames.seen.map((frame) => ("turn_id" in frame ? frame.turn_id : null))).not.toContain(waiting.id);
  });

  it("is acknowledged at once if that is enough, and with 201 if no turn runs", async () => {
    const chat = await newChat({ replies: [{ text: "one" }] });
    const recorded = await readBody<Accepted>(await send(chat, { run: false, messages: [user("a"), user("b")] }), 201);
    const accepted = await readBody<Accepted>(await send(chat, { messages: [user("c"), user("d")] }, { prefer: "respond-async" }), 202);

    expect(recorded).toMatchObject({ turn_id: null, position: 2 });
    expect(accepted).toMatchObject({ position: 4, queued: false });
    expect(accepted.turn_id && (await chat.ended(accepted.turn_id)).status).toBe("completed");
  });
});

describe("the same request twice", () => {
  it("with one key adds everything once, whether it comes later or at the same time", async () => {
    const chat = await newChat({ tools: [weather], replies: [calls("a"), { text: "Sunny." }] });
    const first = await chat.say("How is Paris?");
    const body = { after: first.id, results: [result("a")], messages: [user("also"), user("this")] };
    const key = { "idempotency-key": "r-1" };

    const both = await Promise.all([respond(chat, body, key), respond(chat, body, key)]);
    const later = await send(chat, body, key);

    expect(new Set(both.map(({ id }) => id)).size).toBe(1);
    expect(later.headers.get("idempotent-replayed")).toBe("true");
    expect((await readBody<TurnReport>(later)).id).toBe(both[0].id);
    expect(told(await chat.items()).filter((line) => line.startsWith("user"))).toEqual(["user: How is Paris?", "user: also", "user: this"]);
    expect(await chat.countEvents("ToolResultRecorded")).toBe(1);
  });
});

describe("a refused request", () => {
  it("leaves nothing behind, whichever of its steps is at fault", async () => {
    const chat = await newChat({ tools: [weather], replies: [{ text: "one" }, calls("a", "b")] });
    const first = await chat.say("1");
    await readBody(await chat.call("POST", "/messages", { content: "noted", run: false, client_id: "c-1" }), 201);
    await chat.say("2");
    const before = await chat.events();
    const good = [result("a"), result("b")];

    expect(await refused(chat, { results: [result("a")] })).toEqual([409, "calls_unanswered"]);
    expect(await refused(chat, { messages: [user("3"), user("4")] })).toEqual([409, "calls_unanswered"]);
    expect(await refused(chat, { results: [...good, result("c")], messages: [user("3")] })).toEqual([409, "call_not_open"]);
    expect(await refused(chat, { results: good, messages: [{ ...user("3"), client_id: "c-1" }] })).toEqual([409, "client_id_taken"]);
    expect(await refused(chat, { results: good, messages: [{ role: "tool", call_id: "z", content: "" }, user("3")] })).toEqual([
      400,
      "invalid_request",
    ]);
    expect(await refused(chat, { results: good, messages: [user("3")], system: "x".repeat(900_000) })).toEqual([400, "invalid_request"]);
    expect(await refused(chat, { after: first.id, results: good, messages: [user("3")] })).toEqual([409, "call_not_open"]);
    expect(await refused(chat, { after: newId("trn"), messages: [user("3")] })).toEqual([400, "invalid_request"]);
    expect(await refused(chat, {})).toEqual([400, "invalid_request"]);

    expect(await chat.events()).toEqual(before);
    expect(await chat.describe()).toMatchObject({ branches: 1, turn: { phase: "awaiting_tools" } });
  });

  it("while a turn runs is told of it, unless it is one message, which waits", async () => {
    const chat = await newChat({ replies: [{ text: "one", gate: "held" }, { text: "two" }] });
    const running = await chat.post("1");

    expect(await refused(chat, { messages: [user("2"), user("3")] })).toEqual([409, "turn_running"]);
    expect(await refused(chat, { messages: [user("2")], on_busy: "reject" })).toEqual([409, "turn_running"]);
    const waiting = await readBody<Accepted>(await send(chat, { messages: [user("2")] }, { prefer: "respond-async" }), 202);
    expect(waiting.queued).toBe(true);

    await chat.model.open("held");
    await chat.ended(running.turn_id);
    expect(waiting.turn_id && (await chat.ended(waiting.turn_id)).output_text).toBe("two");
  });
});
