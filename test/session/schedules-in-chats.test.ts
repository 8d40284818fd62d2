/** A session that belongs to a chat asks it to follow the turns that its schedules start: each in order, whatever fails, and no other turn. */
import { beforeEach, describe, expect, test } from "vitest";
import type { ChatAddress, ScheduledTurn } from "../../src/app/channels/chat-api";
import { ringAlarm } from "../../src/session/alarm";
import { id, TENANT } from "../support/builders";
import { CALLER, Life, SPEC, settle } from "./life";

const HOUR = 3_600_000;
const CHAT = { channel: "support", conversation: "chat:c1" };
const INPUT = { model: SPEC.id, policy: "oneclaw", system: null, tools: null, title: null, metadata: {} };

/** The chat's object, as the session reaches it. */
class FollowingChat {
  isAway = false;
  losesAnswers = false;
  /** Holds the answers back. */
  gate: Promise<void> = Promise.resolve();
  readonly asked: (ScheduledTurn & { readonly address: ChatAddress })[] = [];

  readonly follow = async (address: ChatAddress, turn: ScheduledTurn): Promise<void> => {
    if (this.isAway) throw new Error("out of reach");
    this.asked.push({ address, ...turn });
    await this.gate;
    if (this.losesAnswers) throw new Error("the answer was lost");
  };

  get turns(): readonly string[] {
    return this.asked.map(({ turn }) => turn);
  }
}

let chat: FollowingChat;
let life: Life;
let ids = 0;

async function open(input: object = { chat: CHAT }): Promise<void> {
  const opened = await life.service.open(CALLER, { ...INPUT, ...input });
  if (!opened.ok) throw new Error(opened.error.code);
  const schedule = { name: "briefing", time: { cron: "0 * * * *", timezone: "UTC" }, message: "What is new?" };
  await life.service.setSchedule(CALLER, schedule);
  await settle();
}

/** Another life of the object, over the same database and at the same time. */
function restart(): void {
  const now = life.time.now();
  life = new Life(life.sql, `life-${++ids}`, (prefix) => id(prefix, ++ids));
  life.time.advance(now - life.time.now());
  life.follow = chat.follow;
}

async function ring(ms = 0): Promise<void> {
  await life.advance(ms);
  ringAlarm(life.runtime);
  await settle();
}

async function runNext(): Promise<void> {
  await ring(HOUR);
  await life.answer("Nothing.");
}

const job = () => life.runtime.jobs.get("follow_in_chat");
const runs = () => life.events().flatMap((event) => (event.type === "ScheduleRan" && event.turn ? [event.turn] : []));

beforeEach(() => {
  ids = 1_000;
  chat = new FollowingChat();
  life = new Life();
  life.follow = chat.follow;
});

describe("a schedule of a chat's session", () => {
  test("asks the chat to follow its turn while the turn runs, once, and leaves no job", async () => {
    await open();
    await ring(HOUR);
    const { turn } = life.runtime.state;
    expect(chat.asked).toMatchObject([{ address: { tenant: TENANT, ...CHAT }, session: CALLER.session, turn: turn?.id }]);
    await life.answer("Nothing.");
    await ring(HOUR / 2);

    expect([chat.turns, job()]).toEqual([runs(), null]);
  });

  test("asks for each run in the order of the log", async () => {
    await open();
    await runNext();
    await runNext();
    expect(chat.turns).toEqual(runs());
    const [first, second] = chat.asked;
    expect(first?.seq).toBeLessThan(second?.seq ?? 0);
  });

  test("asks for a turn that waits in the queue", async () => {
    await open();
    await life.send("And then?");
    await ring(HOUR);
    expect(life.runtime.state.queue.map(({ turn }) => turn)).toEqual(chat.turns);
  });

  test("does not ask for a turn that a person began, nor for a run that was skipped", async () => {
    await open();
    await life.send("Hello.");
    await life.answer("Good day.");
    life.isSuspended = true;
    await ring(HOUR);
    await ring(HOUR / 4);

    expect([chat.asked, job()]).toEqual([[], null]);
  });

  test("runs though the chat is out of reach, and the chat is asked again, less and less often", async () => {
    await open();
    chat.isAway = true;
    await runNext();
    expect(life.runtime.state.last_turn?.id).toBe(runs()[0]);
    const waits: number[] = [];
    for (let tries = 0; tries < 4; tries++) {
      const wait = (job()?.due_at ?? 0) - life.time.now();
      waits.push(wait);
      await ring(wait);
    }
    expect(waits.toSorted((one, other) => one - other)).toEqual(waits);
    expect(waits[3]).toBeGreaterThan(waits[0] ?? 0);
    chat.isAway = false;
    await ring((job()?.due_at ?? 0) - life.time.now());

    expect([chat.turns, job()]).toEqual([runs(), null]);
  });

  test("asks in the next life where the first one ended before the chat answered", async () => {
    await open();
    chat.gate = new Promise(() => undefined);
    await ring(HOUR);
    expect(chat.turns).toEqual(runs());
    chat.gate = Promise.resolve();
    restart();
    await ring(30_000);

    expect(chat.turns).toEqual([...runs(), ...runs()]);
    expect(job()).toBeNull();
  });

  test("asks again under the same seq where the answer was lost, and later runs wait behind it", async () => {
    await open();
    chat.losesAnswers = true;
    await runNext();
    chat.losesAnswers = false;
    restart();
    await runNext();

    const [first, second] = runs();
    expect(chat.turns).toEqual([first, first, second]);
    expect(chat.asked[1]?.seq).toBe(chat.asked[0]?.seq);
  });

  test("is tried for a day, and at least once however long the object was away; later runs are asked for", async () => {
    await open();
    chat.gate = new Promise(() => undefined);
    await ring(HOUR);
    chat.gate = Promise.resolve();
    chat.isAway = true;
    restart();
    await life.service.removeSchedule(CALLER, "briefing");
    await ring(23 * HOUR);
    expect(job()).not.toBeNull();
    await ring(2 * HOUR);
    expect(job()).toBeNull();

    chat.isAway = false;
    await life.service.setSchedule(CALLER, { name: "last", time: { at: life.time.now() + HOUR }, message: "Bye." });
    await ring(HOUR);
    expect(chat.turns.at(-1)).toBe(runs().at(-1));
    expect(runs()).toHaveLength(2);
  });
});

describe("a session", () => {
  test("that no chat opened arms no job and calls no chat", async () => {
    await open({});
    await ring(HOUR);
    expect(runs()).toHaveLength(1);
    expect([chat.asked, job(), life.sql.all("SELECT key FROM meta WHERE key LIKE 'chat%'")]).toEqual([[], null, []]);
  });

  test("that a chat takes over belongs to it from then on, and not one run before is reported", async () => {
    await open({ external_id: "support/chat:c1/1" });
    await runNext();
    expect(await life.service.open(CALLER, { ...INPUT, external_id: "support/chat:c1/1", chat: CHAT })).toMatchObject({
      error: { code: "session_exists" },
    });
    await runNext();

    expect(chat.turns).toEqual(runs().slice(1));
  });

  test("that is erased keeps nothing of its chat, and asks for nothing", async () => {
    await open();
    chat.isAway = true;
    await runNext();
    await life.service.erase(CALLER);
    chat.isAway = false;
    await ring(HOUR);

    expect(chat.asked).toEqual([]);
    expect(life.sql.all("SELECT key FROM meta WHERE value LIKE '%chat:c1%'")).toEqual([]);
  });

  test("that is erased while the chat is asked writes nothing more", async () => {
    await open();
    let answer = (): void => undefined;
    chat.gate = new Promise((resolve) => {
      answer = resolve;
    });
    await ring(HOUR);
    await life.service.erase(CALLER);
    answer();
    await settle();

    expect(life.sql.all("SELECT key FROM meta WHERE key LIKE 'chat%'")).toEqual([]);
  });
});
