/** Streams of the typed client against a running backend, with connections that are cut at every event and at every kind of place. */
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import type { Longhand, StreamEvent } from "../../../packages/client/src/client.ts";
import { createRandom } from "../../../scripts/support/random";
import { ChatServer, expectOrder, MortalChatServer, settleRewinds } from "../../client/chat-server";
import { beforeBlankLine, behindEvent, inCharacter, inFieldName, inLine, type Plan } from "../../client/cutting-proxy";
import { withoutSaid } from "../../support/known-frames";

const MINUTES = 60_000;
const QUESTION = "我的狗叫什么名字？🐕";
const PIECES = ["你的狗", "叫做", "“雷克斯”", "，是一只", "很好的🐕‍🦺", "狗。", " It is called", " Rex."];

let chat: ChatServer;

beforeAll(async () => {
  chat = await ChatServer.start();
}, 2 * MINUTES);
afterAll(() => chat?.close());

/** Streams one message and holds what the caller saw to what the session keeps. */
async function streamOne(
  session: string,
  { longhand = chat.longhand, question = QUESTION }: { longhand?: Longhand; question?: string } = {},
) {
  const seen: StreamEvent[] = [];
  const texts: string[] = [];
  const stream = longhand.stream(session, question);
  for await (const event of stream) {
    seen.push(event);
    texts.push(stream.text);
  }
  const turn = await stream.turn();
  return { seen, texts, turn, stream };
}

async function collect(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const all: StreamEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const randomPlan = (): Plan => {
  const random = createRandom(inject("seed"));
  return () => {
    const bytes = random.between(-100, 1_500);
    return bytes < 0 ? "before_headers" : (sent) => (sent.length > bytes ? bytes : null);
  };
};

const everyOther =
  (fault: ReturnType<Plan>): Plan =>
  (nth) =>
    nth % 2 === 0 ? fault : behindEvent(1);

const PLANS: readonly (readonly [string, () => Plan])[] = [
  ["behind every event", () => () => behindEvent(1)],
  ["behind every second event", () => () => behindEvent(2)],
  ["in the middle of a line", () => () => inLine],
  ["in a field's name", () => () => inFieldName],
  ["between the line and the blank line that completes the event", () => () => beforeBlankLine],
  ["in the middle of a character", () => () => inCharacter],
  ["before the headers, and behind every event", () => everyOther("before_headers")],
  ["anywhere", randomPlan],
];

describe.each(PLANS)("a stream that is cut %s", (_, makePlan) => {
  test("shows the caller each event of a turn once and in order, and the record has each message once", async () => {
    const session = await chat.openSession();
    chat.provider.enqueue(chat.speak(PIECES));
    chat.proxy.plan(makePlan());

    const { seen, texts, turn, stream } = await streamOne(session);

    expect(chat.proxy.cuts).toBeGreaterThan(2);
    expect(seen).toEqual(await chat.readKept(session, turn.id));
    expectOrder(seen);
    expect(stream.text).toBe(PIECES.join(""));
    expect(turn.output_text).toBe(stream.text);
    expect(texts.filter((text) => !turn.output_text.startsWith(text))).toEqual([]);
    expect(await chat.listTexts(session)).toEqual([`user: ${QUESTION}`, `assistant: ${PIECES.join("")}`]);
  });

  test("shows a compaction in the middle of a turn", async () => {
    const session = await chat.openSession({ small: true });
    chat.proxy.plan(() => "pass");
    for (let n = 0; n < 6; n++) {
      chat.provider.enqueue({ text: `${n}：${"历史很长。".repeat(30)}` });
      await chat.longhand.send(session, `${n}? ${"很长的问题。".repeat(30)}`);
    }
    chat.provider.enqueue(chat.speak(PIECES));
    chat.proxy.plan(makePlan());

    const { seen, turn, stream } = await streamOne(session, { question: "很长的问题。".repeat(90) });

    expect(turn.status).toBe("completed");
    expect(seen).toEqual(await chat.readKept(session, turn.id));
    expectOrder(seen);
    expect(stream.text).toBe(PIECES.join(""));
    expect(seen.map(({ type }) => type).filter((type) => /compaction|notice/.test(type))).not.toEqual([]);
  });
});

describe("a stream", () => {
  test("that a server cuts by kill -9 goes on with the server's next life, and ends as the record says", async () => {
    const mortal = await MortalChatServer.start();
    onTestFinished(() => mortal.close());
    const session = await mortal.openSession();
    mortal.proxy.plan(() => "pass");
    const killed = Promise.withResolvers<void>();
    async function* speak() {
      yield* mortal.speak(PIECES.slice(0, 4));
      await killed.promise;
    }
    mortal.provider.enqueue(speak());
    const seen: StreamEvent[] = [];
    let isKilled = false;
    const stream = mortal.longhand.stream(session, QUESTION);
    for await (const event of stream) {
      seen.push(event);
      // Several pieces may come in one event.
      if (isKilled || stream.text.length < PIECES.slice(0, 3).join("").length) continue;
      isKilled = true;
      await mortal.restart();
      killed.resolve();
    }
    const turn = await stream.turn();

    expect(seen.at(-1)?.type).toBe(`turn.${turn.status}`);
    expect(turn.status).toBe("interrupted");
    expect(stream.text).toBe(turn.output_text);
    expect(settleRewinds(seen)).toEqual(await mortal.readKept(session, turn.id));
    expect(await mortal.listTexts(session)).toEqual([`user: ${QUESTION}`, `assistant: ${turn.output_text}`]);
  }, 120_000);

  test("that stays open without a byte is taken for lost and resumed", async () => {
    const session = await chat.openSession();
    chat.provider.enqueue(chat.speak(PIECES));
    chat.proxy.plan((nth) => (nth < 3 ? "stall" : "pass"));

    const { seen, turn } = await streamOne(session, { longhand: chat.connect({ silenceMs: 200 }) });

    expect(chat.proxy.streams).toBeGreaterThanOrEqual(4);
    expect(seen).toEqual(await chat.readKept(session, turn.id));
    expect(turn.output_text).toBe(PIECES.join(""));
  });

  test("that breaks again and again without an event is given up on, and the message is said once", async () => {
    const session = await chat.openSession();
    chat.provider.enqueue({ text: "Rex." });
    chat.proxy.plan(() => () => 0);
    const stream = chat.connect({ retries: 1 }).stream(session, QUESTION);

    await expect(collect(stream)).rejects.toMatchObject({ name: "LonghandError", code: "connection_failed" });
    expect(chat.proxy.cuts).toBe(2);
    chat.proxy.plan(() => "pass");
    expect((await stream.turn()).output_text).toBe("Rex.");
    expect(await chat.listTexts(session)).toEqual([`user: ${QUESTION}`, "assistant: Rex."]);
  });

  test("that is left releases its connection and leaves the turn running; turn() then reads on to its end", async () => {
    const session = await chat.openSession();
    const left = Promise.withResolvers<void>();
    async function* speak() {
      yield "Rex";
      await left.promise;
      yield " it is.";
    }
    chat.provider.enqueue(speak());
    chat.proxy.plan(() => "pass");
    const stream = chat.longhand.stream(session, QUESTION);
    for await (const { type } of stream) if (type === "text.delta") break;
    await chat.proxy.idle();
    left.resolve();

    expect(stream.text).toBe("Rex");
    expect((await stream.turn()).output_text).toBe("Rex it is.");
    expect(stream.text).toBe("Rex it is.");
  });

  test("is read by one reader: a second one is refused, and turn() inside of the loop takes nothing from it", async () => {
    const session = await chat.openSession();
    chat.provider.enqueue({ text: "Rex it is, and Rex it was." });
    chat.proxy.plan(() => "pass");
    const stream = chat.longhand.stream(session, QUESTION);
    const seen: StreamEvent[] = [];
    for await (const event of stream) {
      if (seen.push(event) === 1) expect((await stream.turn()).status).toBe("completed");
      expect(() => stream[Symbol.asyncIterator]()).toThrow("read already");
    }

    expect(seen).toEqual(await chat.readKept(session, (await stream.turn()).id));
    expect(() => stream[Symbol.asyncIterator]()).toThrow("read already");
  });

  test("that is not iterated is sent by turn()", async () => {
    const session = await chat.openSession();
    chat.provider.enqueue({ text: "Rex." });
    chat.proxy.plan(() => behindEvent(1));
    const stream = chat.longhand.stream(session, QUESTION);

    expect((await stream.turn()).output_text).toBe("Rex.");
    expect(stream.text).toBe("Rex.");
  });

  test("of results and messages together is theirs alone, and they are recorded once over cuts", async () => {
    const session = await chat.openSession();
    chat.provider.enqueue({ tool_calls: [{ id: "a", name: "look", arguments: "{}" }] }, chat.speak(PIECES));
    chat.proxy.plan(() => "pass");
    const tools = [{ name: "look", parameters: { type: "object" } }];
    const waiting = await chat.longhand.send(session, { content: QUESTION, tools });
    chat.proxy.plan(() => behindEvent(1));
    const stream = chat.longhand.respond(session, { results: [{ call_id: "a", output: "42" }], messages: [{ content: "所以？" }] });

    const seen = await collect(stream);
    const turn = await stream.turn();

    expect(chat.proxy.cuts).toBeGreaterThan(2);
    expect(seen).toEqual(await chat.readKept(session, turn.id));
    expect([turn.output_text, turn.id === waiting.id]).toEqual([PIECES.join(""), false]);
    expect(await chat.listTexts(session)).toEqual([
      `user: ${QUESTION}`,
      "assistant: ",
      "tool: 42",
      "user: 所以？",
      `assistant: ${PIECES.join("")}`,
    ]);
  });

  test("that is aborted ends with the signal's reason, and the turn goes on", async () => {
    const session = await chat.openSession();
    const left = Promise.withResolvers<void>();
    async function* speak() {
      yield "Rex";
      await left.promise;
    }
    chat.provider.enqueue(speak());
    chat.proxy.plan(() => "pass");
    const leaving = new AbortController();
    const stream = chat.longhand.stream(session, QUESTION, { signal: leaving.signal });
    const read = async () => {
      for await (const { type } of stream) if (type === "text.delta") leaving.abort(new Error("Enough."));
    };

    await expect(read()).rejects.toThrow("Enough.");
    left.resolve();
    const { data } = await chat.longhand.get("/v1/sessions/{session_id}/turns", { path: { session_id: session } });
    expect(data.map(({ status }) => status)).not.toEqual(["stopped"]);
  });

  test("of a key and an offset of an earlier program continues there", async () => {
    const session = await chat.openSession();
    chat.provider.enqueue({ text: "Rex." });
    chat.proxy.plan(() => "pass");
    const first = await collect(chat.longhand.stream(session, QUESTION, { idempotencyKey: "mine" }));
    const after = first[2]?.offset ?? 0;
    const second = await collect(chat.longhand.stream(session, QUESTION, { idempotencyKey: "mine", after }));

    expect(second).toEqual(first.slice(3));
  });

  test("of a session that is erased meanwhile ends with that", async () => {
    const session = await chat.openSession();
    const erased = Promise.withResolvers<void>();
    async function* speak() {
      yield "Rex";
      await erased.promise;
    }
    chat.provider.enqueue(speak());
    chat.proxy.plan(() => "pass");
    const seen: string[] = [];
    const stream = chat.longhand.stream(session, QUESTION);
    for await (const { type } of stream) {
      seen.push(type);
      if (type !== "text.delta") continue;
      await chat.longhand.delete("/v1/sessions/{session_id}", { path: { session_id: session } });
      erased.resolve();
    }

    // The erasure stops the turn, whose own stream may end with that.
    expect(["turn.stopped", "session.erased"]).toContain(seen.at(-1));
    await expect(stream.turn()).rejects.toMatchObject({ status: 404, code: "session_erased" });
  });
});

describe("following a session", () => {
  test("tells every event of every turn once and in order, over cuts, and ends when the session is erased", async () => {
    const session = await chat.openSession();
    chat.proxy.plan(() => behindEvent(1));
    const seen: StreamEvent[] = [];
    const follow = async () => {
      for await (const event of chat.longhand.follow(session, { after: 0 })) {
        seen.push(event);
        const isLast = event.type === "turn.completed" && seen.filter(({ type }) => type === event.type).length === 3;
        if (isLast) await chat.longhand.delete("/v1/sessions/{session_id}", { path: { session_id: session } });
      }
    };
    const kept: StreamEvent[] = [];
    const talk = async () => {
      for (const text of ["一", "二", "三"]) {
        // The last turn's reader is not cut any more, so that it is there when the session ends.
        if (text === "三") chat.proxy.plan(() => "pass");
        chat.provider.enqueue({ text: `${text}只狗。` });
        const turn = await chat.longhand.send(session, QUESTION);
        if (text !== "三") kept.push(...(await chat.readKept(session, turn.id)));
      }
    };
    await Promise.all([talk(), follow()]);

    expect(seen.at(-1)?.type).toBe("session.erased");
    const ofTurns = seen.filter((event) => "turn_id" in event && event.turn_id !== null);
    expect(withoutSaid(ofTurns.slice(0, kept.length))).toEqual(kept);
    const asked = ofTurns.filter(({ type }) => type === "message.accepted");
    const said = { role: "user", content: [{ type: "text", text: QUESTION }] };
    expect(asked).toMatchObject([said, said, said]);
    expect(ofTurns.filter(({ type }) => type === "turn.completed")).toHaveLength(3);
    expectOrder(seen);
  });

  test("without an offset begins now, and a cut before the first event loses none", async () => {
    const session = await chat.openSession();
    chat.provider.enqueue({ text: "before" }, { text: "after" });
    await chat.longhand.send(session, "one");
    chat.proxy.plan((nth) => (nth === 0 ? () => 0 : "pass"));
    const events = chat.longhand.follow(session);
    const first = events.next();
    await chat.proxy.moved();
    await chat.longhand.send(session, "two");

    expect((await first).value).toMatchObject({ type: "message.accepted" });
    const rest: StreamEvent[] = [];
    for await (const event of events) {
      rest.push(event);
      if (event.type === "turn.completed") break;
    }
    expect(rest.flatMap((event) => (event.type === "text.delta" ? [event.text] : [])).join("")).toBe("after");
  });

  test("of an unknown session is refused, and not tried for ever", async () => {
    const events = chat.longhand.follow("ses_01JD8Z3V6Q4N7R2T5W9X0Y1ABC", { after: 0 });
    await expect(events.next()).rejects.toMatchObject({ status: 404 });
  });
});
