/** A schedule of a channel's conversation in workerd: its reply reaches the platform, once, whatever dies between the run and the reply. */
import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { ScheduledTurn } from "../../../src/app/channels/chat-api";
import { sessionObjectName } from "../../../src/app/object-name";
import type { SessionDescription } from "../../../src/contract/session";
import { parseId } from "../../../src/domain/ids";
import { ringNow } from "../../workers/alarms";
import { type ChannelChat, newChannelChat } from "../../workers/channel-chat";
import { advanceClock, restoreClock } from "../../workers/clock";
import { migrate, readBody } from "../../workers/support";

const HOUR = 3_600_000;
/** A life that ended is followed by one that goes on within this time. */
const RECOVERED = 31_000;

beforeAll(migrate);
afterEach(() => {
  restoreClock();
  vi.restoreAllMocks();
});

class RemindedChat {
  readonly chat: ChannelChat;
  readonly id: string;

  constructor(chat: ChannelChat, id: string) {
    this.chat = chat;
    this.id = id;
  }

  get session() {
    return env.SESSIONS.getByName(sessionObjectName(this.chat.tenant.id, this.sessionId));
  }

  get sessionId() {
    const id = parseId("ses", this.id);
    if (!id) throw new Error("no session");
    return id;
  }

  async comeDue(): Promise<void> {
    advanceClock(HOUR);
    await ringNow(this.session);
  }

  async texts(atLeast: number): Promise<readonly string[]> {
    return (await this.chat.taken(atLeast)).map(({ text }) => text);
  }

  /** All that may still come has come. */
  async rest(): Promise<void> {
    for (let times = 0; times < 3; times++) {
      advanceClock(RECOVERED);
      await ringNow(this.session);
      await ringNow(this.chat.stub);
    }
  }

  get address() {
    return { tenant: this.chat.tenant.id, channel: "desk", conversation: "chat:room-1" };
  }

  /** What the session has asked the chat to follow. */
  async run(): Promise<ScheduledTurn> {
    const [row] = await runInDurableObject(this.session, (_, { storage }) =>
      storage.sql
        .exec<{ seq: number; turn: string }>("SELECT seq, json_extract(data, '$.turn') AS turn FROM events WHERE type = 'ScheduleRan'")
        .toArray(),
    );
    const turn = row && parseId("trn", row.turn);
    if (!turn) throw new Error("no turn");
    return { session: this.sessionId, turn, seq: row.seq };
  }

  /** The session has completed so many turns: a life that ends then interrupts none. */
  async completed(turns: number): Promise<void> {
    const count = () =>
      runInDurableObject(this.session, (_, { storage }) =>
        Number(storage.sql.exec("SELECT count(*) AS n FROM events WHERE type = 'TurnCompleted'").one().n),
      );
    await vi.waitUntil(async () => (await count()) === turns, { timeout: 20_000 });
  }

  jobs(): Promise<string[]> {
    return runInDurableObject(this.session, (_, { storage }) =>
      storage.sql
        .exec<{ kind: string }>("SELECT kind FROM jobs")
        .toArray()
        .map(({ kind }) => kind),
    );
  }
}

/** A conversation of one question and its answer, with a schedule for the next hour. */
async function remind(): Promise<RemindedChat> {
  const chat = await newChannelChat();
  await chat.says({ text: "Good day." });
  await chat.write({});
  await chat.taken(1);
  const path = `/v1/sessions/by-external-id/${encodeURIComponent("desk/chat:room-1/1")}`;
  const { id } = await readBody<SessionDescription>(await chat.tenant.call("GET", path));
  const schedule = { at: Date.now() + HOUR, message: "Remind me to call Ada." };
  await readBody(await chat.tenant.call("PUT", `/v1/sessions/${id}/schedules/ada`, schedule));
  return new RemindedChat(chat, id);
}

describe("the reply of a schedule", () => {
  it("reaches the chat once, without a request of anyone", async () => {
    const reminded = await remind();
    await reminded.chat.says({ text: "Call Ada." });
    await reminded.comeDue();
    expect(await reminded.texts(2)).toEqual(["Good day.", "Call Ada."]);
    await reminded.rest();

    expect(await reminded.texts(2)).toEqual(["Good day.", "Call Ada."]);
    expect(await reminded.jobs()).not.toContain("follow_in_chat");
    expect(await reminded.chat.model.heard()).toHaveLength(2);
  });

  it("reaches the chat once though every object dies while the model writes", async () => {
    const reminded = await remind();
    await reminded.chat.says({ text: "Lost.", gate: "never" }, { text: "Found." });
    await reminded.comeDue();
    await reminded.chat.model.heard(2);
    await abortAllDurableObjects();
    await reminded.rest();

    expect(await reminded.texts(2)).toEqual(["Good day.", "Found."]);
    await reminded.rest();
    expect(await reminded.texts(2)).toEqual(["Good day.", "Found."]);
    await reminded.chat.model.open("never");
  });

  it("reaches the chat once though the chat was out of reach when the turn began, and every object died then", async () => {
    const reminded = await remind();
    await reminded.chat.says({ text: "Call Ada." });
    // The object must not resolve a promise of the test, which would go on inside it.
    let isAsked = false;
    const getByName = vi.spyOn(env.CHATS, "getByName").mockImplementation(() => {
      isAsked = true;
      throw new Error("out of reach");
    });
    await reminded.comeDue();
    await vi.waitUntil(() => isAsked, { timeout: 20_000 });
    await reminded.completed(2);
    await abortAllDurableObjects();
    getByName.mockRestore();
    expect(await reminded.jobs()).toContain("follow_in_chat");
    await reminded.rest();

    expect(await reminded.texts(2)).toEqual(["Good day.", "Call Ada."]);
  });

  it("reaches the chat once though the chat is asked to follow it again and again, also by an object that has just begun to live", async () => {
    const reminded = await remind();
    await reminded.chat.says({ text: "Call Ada." });
    await reminded.comeDue();
    await reminded.texts(2);
    const run = await reminded.run();
    await reminded.chat.stub.follow(reminded.address, run);
    await abortAllDurableObjects();
    await reminded.chat.stub.follow(reminded.address, run);
    await reminded.rest();

    expect(await reminded.texts(2)).toEqual(["Good day.", "Call Ada."]);
  });
});

it("an erased session's schedule brings nothing back to the chat, though the chat is asked to follow its turn", async () => {
  const reminded = await remind();
  const { chat, sessionId } = reminded;
  await readBody(await chat.tenant.call("DELETE", `/v1/sessions/${sessionId}`));
  const turn = parseId("trn", "trn_01HZZZZZZZ0000000000000001");
  if (!turn) throw new Error("no turn");
  await chat.stub.follow(reminded.address, { session: sessionId, turn, seq: 1_000 });
  await reminded.rest();

  const left = await runInDurableObject(chat.stub, (_, { storage }) =>
    ["turns", "parts", "address"].map((name) => storage.sql.exec(`SELECT * FROM ${name}`).toArray()),
  );
  expect(left.flat()).toEqual([]);
  expect(await reminded.texts(1)).toEqual(["Good day."]);
});
