/** A conversation of a generic channel in workerd: webhooks in, replies out, over HTTP. */
import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { DisplayItem } from "../../src/contract/item";
import type { Page } from "../../src/contract/page";
import type { SessionDescription } from "../../src/contract/session";
import { ringNow } from "./alarms";
import { type ChannelChat, newChannelChat } from "./channel-chat";
import { advanceClock, restoreClock } from "./clock";
import { migrate, readBody, readText } from "./support";

beforeAll(migrate);
afterEach(restoreClock);

const findSession = async ({ tenant }: ChannelChat): Promise<SessionDescription> =>
  readBody(await tenant.call("GET", `/v1/sessions/by-external-id/${encodeURIComponent("desk/chat:room-1/1")}`));

async function listMessages(chat: ChannelChat): Promise<readonly DisplayItem[]> {
  const { id } = await findSession(chat);
  return (await readBody<Page<DisplayItem>>(await chat.tenant.call("GET", `/v1/sessions/${id}/messages`))).data;
}

describe("a message of a channel", () => {
  it("is answered by a turn of a session, and the reply reaches the platform", async () => {
    const chat = await newChannelChat({ system: "Be brief." });
    await chat.says({ text: "Good day." });

    expect(await chat.write({ text: "Hello." })).toBe(200);
    expect(await chat.taken(1)).toMatchObject([{ conversation: "room-1", text: "Good day." }]);
    const [heard] = await chat.model.heard(1);
    expect(heard?.body.messages).toMatchObject([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello." },
    ]);
    expect(await findSession(chat)).toMatchObject({ end_user: "generic:ada", metadata: { channel: "desk" } });
  });

  it("that comes twice at once is asked and answered once", async () => {
    const chat = await newChannelChat();
    await chat.says({ text: "One." }, { text: "Two." });

    await Promise.all([chat.write({ id: "same" }), chat.write({ id: "same" }), chat.write({ id: "same" })]);
    await chat.taken(1);
    await chat.write({ id: "same" });
    await chat.write({ id: "other" });

    expect((await chat.taken(2)).map(({ text }) => text)).toEqual(["One.", "Two."]);
    expect(await chat.model.heard()).toHaveLength(2);
  });

  it("is answered though every object dies while the model writes", async () => {
    const chat = await newChannelChat();
    await chat.says({ text: "Lost.", gate: "never" }, { text: "Found." });
    await chat.write({});
    await chat.model.heard(1);
    await abortAllDurableObjects();
    advanceClock(31_000);
    await ringNow(chat.stub);

    expect(await chat.taken(1)).toMatchObject([{ text: "Found." }]);
    await chat.model.open("never");
  });

  it("whose reply's answer was lost is sent again, under the operation by which the platform knows it", async () => {
    const chat = await newChannelChat();
    await chat.platformSays({ lost: true });
    await chat.says({ text: "Good day." });
    await chat.write({});

    const [first, second] = await chat.taken(2);
    expect(second).toEqual(first);
  });

  it("brings its files along, as files of the tenant", async () => {
    const chat = await newChannelChat();
    await chat.says({ text: "Nine to five." });
    await chat.write({ text: "When?", files: [{ url: chat.fileUrl, name: "hours.txt" }] });
    await chat.taken(1);

    const [asked] = await listMessages(chat);
    expect(asked && readText(asked)).toBe("When?");
    expect(asked?.content[1]).toMatchObject({ type: "file", name: "hours.txt", media_type: "text/plain" });
    const [heard] = await chat.model.heard(1);
    expect(JSON.stringify(heard?.body.messages)).toContain("nine to five");
  });

  it("names a file that cannot be fetched, in its text and in the channel's log", async () => {
    const chat = await newChannelChat();
    await chat.says({ text: "I cannot see it." });
    await chat.write({ text: "Look.", files: [{ url: "http://127.0.0.1:1/none", name: "photo.png" }] });
    await chat.taken(1);

    const [asked] = await listMessages(chat);
    expect(asked && readText(asked)).toBe("Look.\n\n[A file could not be read: photo.png]");
    const log = await readBody<Page<object>>(await chat.tenant.call("GET", "/v1/channels/desk/log"));
    expect(log.data).toMatchObject([{ kind: "attachment_failed", reason: "unreachable" }]);
  });
});

describe("a command of a channel", () => {
  it("begins a new conversation, and the old one stays", async () => {
    const chat = await newChannelChat();
    await chat.says({ text: "One." }, { text: "Two." });
    await chat.write({ text: "My dog is called Rex." });
    await chat.taken(1);
    await chat.write({ text: "/reset" });
    await chat.taken(2);
    await chat.write({ text: "What is my dog called?" });
    await chat.taken(3);

    const [, second] = await chat.model.heard(2);
    expect(second?.body.messages).toMatchObject([{ role: "user", content: "What is my dog called?" }]);
    expect(await listMessages(chat)).toHaveLength(2);
  });

  it("erases the conversation once it was confirmed", async () => {
    const chat = await newChannelChat();
    await chat.says({ text: "One." });
    await chat.write({ text: "My dog is called Rex." });
    await chat.taken(1);
    const { id } = await findSession(chat);
    await chat.write({ text: "/forget" });
    const [, asked] = await chat.taken(2);
    await chat.write({ event: { button: { message: "m2", data: asked?.buttons[0]?.data } } });
    const [, , answered] = await chat.taken(3);

    expect(answered?.text).toBe("Everything we said is erased.");
    const gone = await readBody(await chat.tenant.call("GET", `/v1/sessions/${id}`), 404);
    expect(gone).toMatchObject({ type: expect.stringContaining("session_erased") });
  });
});

describe("an erasure of a chat's session", () => {
  it("by the API empties the chat of texts that wait, and its receipt lists the chat", async () => {
    const chat = await newChannelChat();
    await chat.platformSays({ status: 503 });
    await chat.says({ text: "The secret is Rumpelstilzchen." });
    await chat.write({ text: "Tell me." });
    await chat.refused(1);
    const { id } = await findSession(chat);
    const erased = await readBody<{ stores: object[] }>(await chat.tenant.call("DELETE", `/v1/sessions/${id}`));

    expect(erased.stores).toContainEqual({ store: "chat", status: "erased", rows: null });
    const left = await runInDurableObject(chat.stub, (_, { storage }) =>
      ["deliveries", "parts", "turns", "messages", "address"].map((name) => storage.sql.exec(`SELECT * FROM ${name}`).toArray()),
    );
    expect(left.flat()).toEqual([]);
  });
});
