import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { advanceClock, holdTimers } from "./clock";
import { migrate, newChat, told } from "./support";

beforeAll(migrate);
afterEach(() => vi.restoreAllMocks());

/** The object's limits: to the first token, between two tokens, and between keep-alives of a silent stream. */
const FIRST_TOKEN_MS = 60_000;
const HEARTBEAT_MS = 15_000;

describe("a provider that goes silent", () => {
  it("before the first token has its connection closed, and is asked again", async () => {
    const timers = holdTimers(FIRST_TOKEN_MS);
    const chat = await newChat({ replies: [{ hang: true }, { text: "at last" }] });
    const waiting = chat.send("hello");
    await chat.model.heard(1);

    advanceClock(FIRST_TOKEN_MS);
    await runInDurableObject(chat.stub, timers.ring);

    const answer = await waiting;
    expect(await answer.json()).toMatchObject({ status: "completed" });
    await chat.model.heard(2, 1);
    expect(told(await chat.items())).toEqual(["user: hello", "assistant: at last"]);
  });

  it("in the middle of the reply ends the turn as timed out, and the partial reply is kept and marked", async () => {
    const timers = holdTimers(FIRST_TOKEN_MS);
    const chat = await newChat({ replies: [{ deltas: ["Half", { gate: "never" }] }] });
    const frames = await chat.hear("hello");
    await frames.until("text.delta");

    advanceClock(FIRST_TOKEN_MS);
    await runInDurableObject(chat.stub, timers.ring);
    const { failure } = await frames.until("turn.failed");

    expect(failure.kind).toBe("timeout");
    expect((await chat.items()).at(-1)).toMatchObject({ incomplete: true, content: [{ type: "text", text: "Half" }] });
  });

  it("is not taken for the client's: a silent stream gets comments, the first at once", async () => {
    const timers = holdTimers(HEARTBEAT_MS);
    const chat = await newChat();
    const response = await chat.call("GET", "/stream");
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();

    expect((await reader?.read())?.value).toBe(": open\n\n");
    const read = reader?.read();
    await timers.set();
    await runInDurableObject(chat.stub, timers.ring);

    expect((await read)?.value).toBe(": heartbeat\n\n");
    await reader?.cancel();
  });
});
