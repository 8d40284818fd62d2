import { evictDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import type { TurnReport } from "../../src/contract/turn";
import { withoutSaid } from "../support/known-frames";
import { listTypes, spoken } from "./frames";
import { migrate, newChat, readBody, toFrames } from "./support";

beforeAll(migrate);

const story = { deltas: ["Once ", { gate: "one" }, "upon ", { gate: "two" }, "a time."] };

describe("the live stream", () => {
  it.each([
    ["?after=", (offset: number) => ({ after: offset, headers: {} })],
    ["Last-Event-ID", (offset: number) => ({ after: undefined, headers: { "last-event-id": String(offset) } })],
    ["Last-Event-ID, which goes before ?after=", (offset: number) => ({ after: 1, headers: { "last-event-id": String(offset) } })],
  ])("resumes with %s at exactly the next frame", async (_, at) => {
    const chat = await newChat({ replies: [story] });
    const whole = await chat.listen(0);
    await chat.post("tell me");
    const { offset } = await whole.until("text.delta");

    const { after, headers } = at(offset);
    const rest = await chat.listen(after, headers);
    await chat.model.open("one");
    await chat.model.open("two");
    await Promise.all([whole.until("turn.completed"), rest.until("turn.completed")]);

    expect(rest.seen).toEqual(whole.seen.filter((frame) => frame.offset > offset));
    expect(spoken(rest.seen)).toBe("upon a time.");
    await Promise.all([whole.leave(), rest.leave()]);
  });

  it("resumes after an eviction from what is stored", async () => {
    const chat = await newChat({ replies: [{ text: "Once upon a time there was a log, and it grew." }] });
    const frames = await chat.hear("tell me");
    await frames.rest();
    const middle = frames.seen[2]?.offset ?? 0;
    await evictDurableObject(chat.stub);

    const rest = await chat.listen(middle);
    await rest.until("turn.completed");

    expect(rest.seen).toEqual(frames.seen.slice(3));
    await rest.leave();
  });

  it("two readers see the same, however late they come", async () => {
    const chat = await newChat({ replies: [story] });
    const first = await chat.hear("tell me");
    await first.until("text.delta");

    const second = await chat.listen();
    await chat.model.open("one");
    await second.until("text.delta", ({ text }) => text.includes("upon"));
    const third = await chat.listen();
    await chat.model.open("two");
    await Promise.all([first.rest(), second.until("turn.completed"), third.until("turn.completed")]);

    expect(withoutSaid(second.seen)).toEqual(first.seen.slice(-second.seen.length));
    expect(third.seen).toEqual(second.seen);
    expect(second.seen[0]?.type).toMatch(/message\.accepted|turn\.started/);
    await Promise.all([second.leave(), third.leave()]);
  });

  it("left by its only reader stops nothing", async () => {
    const chat = await newChat({ replies: [story] });
    const frames = await chat.hear("tell me");
    const { turn_id } = await frames.until("text.delta");
    await frames.leave();

    await chat.model.open("one");
    await chat.model.open("two");
    const report = await chat.ended(turn_id);

    expect(report).toMatchObject({ status: "completed", items: [{ content: [{ text: "Once upon a time." }] }] });
    expect((await chat.model.heard()).map((entry) => entry.aborted)).toEqual([false]);
  });

  it("without a cursor and without a turn tells what comes from now on", async () => {
    const chat = await newChat({ replies: [{ text: "one" }, { text: "two" }] });
    await chat.say("first");

    const frames = await chat.listen();
    await chat.say("second");
    await frames.until("turn.completed");

    expect(spoken(frames.seen)).toBe("two");
    await frames.leave();
  });

  it("after=0 tells everything from the beginning", async () => {
    const chat = await newChat({ replies: [{ text: "one" }, { text: "two" }] });
    await chat.say("first");
    await chat.say("second");

    const frames = await chat.listen(0);
    await frames.until("turn.completed");
    await frames.until("turn.completed");

    expect(spoken(frames.seen)).toBe("onetwo");
    expect(frames.seen.map((frame) => frame.offset)).toEqual([...frames.seen.keys()].map((index) => index + 1));
    await frames.leave();
  });

  it("offsets only grow, and an eviction gives none twice", async () => {
    const chat = await newChat();
    await chat.say("first");
    const before = (await chat.describe()).stream_offset;
    await evictDurableObject(chat.stub);

    await chat.say("second");
    const frames = await chat.listen(before);
    await frames.until("turn.completed");

    expect(frames.seen.every((frame) => frame.offset > before)).toBe(true);
    expect(listTypes(frames.seen)).toContain("message.accepted");
    await frames.leave();
  });
});

describe("Prefer: respond-async", () => {
  it("answers 202 with a cursor that shows the turn from its beginning, and the turn completes by itself", async () => {
    const chat = await newChat({ replies: [{ gate: "go", text: "done" }] });

    const answer = await chat.send("work", {}, { prefer: "respond-async" });
    const accepted = await readBody<{ turn_id: string; cursor: number }>(answer, 202);
    expect(answer.headers.get("preference-applied")).toBe("respond-async");
    const running = await chat.turn(accepted.turn_id);
    await chat.model.open("go");
    const frames = await chat.listen(accepted.cursor);
    await frames.until("turn.completed");

    expect(running.status).toBe("generating");
    expect(listTypes(frames.seen).slice(0, 2)).toEqual(["message.accepted", "turn.started"]);
    expect(await chat.read<TurnReport>(`/turns/${accepted.turn_id}`)).toMatchObject({ status: "completed" });
    await frames.leave();
  });
});

describe("the log as a stream", () => {
  it("gives the events after a seq and then those that come", async () => {
    const chat = await newChat();
    await chat.say("first");
    const stored = await chat.events();

    const frames = toFrames(await chat.call("GET", "/events?after=1", undefined, { accept: "text/event-stream" }));
    await chat.say("second");
    const seen: number[] = [];
    const all = await chat.events();
    while ((seen.at(-1) ?? 0) < all.length) seen.push((await frames.next()).offset);

    expect(stored.length).toBeLessThan(all.length);
    expect(seen).toEqual(all.slice(1).map((event) => event.seq));
    await frames.leave();
  });
});
