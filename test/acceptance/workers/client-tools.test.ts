import { evictDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import { NO_RESULT } from "../../../src/context/view";
import type { TurnReport } from "../../../src/contract/turn";
import { ringNow } from "../../workers/alarms";
import { advanceClock } from "../../workers/clock";
import { listTypes } from "../../workers/frames";
import { type Chat, migrate, newChat, readBody, readText, toFrames } from "../../workers/support";

beforeAll(migrate);

const weather = {
  name: "weather",
  description: "The weather of a city",
  parameters: { type: "object", properties: { city: { type: "string" } } },
};
const called = (id: string, city: string) => ({ id, name: "weather", arguments: JSON.stringify({ city }) });
const calls = (...cities: string[]) => ({
  text: "Let me look.",
  tool_calls: cities.map((city, index) => called(`call_${index + 1}`, city)),
});

const give = (chat: Chat, ...results: object[]) => chat.call("POST", "/tool_results", { results });
const wire = async (chat: Chat, nth: number) => {
  const request = (await chat.model.heard(nth))[nth - 1];
  return (request?.body.messages ?? []).map(
    ({ role, content, tool_calls, tool_call_id }) =>
      `${role} ${tool_call_id ?? (tool_calls ?? []).map((call) => call.id).join(",")}: ${content ?? ""}`,
  );
};

describe("a turn that calls client tools", () => {
  it("waits for their results and goes on with them", async () => {
    const chat = await newChat({ tools: [weather], replies: [calls("Paris"), { text: "Sunny." }] });

    const waiting = await chat.say("How is Paris?");
    const [call] = waiting.open_calls;
    const done = await readBody<TurnReport>(await give(chat, { execution_id: call?.id, output: { sky: "clear" } }));

    expect(waiting).toMatchObject({
      status: "awaiting_tools",
      open_calls: [{ call_id: "call_1", name: "weather", arguments: '{"city":"Paris"}' }],
    });
    expect(done).toMatchObject({ id: waiting.id, status: "completed" });
    expect(done.items.map(({ role }) => role)).toEqual(["assistant", "tool", "assistant"]);
    expect(await wire(chat, 2)).toEqual(["user : How is Paris?", "assistant call_1: Let me look.", 'tool call_1: {"sky":"clear"}']);
  });

  it("says on its stream that it waits, and that it goes on", async () => {
    const chat = await newChat({ tools: [weather], replies: [calls("Paris"), { text: "Sunny." }] });

    const first = await chat.hear("How is Paris?");
    await first.rest();
    const [call] = (await chat.describe()).turn?.open_calls ?? [];
    const results = { results: [{ call_id: call?.call_id, output: "clear" }] };
    const second = toFrames(await chat.call("POST", "/tool_results", results, { accept: "text/event-stream" }));
    await second.rest();

    expect(listTypes(first.seen).at(-1)).toBe("turn.awaiting_tools");
    expect(listTypes(second.seen).filter((type) => type !== "text.delta")).toEqual([
      "item.completed",
      "turn.resumed",
      "usage.updated",
      "item.completed",
      "turn.completed",
    ]);
  });

  it("takes the results in two requests in any order, and sends them in the order of the calls", async () => {
    const chat = await newChat({ tools: [weather], replies: [calls("Paris", "Oslo"), { text: "Done." }] });
    const waiting = await chat.say("Compare.");
    const [paris, oslo] = waiting.open_calls;

    const half = await readBody<TurnReport>(await give(chat, { execution_id: oslo?.id, output: "rain" }));
    const done = await readBody<TurnReport>(await give(chat, { execution_id: paris?.id, output: "sun" }));

    expect(half).toMatchObject({ status: "awaiting_tools", open_calls: [{ id: paris?.id }] });
    expect(done.status).toBe("completed");
    expect((await wire(chat, 2)).slice(1)).toEqual(["assistant call_1,call_2: Let me look.", "tool call_1: sun", "tool call_2: rain"]);
  });

  it("keeps waiting over an eviction", async () => {
    const chat = await newChat({ tools: [weather], replies: [calls("Paris"), { text: "Sunny." }] });
    const waiting = await chat.say("How is Paris?");
    await evictDurableObject(chat.stub);

    expect((await chat.describe()).turn).toMatchObject({ id: waiting.id, phase: "awaiting_tools", open_calls: waiting.open_calls });
    const done = await readBody<TurnReport>(await give(chat, { call_id: "call_1", output: "sun" }));
    expect(done.status).toBe("completed");
  });

  it("goes through several rounds", async () => {
    const chat = await newChat({ tools: [weather], replies: [calls("Paris"), calls("Oslo"), { text: "Done." }] });
    await chat.say("Compare.");

    const second = await readBody<TurnReport>(await give(chat, { call_id: "call_1", output: "sun" }));
    const done = await readBody<TurnReport>(await give(chat, { call_id: "call_1", output: "rain" }));

    expect(second.status).toBe("awaiting_tools");
    expect(done.status).toBe("completed");
    expect((await wire(chat, 3)).slice(1)).toEqual([
      "assistant call_1: Let me look.",
      "tool call_1: sun",
      "assistant call_1: Let me look.",
      "tool call_1: rain",
    ]);
  });

  it("takes calls whose provider ids repeat, one result after the other", async () => {
    const twins = { tool_calls: [called("same", "Paris"), called("same", "Oslo")] };
    const chat = await newChat({ tools: [weather], replies: [twins, { text: "Done." }] });
    const waiting = await chat.say("Compare.");

    expect(new Set(waiting.open_calls.map((call) => call.id)).size).toBe(2);
    const done = await readBody<TurnReport>(await give(chat, { call_id: "same", output: "sun" }, { call_id: "same", output: "rain" }));

    expect(done.status).toBe("completed");
    expect((await wire(chat, 2)).slice(-2)).toEqual(["tool same: sun", "tool same: rain"]);
  });

  it("offers the tools of the message in place of the session's, for that turn only", async () => {
    const chat = await newChat({ tools: [weather] });

    await chat.say("one", { tools: [{ name: "time", parameters: { type: "object" } }] });
    await chat.say("two");

    const offered = (await chat.model.heard(2)).map(({ body }) => JSON.stringify(body.tools));
    expect(offered[0]).toContain('"name":"time"');
    expect(offered[1]).toContain('"name":"weather"');
    expect(offered[1]).not.toContain('"name":"time"');
  });
});

describe("results", () => {
  it("for a call that is not open are refused, and nothing is appended, not even the good one beside it", async () => {
    const chat = await newChat({ tools: [weather], replies: [calls("Paris")] });
    const { open_calls } = await chat.say("How is Paris?");
    const before = await chat.events();

    const wrong = await give(chat, { call_id: "call_9", output: "sun" });
    const mixed = await give(chat, { execution_id: open_calls[0]?.id, output: "sun" }, { call_id: "call_9", output: "x" });

    expect([wrong.status, mixed.status]).toEqual([409, 409]);
    expect(await mixed.json()).toMatchObject({ errors: [{ field: "results.1" }] });
    expect(await chat.events()).toEqual(before);
  });

  it("given twice are taken once; with an idempotency key the second answer is the first one's", async () => {
    const chat = await newChat({ tools: [weather], replies: [calls("Paris"), { text: "Sunny." }] });
    await chat.say("How is Paris?");
    const results = { results: [{ call_id: "call_1", output: "sun" }] };
    const key = { "idempotency-key": "r-1" };

    const first = await readBody<TurnReport>(await chat.call("POST", "/tool_results", results, key));
    const again = await readBody<TurnReport>(await chat.call("POST", "/tool_results", results, key));

    expect(again.items).toEqual(first.items);
    expect((await give(chat, { call_id: "call_1", output: "sun" })).status).toBe(409);
    expect(await chat.countEvents("ToolResultRecorded")).toBe(1);
  });

  it("longer than 30,000 characters are cut when recorded, with the marker and never inside a character", async () => {
    const chat = await newChat({ window: 128_000, tools: [weather], replies: [calls("Paris", "Oslo"), { text: "Long." }] });
    await chat.say("Tell me all.");
    const plain = "x".repeat(40_000);
    const split = `${"y".repeat(29_999)}🙂${"z".repeat(100)}`;

    await give(chat, { call_id: "call_1", output: plain }, { call_id: "call_2", output: split });

    const results = (await chat.items()).filter((item) => item.role === "tool").map(readText);
    expect(results[0]).toBe(`${"x".repeat(30_000)}\n\n[... content truncated, showing first 30000 of 40000 characters ...]`);
    expect(results[1]).toBe(`${"y".repeat(29_999)}\n\n[... content truncated, showing first 30000 of ${split.length} characters ...]`);
    expect((await wire(chat, 2)).at(-2)).toBe(`tool call_1: ${results[0]}`);
  });
});

describe("open calls", () => {
  it("are superseded by a new message: later results are refused, and the model reads that there are none", async () => {
    const chat = await newChat({ tools: [weather], replies: [calls("Paris", "Oslo")] });
    const waiting = await chat.say("Compare.");
    await give(chat, { call_id: "call_1", output: "sun" });

    const next = await chat.say("Never mind.");

    expect(next.status).toBe("completed");
    expect((await chat.turn(waiting.id)).status).toBe("stopped");
    expect((await give(chat, { call_id: "call_2", output: "rain" })).status).toBe(409);
    expect((await wire(chat, 2)).slice(1)).toEqual([
      "assistant call_1,call_2: Let me look.",
      "tool call_1: sun",
      `tool call_2: ${NO_RESULT}`,
      "user : Never mind.",
    ]);
  });

  it("are superseded by a new message also when others wait already: they get their turns in order", async () => {
    const chat = await newChat({ tools: [weather], replies: [{ gate: "go", ...calls("Paris") }] });
    const first = await chat.post("How is Paris?");
    await chat.post("waiting");
    await chat.model.open("go");
    await chat.ended(first.turn_id);

    const third = await chat.say("Never mind.");

    expect(third.status).toBe("completed");
    expect((await chat.turn(first.turn_id)).status).toBe("stopped");
    expect((await chat.items()).filter(({ role }) => role === "user").map(readText)).toEqual(["How is Paris?", "waiting", "Never mind."]);
  });

  it("are cancelled by a stop", async () => {
    const chat = await newChat({ tools: [weather], replies: [calls("Paris")] });
    await chat.say("How is Paris?");

    const stopped = await readBody<TurnReport>(await chat.call("POST", "/stop"));

    expect(stopped.status).toBe("stopped");
    expect((await give(chat, { call_id: "call_1", output: "sun" })).status).toBe(409);
  });

  it("expire after 24 hours", async () => {
    const chat = await newChat({ tools: [weather], replies: [calls("Paris")] });
    const waiting = await chat.say("How is Paris?");

    advanceClock(24 * 60 * 60 * 1_000);
    await ringNow(chat.stub);

    expect((await chat.turn(waiting.id)).status).toBe("stopped");
    expect((await give(chat, { call_id: "call_1", output: "sun" })).status).toBe(409);
  });
});
