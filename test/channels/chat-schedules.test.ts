/** Replies of schedules in a chat: where they appear, how often, who may answer their questions, and what becomes of them when nothing takes them. */
import { describe, expect, it } from "vitest";
import type { ScheduledTurn } from "../../src/app/channels/chat-api";
import { findWords } from "../../src/app/channels/words/words";
import type { SessionId } from "../../src/domain/ids";
import { ringAlarm } from "../../src/session/alarm";
import type { Life } from "../session/life";
import { TENANT } from "../support/builders";
import { ChatWorld, outcome, type SendAct, toDelivery, toMessage } from "./chat-life";

const EN = findWords("en");
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface Reminded {
  readonly world: ChatWorld;
  readonly life: Life;
  readonly session: SessionId;
  /** What the chat was asked to follow. */
  readonly asked: ScheduledTurn[];
}

type Change = ConstructorParameters<typeof ChatWorld>[0];

/** A conversation of one question and its answer, whose session has a schedule for the next hour. */
async function remind(change: Change = {}, told: Parameters<typeof toMessage>[1] = {}): Promise<Reminded> {
  const world = new ChatWorld(change);
  await world.receive(toMessage("Hello.", { id: "d1", message: "m1", ...told }));
  await world.answer("Good day.");
  const session = world.store.sessions.current();
  if (!session) throw new Error("no session");
  const life = world.findLife(session);
  const asked: ScheduledTurn[] = [];
  life.follow = async (_, turn) => {
    asked.push(turn);
    world.chat.follow(turn);
  };
  const schedule = { name: "ada", time: { cron: "0 * * * *", timezone: "UTC" }, message: "Remind me to call Ada." };
  await life.service.setSchedule({ tenant: TENANT, session }, schedule);
  return { world, life, session, asked };
}

/** The schedule's time comes. */
async function comeDue({ world, life }: Reminded): Promise<void> {
  await world.advance(HOUR);
  ringAlarm(life.runtime);
  await world.rest();
}

async function reply({ world, life }: Reminded, text: string): Promise<void> {
  await life.answer(text);
  await world.rest();
}

const followAgain = async ({ world, asked }: Reminded): Promise<void> => {
  for (const turn of asked) world.chat.follow(turn);
  await world.advance(10_000);
};

const last = (world: ChatWorld): SendAct | undefined => world.sent.at(-1);

describe("a schedule's reply", () => {
  it("appears in the chat where the person began the last turn, and fills nothing that waits for another reply", async () => {
    const reminded = await remind();
    await comeDue(reminded);
    await reply(reminded, "Call Ada.");

    const { world } = reminded;
    expect(world.texts).toEqual(["Good day.", "Call Ada."]);
    expect(last(world)).toMatchObject({ type: "send", place: { chat: "c1" }, is_first: false });
    expect([world.count("turns"), world.count("parts")]).toEqual([0, 0]);
  });

  it("grows while its turn runs, and the first message fills nothing either", async () => {
    const reminded = await remind({ settings: { streaming: true }, traits: { edits: { every_ms: 1_000 } } });
    await comeDue(reminded);
    const { world, life } = reminded;
    life.call.say({ type: "text", text: "Call " });
    await world.rest();
    await world.advance(1_000);
    expect(last(world)).toMatchObject({ type: "send", is_first: false, text: { text: "Call" } });
    await reply(reminded, "Ada.");

    expect(last(world)).toMatchObject({ type: "edit", text: { text: "Call Ada." } });
  });

  it("appears once, though the chat is asked again while the turn runs, when it has ended, and long after", async () => {
    const reminded = await remind();
    await comeDue(reminded);
    await followAgain(reminded);
    await reply(reminded, "Call Ada.");
    await followAgain(reminded);
    const { world } = reminded;
    await world.advance(60 * DAY);
    await world.receive(toMessage("Thanks.", { id: "d2" }));
    await world.answer("You are welcome.");
    await followAgain(reminded);

    expect(reminded.asked).toHaveLength(1);
    expect(world.texts).toEqual(["Good day.", "Call Ada.", "You are welcome."]);
  });

  it("appears once though the chat's object dies while the turn runs, and when the call of an earlier run comes late", async () => {
    const reminded = await remind();
    const { world, asked } = reminded;
    await comeDue(reminded);
    world.die();
    await reply(reminded, "Call Ada.");
    await world.advance(60_000);
    await comeDue(reminded);
    await reply(reminded, "Call Ada again.");
    const [first] = asked;
    if (first) world.chat.follow(first);
    await world.advance(60_000);

    expect(world.texts).toEqual(["Good day.", "Call Ada.", "Call Ada again."]);
  });

  it("still appears after /reset, though the session is no longer the chat's own", async () => {
    const reminded = await remind();
    await reminded.world.receive(toMessage("/reset", { id: "d2" }));
    await comeDue(reminded);
    await reply(reminded, "Call Ada.");

    expect(reminded.world.texts).toEqual(["Good day.", EN.reset, "Call Ada."]);
  });

  it("follows its chat to where it has moved, also later", async () => {
    const reminded = await remind();
    const { world } = reminded;
    const moved_to = { chat: "c9", thread: null, is_private: true, target: { chat: "c9" } };
    world.answers.push(outcome({ kind: "refused", reason: "migrated", moved_to }));
    for (const text of ["One.", "Two."]) {
      await comeDue(reminded);
      await reply(reminded, text);
    }
    expect(world.sent.slice(1).map(({ place }) => place.chat)).toEqual(["c1", "c9", "c9"]);
  });

  it("of one person's session goes to the person's private chat, where the person has one", async () => {
    const reminded = await remind({ settings: { session_per: "user" } });
    const { world } = reminded;
    await world.receive(toMessage("Hello all.", { id: "d2", chat: "c2", isGroup: true }));
    await world.answer("Hello.");
    await comeDue(reminded);
    await reply(reminded, "Call Ada.");

    expect(world.sent.map(({ place }) => place.chat)).toEqual(["c1", "c2", "c1"]);
  });

  it("does not go where a message came from that began no turn", async () => {
    const reminded = await remind({}, { isGroup: true });
    const { world } = reminded;
    const event = { type: "message", message: "m2", text: "Lunch?", files: [], command: null, is_addressed: false } as const;
    await world.receive(toDelivery(event, { id: "d2", chat: "c1/other topic", isGroup: true }));
    await comeDue(reminded);
    await reply(reminded, "Call Ada.");

    expect(last(world)?.place.chat).toBe("c1");
  });
});

describe("a schedule's turn", () => {
  it("that fails says so in words of its own, in the language of the person who talks there alone", async () => {
    const reminded = await remind({}, { language: "de" });
    await comeDue(reminded);
    reminded.life.call.say({ type: "failure", failure: { kind: "auth", status: 401 } });
    await reminded.world.rest();
    expect(last(reminded.world)?.text.text).toBe(findWords("de").schedule_failed);
  });

  it("that says nothing is silent", async () => {
    const reminded = await remind();
    await comeDue(reminded);
    await reply(reminded, "");
    expect(reminded.world.texts).toEqual(["Good day."]);
  });

  it("whose reply the platform refuses, as WhatsApp does after 24 hours, is a line in the channel's log", async () => {
    const reminded = await remind();
    const { world } = reminded;
    world.answers.push(outcome({ kind: "refused", reason: "error 131047" }));
    await comeDue(reminded);
    await reply(reminded, "Call Ada.");

    const turn = reminded.asked[0]?.turn;
    expect(world.notes).toMatchObject([{ kind: "reply_failed", reason: "refused: error 131047", session: reminded.session, turn }]);
    expect(world.count("parts")).toBe(0);
  });

  it("in a chat in which no turn was begun is a line in the channel's log, and its reply stays in the session", async () => {
    const reminded = await remind();
    const { world } = reminded;
    world.sql.rows("UPDATE address SET place = NULL");
    await comeDue(reminded);
    await reply(reminded, "Call Ada.");
    await followAgain(reminded);

    expect(world.texts).toEqual(["Good day."]);
    expect(world.notes).toMatchObject([{ kind: "reply_failed", reason: "no place is known", session: reminded.session }]);
    expect(world.count("turns")).toBe(0);
  });

  it("of a channel that was deleted is waited with for a day, and then given up: the object comes to rest", async () => {
    const reminded = await remind();
    const { world } = reminded;
    world.channel = "gone";
    await comeDue(reminded);
    await reply(reminded, "Call Ada.");
    for (let minutes = 0; minutes < 23 * 60; minutes += 10) await world.advance(10 * 60_000);
    expect(world.count("turns")).toBe(1);
    for (let minutes = 0; minutes < 2 * 60; minutes += 10) await world.advance(10 * 60_000);

    expect(world.count("turns")).toBe(0);
    expect(world.alarmAt).toBeNull();
    expect(world.texts).toEqual(["Good day."]);
  });

  it("brings nothing back after the session was erased, however late the chat is asked", async () => {
    const reminded = await remind();
    const { world, session } = reminded;
    await comeDue(reminded);
    await world.chat.forgetSession(session);
    await followAgain(reminded);
    await reply(reminded, "Call Ada.");

    expect(world.texts).toEqual(["Good day."]);
    expect(["turns", "parts", "address"].map((table) => world.count(table))).toEqual([0, 0, 0]);
  });
});

it("a chat that goes on with another session ignores the one that was erased", async () => {
  const reminded = await remind();
  const { world, session } = reminded;
  await world.receive(toMessage("/reset", { id: "d2" }), toMessage("Hello again.", { id: "d3" }));
  await world.answer("Welcome back.");
  await world.chat.forgetSession(session);
  await comeDue(reminded);
  await reply(reminded, "Call Ada.");

  expect(reminded.asked).toHaveLength(1);
  expect(world.texts).toEqual(["Good day.", EN.reset, "Welcome back."]);
  expect([world.count("turns"), world.notes]).toEqual([0, []]);
});

it("a group's chat does not keep who wrote in it", async () => {
  const world = new ChatWorld();
  await world.receive(toMessage("Hello.", { user: "zqu1", isGroup: true }));
  await world.answer("Good day.");

  expect(JSON.stringify(world.sql.rows("SELECT * FROM address"))).not.toContain("zqu1");
});

describe("a schedule's tool that needs approval", () => {
  const CALL = { type: "tool_call", call: { type: "tool_call", call_id: "c1", name: "book", arguments: "{}" } } as const;

  async function ask(change: Change, told: Parameters<typeof toMessage>[1]): Promise<Reminded> {
    const reminded = await remind(change, told);
    const { life, session, world } = reminded;
    life.tools = { needsApproval: async () => true, run: async () => ({ output: "Booked.", failure: null }) };
    const tools = [{ name: "book", parameters: { type: "object" }, runs: { by: "http", tool: "book" } as const }];
    await life.service.patch({ tenant: TENANT, session }, { tools });
    await comeDue(reminded);
    life.call.say(CALL, { type: "finish", finish: "tool_calls", usage: null });
    await world.rest();
    return reminded;
  }

  async function press({ world }: Reminded, user: string, id: string): Promise<void> {
    const data = world.sent.find(({ buttons }) => buttons.length > 0)?.buttons[0]?.data ?? "";
    await world.receive(toDelivery({ type: "button", message: "p2", data }, { id, user, isGroup: true }));
  }

  it("is asked about by buttons, which the person of a private chat presses", async () => {
    const reminded = await ask({}, {});
    const { world } = reminded;
    expect(last(world)).toMatchObject({ text: { text: EN.approve_ask("book") }, is_first: false });
    await press(reminded, "u2", "d2");
    expect(last(world)?.text.text).toBe(EN.approve_ask("book"));
    await press(reminded, "u1", "d3");
    await reply(reminded, "It is booked.");

    expect(world.texts.slice(1)).toEqual([EN.approve_ask("book"), EN.approved("book"), "It is booked."]);
  });

  it("is approved in a group by anyone who may talk to the bot, and by no one else", async () => {
    const access = { mode: "allow_list", users: ["u1", "u2"] } as const;
    const reminded = await ask({ settings: { access: { ...access, users: [...access.users] } } }, { isGroup: true });
    const { world } = reminded;
    await press(reminded, "u3", "d2");
    expect(last(world)?.text.text).toBe(EN.approve_ask("book"));
    await press(reminded, "u2", "d3");
    await reply(reminded, "It is booked.");

    expect(world.texts.slice(1)).toEqual([EN.approve_ask("book"), EN.approved("book"), "It is booked."]);
  });
});

it("a person's button is not pressed by the person once the access was taken away", async () => {
  const world = new ChatWorld();
  await world.receive(toMessage("Hello.", { id: "d1" }));
  await world.answer("Good day.");
  await world.receive(toMessage("/forget", { id: "d2" }));
  world.settings = { ...world.settings, access: { mode: "allow_list", users: [] } };
  const [yes] = last(world)?.buttons ?? [];
  await world.receive(toDelivery({ type: "button", message: "p2", data: yes?.data ?? "" }, { id: "d3" }));

  expect(world.erased).toEqual([]);
});
