/** A bot from an update to what its people see: the real backend in workerd, between stand-ins of Telegram and of a provider, over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type BotScene, openBotScene } from "../../../scripts/demo/bot-scene";
import { callApi } from "../../../scripts/support/api-client";
import type { Seen } from "../../support/stand-in/telegram/chats";

const START_MS = 120_000;
const TEST_MS = 60_000;

let scene: BotScene;
beforeAll(async () => {
  scene = await openBotScene();
}, START_MS);
afterAll(() => scene.close());

const replies = (chat: { readonly id: number }): readonly Seen[] => scene.telegram.seen(chat).filter(({ from }) => from.is_bot);
const hears = (chat: { readonly id: number }, words: string) =>
  scene.telegram.until(() => replies(chat).some(({ text }) => text.includes(words)));

describe("a bot on Telegram", { timeout: TEST_MS }, () => {
  test("answers a person with formatting, and remembers the conversation", async () => {
    const { telegram, provider } = scene;
    const ada = telegram.addPerson("Ada");
    provider.enqueue({ text: "Hello **Ada**, 1 < 2 & `x`." }, { text: "You said tea." });
    telegram.say({ from: ada, text: "Remember: tea" });
    await hears(ada, "Hello Ada");
    expect(replies(ada).at(-1)).toMatchObject({ text: "Hello Ada, 1 < 2 & x.", entities: [{ type: "bold" }, { type: "code" }] });
    telegram.say({ from: ada, text: "What did I say?" });
    await hears(ada, "You said tea.");
    expect(
      provider.log
        .at(-1)
        ?.body.messages.map(({ content }) => JSON.stringify(content))
        .join(),
    ).toContain("Remember: tea");
  });

  test("answers an update that is delivered again once", async () => {
    const { telegram, provider } = scene;
    const ben = telegram.addPerson("Ben");
    provider.enqueue({ text: "Once." }, { text: "Second." });
    const first = { update_id: 77, message: { message_id: 1, date: 1, from: ben, chat: { id: ben.id, type: "private" }, text: "Hello" } };
    expect([await telegram.updates.post(first), await telegram.updates.post(first)]).toEqual([200, 200]);
    await hears(ben, "Once.");
    expect(await telegram.updates.post(first)).toBe(200);
    telegram.say({ from: ben, text: "And now?" });
    await hears(ben, "Second.");
    expect(replies(ben).map(({ text }) => text)).toEqual(["Once.", "Second."]);
  });

  test("sends a long reply in parts that Telegram takes, with the code block in both", async () => {
    const { telegram, provider } = scene;
    const eve = telegram.addPerson("Eve");
    const code = Array.from({ length: 300 }, (_, n) => `const value${n} = ${n};`).join("\n");
    provider.enqueue({ text: `Here:\n\n\`\`\`ts\n${code}\n\`\`\`\n\nThat is all.` });
    telegram.say({ from: eve, text: "Write code" });
    await hears(eve, "That is all.");
    const parts = replies(eve);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.every(({ entities }) => entities.some(({ type, language }) => type === "pre" && language === "ts"))).toBe(true);
    expect(
      parts
        .map(({ text }) => text)
        .join("\n")
        .match(/const value\d+ = \d+;/g),
    ).toEqual(code.split("\n"));
  });

  test("answers in a group when it is addressed, in the topic, and records nothing else", async () => {
    const { telegram, provider } = scene;
    const ada = telegram.addPerson("Ada");
    const group = telegram.addGroup("Tea", [5]);
    const asked = provider.log.length;
    provider.enqueue({ text: "Green." });
    telegram.say({ from: ada, chat: group, thread: 5, text: "A secret of ours" });
    telegram.say({ from: ada, chat: group, thread: 5, text: `@${telegram.bot.username} which tea?` });
    await hears(group, "Green.");
    expect(replies(group)).toMatchObject([{ thread: 5, text: "Green." }]);
    expect(provider.log).toHaveLength(asked + 1);
    expect(provider.log.at(-1)?.raw).not.toContain("A secret of ours");
  });

  test("refuses an update without the secret, and with another", async () => {
    const body = JSON.stringify({ update_id: 1 });
    const post = (headers: Record<string, string>) => fetch(scene.hook, { method: "POST", headers, body });
    const statuses = [await post({}), await post({ "x-telegram-bot-api-secret-token": "another-secret-altogether" })];
    expect(statuses.map(({ status }) => status)).toEqual([401, 401]);
  });

  test("that a person blocks says so in the channel's log", async () => {
    const { telegram, provider, connection } = scene;
    const dan = telegram.addPerson("Dan");
    provider.enqueue({ text: "Lost." });
    telegram.say({ from: dan, text: "Bye" });
    telegram.block(dan);
    await telegram.until(() =>
      telegram.calls.some(({ fields, status, method }) => method === "sendMessage" && fields.chat_id === dan.id && status === 403),
    );
    const log = z.object({ data: z.array(z.object({ reason: z.string().nullish() })) });
    const read = async () => JSON.stringify(log.parse(await callApi(connection, { method: "GET", path: "/v1/channels/assistant/log" })));
    await expect.poll(read).toContain("blocked");
    expect(replies(dan)).toEqual([]);
  });
});
