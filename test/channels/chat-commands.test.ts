/** What the bot does by itself: commands, access, words, approvals, and changes of messages. */
import { describe, expect, it } from "vitest";
import type { OutboundAct } from "../../src/app/channels/channel";
import { findWords } from "../../src/app/channels/words/words";
import { ChatWorld, outcome, type SendAct, toDelivery, toMessage } from "./chat-life";

const last = (world: ChatWorld): SendAct | undefined => world.sent.at(-1);
const EN = findWords("en");

/** A conversation of one question and its answer. */
async function talking(change: ConstructorParameters<typeof ChatWorld>[0] = {}): Promise<ChatWorld> {
  const world = new ChatWorld(change);
  await world.receive(toMessage("Hello.", { id: "d1", message: "m1" }));
  await world.answer("Good day.");
  return world;
}

describe("a command", () => {
  it("that the channel does not have is a message like any other", async () => {
    const world = new ChatWorld({ settings: { commands: [] } });
    await world.receive(toMessage("/help"));
    expect(world.life.call.messages).toEqual(["user: /help"]);
  });

  it("/help lists the commands that the channel has", async () => {
    const world = new ChatWorld({ settings: { commands: ["help", "reset"] } });
    await world.receive(toMessage("/help"));
    expect(last(world)?.text.text).toBe(`${EN.help}\n- /help: ${EN.commands.help}\n- /reset: ${EN.commands.reset}`);
  });

  it("/reset begins another session and stops the turn under way, and the old session stays", async () => {
    const world = await talking();
    await world.receive(toMessage("More?", { id: "d2" }));
    await world.receive(toMessage("/reset", { id: "d3" }));
    await world.receive(toMessage("Who are you?", { id: "d4" }));

    expect(world.opened.map(({ external_id }) => external_id)).toEqual(["support/chat:c1/1", "support/chat:c1/3"]);
    expect(world.life.call.messages).toEqual(["user: Who are you?"]);
    expect(world.texts).toEqual(["Good day.", EN.reset]);
    expect(world.erased).toEqual([]);
  });

  it("/undo takes back the last question with its answer", async () => {
    const world = await talking();
    await world.receive(toMessage("/undo", { id: "d2" }));
    await world.receive(toMessage("Who are you?", { id: "d3" }));

    expect(world.life.call.messages).toEqual(["user: Who are you?"]);
    expect(world.texts).toEqual(["Good day.", EN.undone]);
  });

  it("/context says how full the memory is, and /compact that there is nothing to do", async () => {
    const world = await talking();
    await world.receive(toMessage("/context", { id: "d2" }), toMessage("/compact", { id: "d3" }));
    expect(world.texts.slice(1)).toEqual([
      expect.stringMatching(/^My memory of this conversation is \d+ % full\.$/),
      EN.nothing_to_compact,
    ]);
  });

  it("/forget erases all sessions of the conversation, once the person has confirmed it by a button", async () => {
    const world = await talking();
    await world.receive(toMessage("/forget", { id: "d2" }));
    const [yes] = last(world)?.buttons ?? [];
    expect(world.erased).toEqual([]);
    await world.receive(toDelivery({ type: "button", message: "p2", data: yes?.data ?? "" }, { id: "d3" }));

    expect(world.erased).toHaveLength(1);
    expect(last(world)?.text.text).toBe(EN.forgotten);
    await world.receive(toMessage("Hello?", { id: "d4" }));
    expect(world.life.call.messages).toEqual(["user: Hello?"]);
  });

  it("/forget is confirmed by the same command where a platform has no buttons, within five minutes", async () => {
    const world = await talking({ traits: { max_buttons: 0 } });
    await world.receive(toMessage("/forget", { id: "d2" }));
    await world.advance(6 * 60_000);
    await world.receive(toMessage("/forget", { id: "d3" }));
    expect(world.erased).toEqual([]);
    await world.receive(toMessage("/forget", { id: "d4" }));
    expect(world.erased).toHaveLength(1);
  });

  it("/forget of one person is not confirmed by another", async () => {
    const world = await talking();
    await world.receive(toMessage("/forget", { id: "d2" }));
    const [yes] = last(world)?.buttons ?? [];
    await world.receive(toDelivery({ type: "button", message: "p2", data: yes?.data ?? "" }, { id: "d3", user: "u2" }));
    expect(world.erased).toEqual([]);
  });
});

describe("access", () => {
  it("answers a stranger once a day, and begins no session", async () => {
    const world = new ChatWorld({ settings: { access: { mode: "allow_list", users: ["u9"] } } });
    await world.receive(toMessage("Hello.", { id: "d1" }), toMessage("Hello?", { id: "d2" }));
    expect(world.texts).toEqual([EN.stranger]);
    await world.advance(24 * 60 * 60_000);
    await world.receive(toMessage("Hello!", { id: "d3" }));

    expect(world.texts).toEqual([EN.stranger, EN.stranger]);
    expect(world.opened).toEqual([]);
  });

  it("pairs a person by the code, who is known at once", async () => {
    const world = new ChatWorld({ settings: { access: { mode: "pairing", users: [] } } });
    await world.receive(toMessage("Hello.", { id: "d1" }));
    await world.receive(toMessage("/start CODE-1234", { id: "d2" }));
    await world.receive(toMessage("Hello.", { id: "d3" }));

    expect(world.texts).toEqual([EN.pair, EN.paired]);
    expect(world.paired).toEqual(["u1"]);
    expect(world.life.call.messages).toEqual(["user: Hello."]);
  });

  it("leaves unrecorded what is said in a group to others", async () => {
    const world = new ChatWorld();
    const event = { type: "message", message: "m1", text: "Lunch?", files: [], command: null, is_addressed: false } as const;
    await world.receive(toDelivery(event, { isGroup: true }));
    expect([world.opened, world.count("deliveries")]).toEqual([[], 0]);
  });

  it("names the writer to the model in a group, and gives the group's session to no person", async () => {
    const world = new ChatWorld();
    await world.receive(toMessage("Hello.", { isGroup: true, name: "Ada\nLovelace" }));
    expect(world.life.call.messages).toEqual([expect.stringMatching(/^user: .*Ada Lovelace.*Hello\.$/s)]);
    expect(world.opened).toMatchObject([{ end_user: null }]);
  });
});

describe("a refusal of the session", () => {
  it("becomes words once in ten minutes, and the message is not tried again", async () => {
    const world = new ChatWorld();
    world.sessionRefusal = { kind: "refused", code: "session_limit" };
    await world.receive(toMessage("One.", { id: "d1" }), toMessage("Two.", { id: "d2" }));
    await world.advance(60_000);

    expect(world.texts).toEqual([EN.busy]);
    expect(world.opened).toHaveLength(2);
    expect(world.count("deliveries")).toBe(0);
  });

  it("that may pass by itself is waited out", async () => {
    const world = new ChatWorld();
    world.sessionRefusal = { kind: "again", code: "models_unavailable" };
    await world.receive(toMessage("One."));
    world.sessionRefusal = null;
    await world.advance(2_000);
    expect(world.life.call.messages).toEqual(["user: One."]);
  });
});

describe("a tool", () => {
  const CALL = { type: "tool_call", call: { type: "tool_call", call_id: "c1", name: "book", arguments: "{}" } } as const;
  const FINISH = { type: "finish", finish: "tool_calls", usage: null } as const;

  async function asking(runs: "server" | "client"): Promise<ChatWorld> {
    const world = await talking();
    const { life } = world;
    const session = world.store.sessions.current();
    if (!session) throw new Error("no session");
    const by = runs === "server" ? { runs: { by: "http", tool: "book" } as const } : {};
    const tools = [{ name: "book", parameters: { type: "object" }, ...by }];
    life.tools = { needsApproval: async () => true, run: async () => ({ output: "Booked.", failure: null }) };
    await life.service.patch({ tenant: "ten_01HZZZZZZZ0000000000000001" as never, session }, { tools });
    await world.receive(toMessage("Book it.", { id: "d2" }));
    life.call.say(CALL, FINISH);
    await world.rest();
    return world;
  }

  const press = (world: ChatWorld, n: number, told: { readonly id: string; readonly user?: string }) => {
    const asked = world.sent.find(({ buttons }) => buttons.length > 0);
    return world.receive(toDelivery({ type: "button", message: "p2", data: asked?.buttons[n]?.data ?? "" }, told));
  };

  it("that needs approval is asked about by buttons, and runs once when yes is pressed twice", async () => {
    const world = await asking("server");
    expect(last(world)).toMatchObject({ text: { text: EN.approve_ask("book") }, buttons: [{ label: "Yes" }, { label: "No" }] });
    await press(world, 0, { id: "d3" });
    await press(world, 0, { id: "d4" });
    await world.answer("It is booked.");

    expect(world.texts).toEqual(["Good day.", EN.approve_ask("book"), EN.approved("book"), "It is booked."]);
    expect(world.acts.filter(({ type }: OutboundAct) => type === "acknowledge_button")).toHaveLength(2);
  });

  it("is not approved by another person", async () => {
    const world = await asking("server");
    await press(world, 0, { id: "d3", user: "u2" });
    expect(world.texts).toEqual(["Good day.", EN.approve_ask("book")]);
  });

  it("of a client cannot be served in a chat, and the turn ends with words", async () => {
    const world = await asking("client");
    expect(last(world)?.text.text).toBe(EN.no_client_tools);
    await world.receive(toMessage("Then not.", { id: "d3" }));
    await world.answer("Fine.");
    expect(last(world)?.text.text).toBe("Fine.");
  });
});

describe("a message that its person changes", () => {
  it("is answered again if it is the newest", async () => {
    const world = await talking();
    await world.receive(toDelivery({ type: "edit", message: "m1", text: "Good evening." }, { id: "d2" }));
    expect(world.life.call.messages).toEqual(["user: Good evening."]);
    await world.answer("Good night.");
    expect(world.texts).toEqual(["Good day.", "Good night."]);
  });

  it("while it is answered has one answer: to what it says at last", async () => {
    const world = new ChatWorld();
    await world.receive(toMessage("Hello.", { message: "m1" }));
    await world.receive(toDelivery({ type: "edit", message: "m1", text: "Good evening." }, { id: "d2" }));
    await world.answer("Good night.");
    expect(world.texts).toEqual(["Good night."]);
  });

  it("and that is older is redacted, and its new text follows without a turn", async () => {
    const world = await talking();
    await world.receive(toMessage("And you?", { id: "d2", message: "m2" }));
    await world.answer("Fine.");
    const calls = world.life.calls.length;
    await world.receive(toDelivery({ type: "edit", message: "m1", text: "Good evening." }, { id: "d3" }));
    expect(world.life.calls).toHaveLength(calls);
    await world.receive(toMessage("What did I say?", { id: "d4", message: "m4" }));

    const said = world.life.call.messages.join("\n");
    expect(said).not.toContain("Hello.");
    expect(said).toContain("Good evening.");
  });

  it("is redacted when it is deleted, also while it is answered", async () => {
    const world = new ChatWorld();
    await world.receive(toMessage("My code is 4711.", { message: "m1" }));
    await world.receive(toDelivery({ type: "deletion", message: "m1" }, { id: "d2" }));
    await world.receive(toMessage("What is it?", { id: "d3", message: "m3" }));
    expect(world.life.call.messages.join("\n")).not.toContain("4711");
    expect(world.texts).toEqual([]);
  });
});

describe("a reply that grows", () => {
  const STREAMING = { settings: { streaming: true }, traits: { edits: { every_ms: 1_000 }, typing: { every_ms: 4_000 } } };

  it("is one message: begun with the first text, edited at the platform's pace, and last with the whole text", async () => {
    const world = new ChatWorld(STREAMING);
    await world.receive(toMessage("Hello."));
    world.life.call.say({ type: "text", text: "Good" });
    await world.rest();
    await world.advance(1_000);
    world.life.call.say({ type: "text", text: " day" });
    await world.rest();
    await world.advance(1_000);
    await world.answer(", Ada.");

    expect(world.sent.map(({ type }) => type)).toEqual(["send", "edit", "edit"]);
    expect(world.texts).toEqual(["Good", "Good day", "Good day, Ada."]);
  });

  it("goes on in further messages when it is too long for one", async () => {
    const world = new ChatWorld(STREAMING);
    await world.receive(toMessage("Hello."));
    world.life.call.say({ type: "text", text: "a".repeat(80) });
    await world.rest();
    await world.advance(1_000);
    await world.answer(`\n\n${"b".repeat(80)}`);

    expect(world.sent.map(({ type }) => type)).toEqual(["send", "edit", "send"]);
    expect(world.texts.at(-1)).toBe("b".repeat(80));
  });

  it("asks the platform for nothing while all that it gains is for the messages after the first", async () => {
    const world = new ChatWorld(STREAMING);
    await world.receive(toMessage("Hello."));
    for (let n = 0; n < 10; n++) {
      world.life.call.say({ type: "text", text: `${"a".repeat(60)}\n\n` });
      await world.rest();
      await world.advance(1_000);
    }

    expect(world.sent.map(({ type }) => type)).toEqual(["send"]);
  });

  it("is not begun a second time when the first message is in doubt: what follows it is sent", async () => {
    const world = new ChatWorld({ ...STREAMING, traits: { edits: { every_ms: 1_000 } } });
    world.answers.push({ kind: "no_answer" });
    await world.receive(toMessage("Hello."));
    world.life.call.say({ type: "text", text: "Good" });
    await world.rest();
    await world.advance(1_000);
    await world.answer(" day, Ada.");

    expect(world.texts).toEqual(["Good", "day, Ada."]);
    expect(world.notes).toMatchObject([{ reason: "in doubt: no answer" }]);
  });

  it("shows that the bot types until there is text", async () => {
    const world = new ChatWorld(STREAMING);
    await world.receive(toMessage("Hello."));
    await world.advance(4_000);
    expect(world.acts.map(({ type }) => type)).toEqual(["typing", "typing"]);
    await world.answer("Good day.");
    await world.advance(8_000);
    expect(world.acts.map(({ type }) => type)).toEqual(["typing", "typing", "send"]);
  });

  it("is the first answer to its delivery, and no part after it is", async () => {
    const world = new ChatWorld();
    await world.receive(toMessage("Hello."));
    await world.answer(`${"a".repeat(80)}\n\n${"b".repeat(80)}`);
    expect(world.sent.map((act) => act.type === "send" && act.is_first)).toEqual([true, false]);
  });
});

describe("a chat that has moved", () => {
  it("gets what waits for the old place at the new one", async () => {
    const world = new ChatWorld();
    const to = { chat: "c2", thread: null, is_private: true, target: { chat: "c2" } };
    world.answers.push(outcome({ kind: "refused", reason: "migrated", moved_to: to }));
    await world.receive(toMessage("Hello."));
    await world.answer(`${"a".repeat(80)}\n\n${"b".repeat(80)}`);
    expect(world.sent.map(({ place }) => place.chat)).toEqual(["c1", "c2", "c2"]);
  });
});
