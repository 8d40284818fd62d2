import { beforeAll, describe, expect, it } from "vitest";
import type { Accepted, TurnReport } from "../../src/app/session-api";
import { spoken, typesOf } from "./frames";
import { bodyOf, migrate, newChat, textOf, told } from "./support";

beforeAll(migrate);

describe("sending a message", () => {
  it("answers with the finished turn, and its message is acknowledged before the first token", async () => {
    const chat = await newChat({ replies: [{ text: "Good morning." }] });

    const frames = await chat.hear("hello");
    await frames.rest();

    expect(typesOf(frames.seen)[0]).toBe("message.accepted");
    expect(typesOf(frames.seen).indexOf("text.delta")).toBeGreaterThan(0);
    expect(typesOf(frames.seen).at(-1)).toBe("turn.completed");
    expect(spoken(frames.seen)).toBe("Good morning.");
    expect(told(await chat.items())).toEqual(["user: hello", "assistant: Good morning."]);
  });

  it("two sent at once become two turns, in order, and neither sees the other's reply missing", async () => {
    const chat = await newChat({ replies: [{ text: "one" }, { text: "two" }] });

    const [first, second] = await Promise.all([chat.post("first"), chat.post("second")]);
    const reports = await Promise.all([first, second].map(({ turn_id }) => chat.stub.waitForTurn(chat.caller, turn_id ?? ("" as never))));

    expect(reports.map((report) => report.ok && report.value.status)).toEqual(["completed", "completed"]);
    const items = await chat.items();
    expect(items.map((item) => item.kind)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(items.map((item) => item.position)).toEqual([1, 2, 3, 4]);
    const [, later] = await chat.model.heard(2);
    expect(later?.body.messages.map((message) => message.content)).toEqual([textOf(items[0]), "one", textOf(items[2])]);
  });
});
