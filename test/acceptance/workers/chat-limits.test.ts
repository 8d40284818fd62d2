/** Limits and budgets of end users in chats, with the counters in the tenant's real object: words instead of silence, and others go on. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { findWords } from "../../../src/app/channels/words/words";
import { findLimitWords } from "../../../src/app/channels/words/words-limits";
import { chatObjectName, tenantObjectName } from "../../../src/app/object-name";
import { type Budget, type LimitSet, NO_LIMITS } from "../../../src/contract/limits";
import type { Page } from "../../../src/contract/page";
import { ringNow } from "../../workers/alarms";
import { type ChannelChat, newChannelChat } from "../../workers/channel-chat";
import { advanceClock, restoreClock } from "../../workers/clock";
import { migrate, readBody } from "../../workers/support";

beforeAll(migrate);
afterEach(restoreClock);

const DE = findWords("de");
const LIMITS_DE = findLimitWords("de");
const AGAIN = / Bitte versuche es in \d+ (Sekunden?|Minuten?|Stunden?|Tag(en)?) noch einmal\.$/;
let revision = 0;

async function newLimited(limits: Partial<LimitSet>, budgets: readonly Budget[] = []): Promise<ChannelChat> {
  const chat = await newChannelChat({ streaming: false });
  const stub = env.TENANTS.getByName(tenantObjectName(chat.tenant.id));
  await stub.setLimits({ limits: { ...NO_LIMITS, ...limits }, revision: ++revision, budgets });
  return chat;
}

/** At the begin of a minute, so that no test is at the end of one. */
const startMinute = () => advanceClock(60_000 - (Date.now() % 60_000));
const roomStub = ({ tenant }: ChannelChat, room: string) => env.CHATS.getByName(chatObjectName(tenant.id, "desk", `chat:${room}`));
const countWaiting = (chat: ChannelChat, room: string): Promise<number> =>
  runInDurableObject(roomStub(chat, room), (_, { storage }) => Number(storage.sql.exec("SELECT count(*) AS n FROM deliveries").one().n));
const toTexts = (taken: readonly { readonly text: string }[]): readonly string[] => taken.map(({ text }) => text);
const write = (chat: ChannelChat, text: string, more: object = {}) => chat.write({ text, language: "de", ...more });

describe("an end user's limit of requests a minute", () => {
  it("counts messages of a chat: in a group the person reads when to try again, once, and another person goes on", async () => {
    startMinute();
    const chat = await newLimited({ end_user: { requests_per_minute: 1 } });
    await chat.says({ text: "Eins." }, { text: "Zwei." });
    const group = { conversation: "group", isGroup: true };
    await write(chat, "Eins?", group);
    await chat.taken(1);
    for (let n = 0; n < 5; n++) await write(chat, "Mehr?", group);
    await write(chat, "Und ich?", { ...group, user: "eve" });

    const texts = toTexts(await chat.taken(3));
    expect(texts).toEqual(["Eins.", expect.stringMatching(AGAIN), "Zwei."]);
    expect(texts[1]).toContain(LIMITS_DE.requests);
    await expect.poll(() => countWaiting(chat, "group")).toBe(0);
    expect(await chat.model.heard()).toHaveLength(2);
    const log = await readBody<Page<object>>(await chat.tenant.call("GET", "/v1/channels/desk/log"));
    expect(log.data).toMatchObject([{ kind: "reply_failed", reason: "refused: requests_per_minute" }]);
  });

  it("lets a message in a private chat wait for the next minute, and counts the person in all chats together", async () => {
    startMinute();
    const chat = await newLimited({ end_user: { requests_per_minute: 1 } });
    await chat.says({ text: "Eins." }, { text: "Zwei." });
    await write(chat, "Eins?", { conversation: "one" });
    await chat.taken(1);
    await write(chat, "Zwei?", { conversation: "two" });
    expect(await countWaiting(chat, "two")).toBe(1);
    advanceClock(60_000);
    await ringNow(roomStub(chat, "two"));
    expect(toTexts(await chat.taken(2))).toEqual(["Eins.", "Zwei."]);
  });

  it("of the tenant counts the messages of all", async () => {
    startMinute();
    const chat = await newLimited({ tenant: { requests_per_minute: 0 } });
    await write(chat, "Hallo?");
    expect(await countWaiting(chat, "room-1")).toBe(1);
    startMinute();
    await ringNow(roomStub(chat, "room-1"));
    startMinute();
    await ringNow(roomStub(chat, "room-1"));
    const [text] = toTexts(await chat.taken(1));
    expect(text).toContain(LIMITS_DE.requests);
    await expect.poll(() => countWaiting(chat, "room-1")).toBe(0);
  });
});

describe("an end user's limit of turns at one time", () => {
  it("lets the person's other chat wait until a turn has ended, and another person goes on", async () => {
    const chat = await newLimited({ end_user: { concurrent_turns: 1 } });
    await chat.says({ text: "Eins.", gate: "one" }, { text: "Eve." }, { text: "Zwei." });
    await write(chat, "Eins?", { conversation: "one" });
    await chat.model.heard(1);
    await write(chat, "Zwei?", { conversation: "two" });
    await write(chat, "Ich?", { conversation: "three", user: "eve" });
    await chat.taken(1);
    expect(await countWaiting(chat, "two")).toBe(1);
    await chat.model.open("one");
    await chat.taken(2);
    advanceClock(60_000);
    await ringNow(roomStub(chat, "two"));

    expect(toTexts(await chat.taken(3))).toEqual(["Eve.", "Eins.", "Zwei."]);
  });
});

describe("an end user's budget", () => {
  it("that is used up is said with the time of the next one, once, and another person's is their own", async () => {
    const budget = { name: "daily", of: "end_user", period: "day", unit: "tokens", amount: 2_500, purposes: "all" } as const;
    const chat = await newLimited({}, [budget]);
    await chat.says({ text: "Eins.", usage: { prompt_tokens: 2_000, completion_tokens: 400 } }, { text: "Eve." });
    await write(chat, "Eins?");
    await chat.taken(1);
    for (let n = 0; n < 3; n++) await write(chat, "Mehr?");
    const [, text] = toTexts(await chat.taken(2));
    expect(text).toContain(DE.budget);
    expect(text).toMatch(AGAIN);
    await expect.poll(() => countWaiting(chat, "room-1")).toBe(0);
    await write(chat, "Und ich?", { conversation: "eves", user: "eve" });
    expect(toTexts(await chat.taken(3)).at(-1)).toBe("Eve.");
  });
});

describe("a limit that does not pass by itself", () => {
  it("of an end user's sessions is said in a further chat, and another person begins one", async () => {
    const chat = await newLimited({ end_user: { sessions: 1 } });
    await chat.says({ text: "Eins." }, { text: "Eve." });
    await write(chat, "Eins?", { conversation: "one" });
    await chat.taken(1);
    await write(chat, "Zwei?", { conversation: "two" });
    await write(chat, "Drei?", { conversation: "two" });
    await chat.taken(2);
    await write(chat, "Ich?", { conversation: "eves", user: "eve" });

    expect(toTexts(await chat.taken(3))).toEqual(["Eins.", DE.busy, "Eve."]);
    await expect.poll(() => countWaiting(chat, "two")).toBe(0);
  });

  it("of a session's messages is said, and /reset begins another one", async () => {
    const chat = await newLimited({ tenant: { messages_per_session: 2 } });
    await chat.says({ text: "Eins." }, { text: "Neu." });
    await write(chat, "Eins?");
    await chat.taken(1);
    await write(chat, "Zwei?");
    await write(chat, "Drei?");
    await chat.taken(2);
    await write(chat, "/reset");
    await chat.taken(3);
    await write(chat, "Neu?");

    expect(toTexts(await chat.taken(4))).toEqual(["Eins.", DE.full, DE.reset, "Neu."]);
  });

  it("of stored bytes is said for the file, and the message is answered without it", async () => {
    const chat = await newLimited({ tenant: { stored_bytes: 0 } });
    await chat.says({ text: "Ich sehe nichts." });
    await write(chat, "Schau.", { files: [{ url: chat.fileUrl, name: "hours.txt" }] });

    expect(toTexts(await chat.taken(2))).toEqual([LIMITS_DE.files, "Ich sehe nichts."]);
    const [heard] = await chat.model.heard(1);
    expect(JSON.stringify(heard?.body.messages)).toContain("A file could not be read: hours.txt");
  });
});
