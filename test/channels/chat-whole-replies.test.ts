/** Replies that are cut off, in doubt or held up: what people see of them is whole, and is there once. Found by the simulation of chats. */
import { describe, expect, it } from "vitest";
import { EN } from "../../src/app/channels/words/words-latin";
import { TENANT } from "../support/builders";
import { ChatWorld, toDelivery, toMessage } from "./chat-life";

const STREAMING = { settings: { streaming: true }, traits: { edits: { every_ms: 1_000 } } };

/** The first message of a reply is on its way, or was sent. */
async function begin(world: ChatWorld, text: string): Promise<void> {
  await world.receive(toMessage("Hello.", { id: "begins" }));
  world.life.call.say({ type: "text", text });
  await world.rest();
  await world.advance(1_000);
}

describe("a first message whose answer was lost", () => {
  it("is sent again under its operation where the platform knows operations, and is in no doubt", async () => {
    const world = new ChatWorld({ ...STREAMING, traits: { ...STREAMING.traits, is_idempotent: true } });
    world.answers.push({ kind: "no_answer" });
    await begin(world, "Good");
    await world.answer(" day, Ada.");

    const [first, again, rest] = world.sent;
    expect(world.texts).toEqual(["Good", "Good", "day, Ada."]);
    expect([again?.operation === first?.operation, rest?.operation === first?.operation]).toEqual([true, false]);
    expect(world.notes).toEqual([]);
  });

  it("and whose text came before a tool's call counts for nothing: the whole reply is sent", async () => {
    const world = new ChatWorld(STREAMING);
    await world.receive(toMessage("Hi."));
    await world.answer("Hi, Ada.");
    const session = world.store.sessions.current();
    if (!session) throw new Error("no session");
    world.life.tools = { needsApproval: async () => false, run: async () => ({ output: "Sunny.", failure: null }) };
    const tools = [{ name: "look", parameters: { type: "object" }, runs: { by: "http", tool: "look" } }] as const;
    await world.life.service.patch({ tenant: TENANT, session }, { tools });
    world.answers.push({ kind: "no_answer" });
    await begin(world, "I look.");
    const call = { type: "tool_call", call_id: "c1", name: "look", arguments: "{}" } as const;
    world.life.call.say({ type: "tool_call", call }, { type: "finish", finish: "tool_calls", usage: null });
    await world.advance(1_000);
    await world.answer("It is sunny.");

    expect(world.texts).toEqual(["Hi, Ada.", "I look.", "It is sunny."]);
  });

  it("and whose text is longer than what the session recorded counts as all of it", async () => {
    const world = new ChatWorld(STREAMING);
    world.answers.push({ kind: "no_answer" });
    await begin(world, "Good day, Ada.");
    const [turn] = world.sql.rows<{ live: string }>("SELECT live FROM turns");
    const live = { ...(JSON.parse(turn?.live ?? "{}") as object), units: 100, digest: "of a longer text" };
    world.sql.rows("UPDATE turns SET live = ?", JSON.stringify(live));
    await world.answer("");

    expect(world.texts).toEqual(["Good day, Ada."]);
  });
});

it("the words that a reply failed are behind the code block that it left open", async () => {
  const world = new ChatWorld();
  await world.receive(toMessage("Hello."));
  world.life.call.say(
    { type: "text", text: "See:\n\n```ts\nconst a = 1;" },
    { type: "failure", failure: { kind: "refused", status: null } },
  );
  await world.rest();

  expect(world.texts).toEqual([`See:\n\n\`\`\`ts\nconst a = 1;\n\`\`\`\n\n${EN.failed}`]);
});

it("an edit of a message that waits behind another's turn is answered, though it is not the newest", async () => {
  const world = new ChatWorld();
  await world.receive(toMessage("One.", { id: "d1", message: "m1" }));
  await world.receive(toMessage("Two.", { id: "d2", message: "m2" }), toMessage("Three.", { id: "d3", message: "m3" }));
  await world.receive(toDelivery({ type: "edit", message: "m2", text: "Four." }, { id: "d4" }));
  await world.answer("First.");
  await world.answer("Third.");
  await world.answer("Fourth.");

  expect(world.life.call.messages.filter((text) => text.startsWith("user"))).toEqual(["user: One.", "user: Three.", "user: Four."]);
  expect(world.texts).toEqual(["First.", "Third.", "Fourth."]);
});

describe("a turn that waits for an approval", () => {
  async function ask(): Promise<ChatWorld> {
    const world = new ChatWorld({ ...STREAMING, traits: { ...STREAMING.traits, typing: { every_ms: 4_000 } } });
    await world.receive(toMessage("Hi."));
    await world.answer("Hi, Ada.");
    const session = world.store.sessions.current();
    if (!session) throw new Error("no session");
    world.life.tools = { needsApproval: async () => true, run: async () => ({ output: "Paid.", failure: null }) };
    const tools = [{ name: "pay", parameters: { type: "object" }, runs: { by: "http", tool: "pay" } }] as const;
    await world.life.service.patch({ tenant: TENANT, session }, { tools });
    await world.receive(toMessage("Pay.", { id: "d2" }), toMessage("And hello.", { id: "d3" }));
    const call = { type: "tool_call", call_id: "c1", name: "pay", arguments: "{}" } as const;
    world.life.call.say({ type: "tool_call", call }, { type: "finish", finish: "tool_calls", usage: null });
    await world.rest();
    return world;
  }

  it("shows no typing, however often it is looked at, and the turn behind it is heard by no stream", async () => {
    const world = await ask();
    const before = world.acts.length;
    world.streams = 0;
    for (let n = 0; n < 6; n++) await world.advance(10 * 60_000);

    expect([world.acts.length - before, world.streams]).toEqual([0, 0]);
  });

  it("lets the turn behind it be heard at once when it ends", async () => {
    const world = await ask();
    const asked = world.sent.find(({ buttons }) => buttons.length > 0);
    await world.receive(toDelivery({ type: "button", message: "p2", data: asked?.buttons[0]?.data ?? "" }, { id: "d4" }));
    await world.answer("Paid.");
    await world.answer("Hello.");

    expect(world.texts.slice(-2)).toEqual(["Paid.", "Hello."]);
  });

  it("and that a new message ends holds up no reply", async () => {
    const world = await ask();
    await world.receive(toMessage("Never mind.", { id: "d4" }));
    await world.answer("Hello.");
    await world.answer("Fine.");

    expect(world.texts.slice(-2)).toEqual(["Hello.", "Fine."]);
  });
});
