/** How a message travels through a chat's object: once into its session, and its reply once to the platform. */
import { describe, expect, it } from "vitest";
import { findWords } from "../../src/app/channels/words/words";
import { err } from "../../src/lib/result";
import { failure, MESSAGE } from "../session/life";
import { id, TENANT } from "../support/builders";
import { ADDRESS, ChatWorld, outcome, toMessage } from "./chat-life";

describe("a message", () => {
  it("begins the conversation's session, is answered by a turn, and the reply goes where it came from", async () => {
    const world = new ChatWorld();
    await world.receive(toMessage("Hello."));
    await world.answer("Good day.");

    expect(world.opened).toMatchObject([{ external_id: "support/chat:c1/1", end_user: "generic:u1", metadata: { channel: "support" } }]);
    expect(world.life.call.messages).toEqual(["user: Hello."]);
    expect(world.sent).toMatchObject([{ type: "send", place: { chat: "c1" }, text: { text: "Good day." } }]);
  });

  it("leaves no text here once its reply is sent", async () => {
    const world = new ChatWorld();
    await world.receive(toMessage("Hello."));
    await world.answer("Good day.");

    expect([world.count("deliveries"), world.count("turns"), world.count("parts")]).toEqual([0, 0, 0]);
  });

  it("that is delivered again begins no second turn, also while the first is under way", async () => {
    const world = new ChatWorld();
    expect(await world.receive(toMessage("Hello."), toMessage("Hello."))).toEqual(["d1"]);
    expect(await world.receive(toMessage("Hello."))).toEqual([]);
    await world.answer("Good day.");
    expect(await world.receive(toMessage("Hello."))).toEqual([]);

    expect(world.life.calls).toHaveLength(1);
    expect(world.texts).toEqual(["Good day."]);
  });

  it("is stored while its channel is out of reach, and waits", async () => {
    const world = new ChatWorld();
    world.channel = "away";
    expect(await world.receive(toMessage("Hello."))).toEqual(["d1"]);
    expect(world.lives.size).toBe(0);
    world.channel = "there";
    await world.advance(60_000);
    await world.answer("Good day.");

    expect(world.texts).toEqual(["Good day."]);
  });

  it("waits behind the one before it", async () => {
    const world = new ChatWorld();
    await world.receive(toMessage("One."), toMessage("Two.", { id: "d2" }));
    await world.answer("First.");
    await world.answer("Second.");

    expect(world.texts).toEqual(["First.", "Second."]);
    expect(world.life.call.messages).toEqual(["user: One.", "assistant: First.", "user: Two."]);
  });
});

describe("a life that ends", () => {
  it("before the session is opened leaves the delivery to the next one", async () => {
    const world = new ChatWorld();
    world.chat.receive(ADDRESS, [toMessage("Hello.")]);
    world.die();
    await world.advance(60_000);
    await world.answer("Good day.");

    expect(world.texts).toEqual(["Good day."]);
  });

  it("while the turn runs leaves the turn to the next one", async () => {
    const world = new ChatWorld();
    await world.receive(toMessage("Hello."));
    world.die();
    await world.answer("Good day.");
    expect(world.texts).toEqual([]);
    await world.advance(60_000);

    expect(world.texts).toEqual(["Good day."]);
  });

  it("while the platform is asked leaves a doubt: the part is not sent again, and the channel's log says so", async () => {
    const world = new ChatWorld();
    world.answers.push(new Promise(() => undefined));
    await world.receive(toMessage("Hello."));
    await world.answer("Good day.");
    world.die();
    await world.advance(60_000);

    expect(world.texts).toEqual(["Good day."]);
    expect(world.notes).toMatchObject([{ kind: "reply_failed", reason: "in doubt: interrupted" }]);
    expect(world.count("parts")).toBe(0);
  });

  it("before the log has the line about a doubt leaves the line to the next one", async () => {
    const world = new ChatWorld();
    world.answers.push({ kind: "no_answer" });
    world.log = "silent";
    await world.receive(toMessage("Hello."));
    await world.answer("Good day.");
    world.die();
    world.log = "there";
    await world.advance(60_000);

    expect(world.texts).toEqual(["Good day."]);
    expect(world.notes).toMatchObject([{ kind: "reply_failed", reason: "in doubt: interrupted" }]);
  });

  it("before the log has the line about a reply that grew leaves the line to the next one", async () => {
    const world = new ChatWorld({ settings: { streaming: true }, traits: { edits: { every_ms: 1_000 } } });
    world.answers.push({ kind: "no_answer" });
    world.log = "silent";
    await world.receive(toMessage("Hello."));
    world.life.call.say({ type: "text", text: "Good" });
    await world.rest();
    await world.advance(1_000);
    world.die();
    world.log = "there";
    await world.answer(" day.");
    await world.advance(60_000);

    expect(world.texts).toEqual(["Good", "day."]);
    expect(world.notes).toMatchObject([{ kind: "reply_failed", reason: "in doubt: interrupted" }]);
  });

  it("while an idempotent platform is asked sends the part again, under the same operation", async () => {
    const world = new ChatWorld({ traits: { is_idempotent: true } });
    world.answers.push(new Promise(() => undefined));
    await world.receive(toMessage("Hello."));
    await world.answer("Good day.");
    world.die();
    await world.advance(60_000);

    const [first, second] = world.sent;
    expect(world.sent).toHaveLength(2);
    expect(second?.operation).toBe(first?.operation);
    expect(world.notes).toEqual([]);
  });
});

describe("a reply", () => {
  it("waits for the one before it, also when that turn was out of reach", async () => {
    const world = new ChatWorld();
    await world.receive(toMessage("One."), toMessage("Two.", { id: "d2" }));
    world.unreachable.push("turn");
    await world.answer("First.");
    await world.answer("Second.");
    expect(world.texts).toEqual([]);
    await world.advance(5_000);

    expect(world.texts).toEqual(["First.", "Second."]);
  });

  it("waits for the one before it, also when that one's person was told that a file has no room", async () => {
    const world = new ChatWorld();
    world.file = err({ reason: "file_limit" });
    const file = { ref: "f", name: "a.pdf", media_type: null, bytes: null };
    world.unreachable.push("stream", "turn", "stream", "turn");
    const first = toMessage("One.");
    if (first.event.type !== "message") throw new Error("no message");
    await world.receive({ ...first, event: { ...first.event, files: [file] } });
    await world.answer("First.");
    await world.receive(toMessage("Two.", { id: "d2" }));
    await world.answer("Second.");
    await world.advance(10_000);

    expect(world.texts.slice(1)).toEqual(["First.", "Second."]);
  });

  it("behind a turn of another client, which waits for its tool, holds no stream open for long", async () => {
    const world = new ChatWorld();
    await world.receive(toMessage("Hello."));
    await world.answer("Good day.");
    const { life } = world;
    const caller = { tenant: TENANT, session: world.store.sessions.current() ?? id("ses", 1) };
    await life.service.patch(caller, { tools: [{ name: "look", parameters: { type: "object" } }] });
    await life.service.submit(caller, MESSAGE);
    await world.receive(toMessage("And now?", { id: "d2" }));
    const call = { type: "tool_call", call_id: "c1", name: "look", arguments: "{}" } as const;
    life.call.say({ type: "tool_call", call }, { type: "finish", finish: "tool_calls", usage: null });
    for (let minutes = 0; minutes < 25; minutes++) await world.advance(60_000);
    const rests = (world.alarmAt ?? 0) - world.time.now();
    await life.service.stop(caller, { idempotency: null });
    await world.advance(10 * 60_000);
    await world.answer("Still good.");

    expect(world.texts).toEqual(["Good day.", "Still good."]);
    expect(rests).toBeGreaterThan(60_000);
  });

  it("is not held up by a log that stays silent", async () => {
    const world = new ChatWorld();
    world.answers.push({ kind: "no_answer" });
    world.log = "silent";
    await world.receive(toMessage("Hello."), toMessage("More.", { id: "d2" }));
    await world.answer("Good day.");
    await world.answer("Good night.");
    await world.advance(5_000);

    expect(world.texts).toEqual(["Good day.", "Good night."]);
  });

  it("that is too long for one message is sent in parts, in order", async () => {
    const world = new ChatWorld();
    await world.receive(toMessage("Hello."));
    await world.answer(["a".repeat(80), "b".repeat(80), "c".repeat(80)].join("\n\n"));

    expect(world.texts).toEqual(["a".repeat(80), "b".repeat(80), "c".repeat(80)]);
  });

  it("waits as long as the platform asks", async () => {
    const world = new ChatWorld();
    world.answers.push(outcome({ kind: "rate_limited", retry_in_ms: 40_000 }));
    await world.receive(toMessage("Hello."));
    await world.answer("Good day.");
    await world.advance(39_000);
    expect(world.texts).toHaveLength(1);
    await world.advance(2_000);

    expect(world.texts).toEqual(["Good day.", "Good day."]);
  });

  it("that did not leave is sent again without a doubt, also to a platform that recognises no repetition", async () => {
    const world = new ChatWorld();
    world.answers.push({ kind: "not_sent", reason: "unreachable" });
    await world.receive(toMessage("Hello."));
    await world.answer("Good day.");
    await world.advance(2_000);

    expect(world.sent.map(({ operation }) => operation)).toEqual([world.sent[0]?.operation, world.sent[0]?.operation]);
    expect([world.notes, world.count("parts")]).toEqual([[], 0]);
  });

  it("that the platform cannot take is tried for a day, and then given up", async () => {
    const world = new ChatWorld();
    world.answers.push(...Array.from({ length: 400 }, () => outcome({ kind: "failed", reason: "status 503" })));
    await world.receive(toMessage("Hello."));
    await world.answer("Good day.");
    for (let hour = 0; hour < 25 * 12; hour++) await world.advance(5 * 60_000);

    expect(world.notes).toMatchObject([{ kind: "reply_failed", reason: "given up: status 503" }]);
    expect(world.count("parts")).toBe(0);
  });

  it("whose formatting is refused is sent again without it, and not a third time", async () => {
    const world = new ChatWorld();
    world.answers.push(outcome({ kind: "bad_format", reason: "entities" }), outcome({ kind: "bad_format", reason: "entities" }));
    await world.receive(toMessage("Hello."));
    await world.answer("Good day.");

    expect(world.sent.map(({ is_plain }) => is_plain)).toEqual([false, true]);
    expect(world.notes).toMatchObject([{ reason: "refused: entities" }]);
  });

  it("that is refused ends with all its parts", async () => {
    const world = new ChatWorld();
    world.answers.push(outcome({ kind: "refused", reason: "blocked" }));
    await world.receive(toMessage("Hello."));
    await world.answer(["a".repeat(80), "b".repeat(80)].join("\n\n"));

    expect(world.texts).toHaveLength(1);
    expect(world.count("parts")).toBe(0);
    expect(world.notes).toMatchObject([{ reason: "refused: blocked" }]);
  });

  it("keeps to the platform's pace", async () => {
    const world = new ChatWorld({ traits: { pace: { messages: 2, per_ms: 5_000 } } });
    await world.receive(toMessage("Hello."));
    await world.answer(["a", "b", "c"].map((letter) => letter.repeat(80)).join("\n\n"));
    expect(world.texts).toHaveLength(2);
    await world.advance(5_000);

    expect(world.texts).toHaveLength(3);
  });

  it("of a turn that fails is a plain sentence in the person's language", async () => {
    const world = new ChatWorld();
    await world.receive(toMessage("Hallo.", { language: "de-AT" }));
    world.life.call.say({ type: "failure", failure: { kind: "auth", status: 401 } });
    await world.rest();

    expect(world.texts).toEqual(["Ich konnte gerade nicht antworten. Bitte versuche es später noch einmal."]);
  });

  it("says in the person's language that the oldest part of the conversation was trimmed", async () => {
    const world = new ChatWorld();
    let answered = 0;
    for (let n = 1; n <= 4; n++) {
      await world.receive(toMessage("Wort ".repeat(3_000), { id: `d${n}`, language: "de-AT" }));
      for (; answered < world.life.calls.length; answered++) {
        const call = world.life.calls[answered];
        if (call?.request.purpose === "turn") call.say({ type: "text", text: "Ja." }, { type: "finish", finish: "stop", usage: null });
        else call?.say(failure("auth"));
        await world.rest();
      }
    }

    expect(new Set(world.texts)).toEqual(new Set(["Ja.", `Ja.\n\n_${findWords("de").trimmed}_`]));
  });
});
