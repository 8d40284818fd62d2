/** The stand-in of Telegram: what it delivers, limits and refuses, as the Bot API's documents say. */
import { createServer, type IncomingMessage } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { TelegramStandIn } from "../../support/stand-in/telegram/telegram";

let server: TelegramStandIn;
let now = 0;
const waits: number[] = [];
beforeEach(async () => {
  now = Date.UTC(2026, 0, 1);
  waits.length = 0;
  server = await new TelegramStandIn({ now: () => now, wait: async (ms) => void waits.push(ms) }).listen();
});
afterEach(() => server.close());

const answer = z.object({
  ok: z.boolean(),
  result: z.unknown().optional(),
  error_code: z.number().optional(),
  description: z.string().optional(),
  parameters: z.unknown().optional(),
});

async function call(method: string, fields: object = {}, token = server.token) {
  const response = await fetch(`${server.url}/bot${token}/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(fields),
  });
  return { status: response.status, ...answer.parse(await response.json()) };
}

/** An application that answers updates with the given statuses, then with 200. */
async function startApp(...statuses: number[]) {
  const heard: { readonly update: { readonly update_id: number }; readonly secret: string | undefined }[] = [];
  const app = createServer(async (request: IncomingMessage, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const secret = request.headers["x-telegram-bot-api-secret-token"];
    heard.push({ update: JSON.parse(Buffer.concat(pieces).toString()), secret: secret === undefined ? undefined : String(secret) });
    response.writeHead(statuses.shift() ?? 200).end();
  });
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  const address = app.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { heard, url: `http://127.0.0.1:${port}/`, close: () => new Promise((resolve) => app.close(resolve)) };
}

describe("the stand-in of Telegram", () => {
  test("says who the bot is, takes calls as a form, and refuses another token and unknown methods", async () => {
    expect(await call("getMe")).toMatchObject({ status: 200, ok: true, result: { is_bot: true, username: "longhand_bot" } });
    expect(await call("getMe", {}, "1:other")).toMatchObject({ status: 401, ok: false, description: "Unauthorized" });
    expect(await call("nothing")).toMatchObject({ status: 404, ok: false });
    const form = await fetch(`${server.url}/bot${server.token}/setWebhook`, {
      method: "POST",
      body: new URLSearchParams({ url: "http://127.0.0.1:9/" }),
    });
    expect(form.status).toBe(200);
    expect(await call("getWebhookInfo")).toMatchObject({ result: { url: "http://127.0.0.1:9/", pending_update_count: 0 } });
  });

  test("delivers updates in order, with the secret, each until it is answered with 2xx", async () => {
    const app = await startApp(500, 403);
    const ada = server.addPerson("Ada");
    server.say({ from: ada, text: "one" });
    server.say({ from: ada, text: "two" });
    await call("setWebhook", { url: app.url, secret_token: "s_1" });
    await server.updates.settled();
    expect(app.heard).toMatchObject(
      [..."aaab"].map((each) => ({
        secret: "s_1",
        update: { update_id: each === "a" ? 10_001 : 10_002, message: { chat: { type: "private" } } },
      })),
    );
    expect([server.updates.delivered.map(({ status }) => status), waits]).toEqual([
      [500, 403, 200, 200],
      [1_000, 2_000],
    ]);
    await app.close();
  });

  test("refuses a secret with other characters", async () => {
    expect(await call("setWebhook", { url: "http://127.0.0.1:9/", secret_token: "a b" })).toMatchObject({ status: 400 });
  });

  test("marks mentions and commands in UTF-16 units, and topics", async () => {
    const group = server.addGroup("Tea", [5]);
    const ada = server.addPerson("Ada");
    const app = await startApp();
    await call("setWebhook", { url: app.url });
    server.say({ from: ada, chat: group, thread: 5, text: "😀 @longhand_bot /reset@longhand_bot a@b.example" });
    await server.updates.settled();
    expect(app.heard[0]?.update).toMatchObject({
      message: {
        is_topic_message: true,
        message_thread_id: 5,
        entities: [
          { type: "mention", offset: 3, length: 13 },
          { type: "bot_command", offset: 17, length: 19 },
        ],
      },
    });
    await app.close();
  });

  test("takes one message a second in a chat, 20 a minute in a group, and 30 a second in all", async () => {
    const people = Array.from({ length: 31 }, (_, n) => server.addPerson(`P${n}`));
    const group = server.addGroup("Tea");
    const statuses = async (chats: readonly { readonly id: number }[]) => {
      const sent: number[] = [];
      for (const { id } of chats) sent.push((await call("sendMessage", { chat_id: id, text: "a" })).status);
      return sent;
    };
    expect(await statuses([group, group])).toEqual([200, 429]);
    now += 1_000;
    expect((await statuses(people)).filter((status) => status === 429)).toHaveLength(1);
    for (let n = 0; n < 19; n++) {
      now += 1_000;
      await statuses([group]);
    }
    now += 1_000;
    expect(await call("sendMessage", { chat_id: group.id, text: "a" })).toMatchObject({
      status: 429,
      description: "Too Many Requests: retry after 39",
      parameters: { retry_after: 39 },
    });
    now += 39_000;
    expect(await statuses([group])).toEqual([200]);
  });

  test.each([
    [{ text: "" }, "message text is empty"],
    [{ text: "x".repeat(4_097) }, "message is too long"],
    [{ text: "<b>a", parse_mode: "HTML" }, `can't parse entities: Can't find end tag corresponding to start tag "b"`],
    [{ text: "a", chat_id: 5 }, "chat not found"],
    [{ text: "a", reply_markup: { inline_keyboard: [[{ text: "a", callback_data: "é".repeat(33) }]] } }, "BUTTON_DATA_INVALID"],
  ])("refuses %j", async (fields, description) => {
    const ada = server.addPerson("Ada");
    expect(await call("sendMessage", { chat_id: ada.id, ...fields })).toMatchObject({
      status: 400,
      description: `Bad Request: ${description}`,
    });
    expect(server.seen(ada)).toEqual([]);
  });

  test("hangs, and loses answers, when it is told to", async () => {
    const ada = server.addPerson("Ada");
    server.mishap({ type: "lose_answer" });
    await expect(call("sendMessage", { chat_id: ada.id, text: "a" })).rejects.toThrow();
    expect(server.seen(ada)).toHaveLength(1);
    server.mishap({ type: "hang" });
    const hung = call("sendMessage", { chat_id: ada.id, text: "b" }).catch(() => "closed");
    await expect.poll(() => server.calls.length).toBe(2);
    await server.close();
    expect(await hung).toBe("closed");
    expect(server.seen(ada)).toHaveLength(1);
    server = await new TelegramStandIn().listen();
  });
});
