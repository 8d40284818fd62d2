import { abortAllDurableObjects } from "cloudflare:test";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Accepted } from "../../../src/contract/item";
import type { TurnReport } from "../../../src/contract/turn";
import { advanceClock } from "../../workers/clock";
import { deliver, holdQueue, smallChat, TURNS, talk, words } from "../../workers/conversation";
import { type Chat, migrate, newChat, readBody, told } from "../../workers/support";

beforeAll(migrate);
afterEach(() => vi.restoreAllMocks());

/** The policy's timeout of a summary, and the time by which a lease exceeds it. */
const LEASE_MS = 15_000 + 15_000;

describe("a crash around tool calls", () => {
  const look = { name: "look", parameters: { type: "object" } };
  const called = { text: "Let me look. ", tool_calls: [{ id: "c", name: "look", arguments: "{}" }] };
  const give = (chat: Chat) =>
    chat.call("POST", "/tool_results", { results: [{ call_id: "c", output: "seen" }] }, { prefer: "respond-async" });

  it("before the next round said anything runs that round again, with the results and the turn's own tools", async () => {
    const chat = await newChat({ replies: [called, { gate: "never", text: "lost" }, { text: "Found." }] });
    const { id } = await chat.say("look", { tools: [look] });
    await give(chat);
    await chat.model.heard(2);

    await abortAllDurableObjects();
    const report = await chat.ended(id);

    expect(report).toMatchObject({ status: "completed", attempt: 2 });
    expect(told(report.items)).toEqual(["assistant: Let me look. →look", "tool: seen", "assistant: Found."]);
    const [, second, third] = await chat.model.heard(3);
    expect(third?.raw).toBe(second?.raw);
    expect(second?.body.tools).toHaveLength(1);
  });

  it("in the middle of the next round keeps that round's words only", async () => {
    const chat = await newChat({ tools: [look], replies: [called, { deltas: ["Half", { gate: "never" }] }] });
    await chat.say("look");
    const frames = await chat.listen();
    await give(chat);
    await frames.until("text.delta", ({ text }) => text === "Half");

    await abortAllDurableObjects();
    await frames.leave();

    expect((await chat.describe()).last_turn?.status).toBe("interrupted");
    expect(told(await chat.items())).toEqual(["user: look", "assistant: Let me look. →look", "tool: seen", "assistant: Half"]);
  });
});

describe("a client that waits for the finished turn", () => {
  it("over a crash is told that its message is durable, and its key brings the turn that was run again", async () => {
    const chat = await newChat({ replies: [{ gate: "never", text: "lost" }, { text: "found" }] });
    const key = { "idempotency-key": "k-1" };
    const waiting = chat.send("hello", {}, key);
    await chat.model.heard(1);

    await abortAllDurableObjects();
    const acknowledged = await readBody<Accepted>(await waiting, 202);
    const again = await readBody<TurnReport>(await chat.send("hello", {}, key));

    expect(acknowledged.turn_id).toBe(again.id);
    expect(again).toMatchObject({ status: "completed", attempt: 2 });
    expect(told(await chat.items())).toEqual(["user: hello", "assistant: found"]);
  });
});

describe("a crash around a compaction", () => {
  it("while the summariser works costs at most that attempt: the job comes back", async () => {
    const summary = { text: words(60, "SUMMARY") };
    const { chat, frames } = await smallChat({ summaries: [{ gate: "summary", ...summary }, summary] });
    const queue = holdQueue();
    await talk(chat, 1, TURNS);
    const job = await queue.next();
    const delivered = deliver(job);
    await chat.model.heard(TURNS + 1);

    await abortAllDurableObjects();
    await frames.leave();
    await chat.model.open("summary");
    await delivered;
    advanceClock(LEASE_MS);
    await deliver(job);

    expect(await chat.describe()).toMatchObject({ epoch: 1, compacted_summary: words(60, "SUMMARY") });
  });

  it("while a summary waits for the turn's end keeps it: it takes effect after the turn that is run again", async () => {
    const queue = holdQueue();
    const { chat, frames } = await smallChat({ summaries: [{ text: words(60, "SUMMARY") }] });
    await talk(chat, 1, TURNS);
    const job = await queue.next();
    await chat.model.says({ gate: "never", text: "lost" }, { text: "found" });
    const { turn_id } = await chat.post("meanwhile");
    await chat.model.heard(TURNS + 1);
    await deliver(job);

    await abortAllDurableObjects();
    await frames.leave();
    const again = await chat.listen((await chat.describe()).stream_offset);
    await again.until("compaction.completed");

    expect((await chat.turn(turn_id)).status).toBe("completed");
    expect(await chat.describe()).toMatchObject({ epoch: 1, compacted_summary: words(60, "SUMMARY") });
    await again.leave();
  });
});
