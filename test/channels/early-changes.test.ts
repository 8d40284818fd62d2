/** Edits and deletions in any order with their message, delivered once or more often. */
import { describe, expect, it } from "vitest";
import type { Delivery } from "../../src/app/channels/channel";
import { EARLY_MS } from "../../src/app/channels/incoming/early-changes";
import { ChatWorld, toDelivery, toMessage } from "./chat-life";

type Step = "message" | "first edit" | "second edit" | "deletion";

const STEPS: { readonly [S in Step]: Delivery } = {
  message: toMessage("Hello.", { id: "d1", message: "m1" }),
  "first edit": { ...toDelivery({ type: "edit", message: "m1", text: "Good morning." }, { id: "d2" }), at: 1 },
  "second edit": { ...toDelivery({ type: "edit", message: "m1", text: "Good evening." }, { id: "d3" }), at: 2 },
  deletion: { ...toDelivery({ type: "deletion", message: "m1" }, { id: "d4" }), at: 3 },
};
const DUPLICATE = (step: Step): Delivery => ({ ...STEPS[step], id: `${STEPS[step].id} again` });

function listOrders(steps: readonly Step[]): readonly (readonly Step[])[] {
  if (steps.length <= 1) return [steps];
  return steps.flatMap((step) => listOrders(steps.filter((other) => other !== step)).map((rest) => [step, ...rest]));
}

/** What the session has of the message at last, as the next question shows it to the model. */
async function readSaid(world: ChatWorld): Promise<readonly string[]> {
  await world.receive(toMessage("What did I say?", { id: "d9", message: "m9" }));
  return world.life.call.messages.filter((text) => /Hello|Good/.test(text));
}

const SETS: readonly (readonly [string, readonly Step[], readonly string[]])[] = [
  ["an edit", ["message", "first edit"], ["user: Good morning."]],
  ["two edits", ["message", "first edit", "second edit"], ["user: Good evening."]],
  ["a deletion", ["message", "deletion"], []],
  ["two edits and a deletion", ["message", "first edit", "second edit", "deletion"], []],
];

describe.each(SETS)("a message with %s", (_, steps, said) => {
  it.each(listOrders(steps).map((order) => [order.join(", "), order] as const))("ends alike in the order %s", async (_name, order) => {
    const world = new ChatWorld();
    for (const step of order) await world.receive(STEPS[step]);
    expect(await readSaid(world)).toEqual(said);
    expect(world.notes).toEqual([]);
  });

  it.each(listOrders(steps).map((order) => [order.join(", "), order] as const))(
    "ends alike in the order %s, delivered twice, also under other ids",
    async (_name, order) => {
      const world = new ChatWorld();
      for (const step of order) await world.receive(STEPS[step], STEPS[step], DUPLICATE(step));
      for (const step of order) await world.receive(STEPS[step], DUPLICATE(step));
      expect(await readSaid(world)).toEqual(said);
      expect(world.lives.size).toBe(1);
    },
  );
});

describe("a change that came before its message", () => {
  it("has one turn, for the text that was changed", async () => {
    const world = new ChatWorld();
    await world.receive(STEPS["first edit"]);
    await world.receive(STEPS.message);
    await world.answer("Good day.");
    expect([world.life.calls.length, world.texts]).toEqual([1, ["Good day."]]);
    expect(world.count("early_changes")).toBe(0);
  });

  it("runs no command: the person has taken it back", async () => {
    const world = new ChatWorld();
    await world.receive({ ...STEPS["first edit"], event: { type: "edit", message: "m1", text: "Never mind." } });
    await world.receive(toMessage("/reset", { id: "d1", message: "m1" }));
    expect(world.life.call.messages).toEqual(["user: Never mind."]);
  });

  it("is kept over the end of a life, and forgotten after an hour by the alarm, with its text", async () => {
    const world = new ChatWorld();
    await world.receive(STEPS["first edit"]);
    world.die();
    await world.advance(EARLY_MS - 1);
    expect(world.count("early_changes")).toBe(1);
    await world.advance(1);
    await world.advance(30_000);
    expect(world.count("early_changes")).toBe(0);
  });

  it("is not kept of a stranger, nor of a group of which the bot takes no message", async () => {
    const stranger = new ChatWorld({ settings: { access: { mode: "allow_list", users: [] } } });
    await stranger.receive(STEPS["first edit"]);
    const group = new ChatWorld({ settings: { groups: "none" } });
    await group.receive(toDelivery({ type: "edit", message: "m1", text: "Lunch?" }, { isGroup: true }));
    expect([stranger.count("early_changes"), group.count("early_changes")]).toEqual([0, 0]);
  });

  it("pushes out the oldest beyond a hundred", async () => {
    const world = new ChatWorld();
    for (let n = 0; n < 130; n++) await world.receive(toDelivery({ type: "edit", message: `m${n}`, text: `Text ${n}.` }, { id: `e${n}` }));
    expect(world.count("early_changes")).toBe(100);
    await world.receive(toMessage("Old.", { id: "d0", message: "m0" }), toMessage("New.", { id: "d129", message: "m129" }));
    expect(world.life.call.messages).toEqual(["user: Old."]);
    await world.answer("Yes.");
    expect(world.life.call.messages.at(-1)).toBe("user: Text 129.");
  });
});

describe("a message that comes again under another id of a delivery", () => {
  it("is answered once", async () => {
    const world = new ChatWorld();
    await world.receive(STEPS.message);
    await world.answer("Good day.");
    await world.receive(DUPLICATE("message"));
    expect([world.life.calls.length, world.texts]).toEqual([1, ["Good day."]]);
  });
});

describe("a message that was edited after others were said", () => {
  async function talkedOn(): Promise<ChatWorld> {
    const world = new ChatWorld();
    await world.receive(STEPS.message);
    await world.answer("Yes?");
    await world.receive(toMessage("And you?", { id: "d8", message: "m8" }));
    await world.answer("Fine.");
    return world;
  }

  it("has the newest of its texts alone", async () => {
    const world = await talkedOn();
    await world.receive(STEPS["first edit"]);
    await world.receive(STEPS["second edit"]);
    expect(await readSaid(world)).toEqual(["user: Good evening."]);
  });

  it("is gone with its later text when it is deleted", async () => {
    const world = await talkedOn();
    await world.receive(STEPS["first edit"]);
    await world.receive(STEPS.deletion);
    expect(await readSaid(world)).toEqual([]);
  });
});

describe("a change of an older message whose edited text waits for a newer turn", () => {
  /** The edited text waits, because the question's turn runs. */
  async function edited(): Promise<ChatWorld> {
    const world = new ChatWorld();
    await world.receive(STEPS.message);
    await world.answer("Good day.");
    await world.receive(toMessage("How are you?", { id: "d7", message: "m7" }));
    await world.receive(STEPS["first edit"]);
    expect(world.life.runtime.state.queue.length).toBe(1);
    return world;
  }

  it("deletes it", async () => {
    const world = await edited();
    await world.receive(STEPS.deletion);
    await world.answer("I am well.");
    expect(await readSaid(world)).toEqual(["assistant: Good day."]);
  });

  it("puts the newest text in its place", async () => {
    const world = await edited();
    await world.receive(STEPS["second edit"], DUPLICATE("second edit"));
    await world.answer("I am well.");
    expect(await readSaid(world)).toEqual(["assistant: Good day.", "user: Good evening."]);
  });
});

describe("a deletion that came before its message", () => {
  it("stays when the conversation is forgotten, and when its session is erased: the message is not taken", async () => {
    const world = new ChatWorld({ traits: { max_buttons: 0 } });
    await world.receive(toMessage("Who are you?", { id: "d5", message: "m5" }));
    await world.answer("A bot.");
    await world.receive(STEPS.deletion, STEPS["first edit"]);
    for (const id of ["d6", "d7"]) await world.receive(toMessage("/forget", { id, message: id }));
    expect(world.erased).toHaveLength(1);

    await world.receive(STEPS.message);

    expect(await readSaid(world)).toEqual([]);
    expect(world.lives.size).toBe(2);
  });
});
