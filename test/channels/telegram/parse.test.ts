/** What an update means. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { telegram } from "../../../src/channels/telegram/telegram";
import { drawn } from "../../support/effort";
import { CREDENTIALS, parse, toRequest } from "./support";

const ANSWER = { status: 200 };
const ada = { id: 1111, is_bot: false, first_name: "Ada", last_name: "Lovelace", username: "ada", language_code: "en-GB" };
const bot = { id: 123456, is_bot: true, first_name: "Longhand", username: "longhand_bot" };
const privately = { id: 1111, type: "private", first_name: "Ada" };
const group = { id: -1001234567890, type: "supergroup", title: "Tea" };
const base = { message_id: 7, date: 1_441_645_532, from: ada, chat: privately };

const update = (message: object) => parse({ update_id: 10_000, message: { ...base, ...message } });
/** The event of an update of one message. */
function read(message: object) {
  const parsed = update(message);
  return parsed.kind === "deliveries" ? parsed.deliveries[0]?.event : parsed;
}
const mention = (text: string, name: string, type = "mention") => ({
  text,
  entities: [{ type, offset: text.indexOf(name), length: name.length }],
});

describe("a message", () => {
  test("of a private chat is a delivery, with its place, its writer and its time", () => {
    expect(update({ text: "Hello" })).toEqual({
      kind: "deliveries",
      answer: ANSWER,
      deliveries: [
        {
          id: "10000",
          place: { chat: "1111", thread: null, is_private: true, target: { chat_id: 1111, thread_id: null } },
          user: { id: "1111", name: "Ada Lovelace", language: "en-GB" },
          at: 1_441_645_532_000,
          event: { type: "message", message: "7", text: "Hello", files: [], command: null, is_addressed: true },
        },
      ],
    });
  });

  test("of a topic has the topic as its thread, and a reply in a group without topics has none", () => {
    const inTopic = update({ text: "a", chat: group, message_thread_id: 5, is_topic_message: true });
    const inGroup = update({ text: "a", chat: group, message_thread_id: 5 });
    expect([inTopic, inGroup].map((parsed) => (parsed.kind === "deliveries" ? parsed.deliveries[0]?.place : null))).toEqual([
      { chat: "-1001234567890", thread: "5", is_private: false, target: { chat_id: -1001234567890, thread_id: 5 } },
      { chat: "-1001234567890", thread: null, is_private: false, target: { chat_id: -1001234567890, thread_id: null } },
    ]);
  });

  test("of a group addresses the bot by its name, a reply to it, or a command with its name, in any case of letters", () => {
    const chat = group;
    const addressed = (message: object) => read({ chat, ...message });
    expect(addressed({ text: "hello all" })).toMatchObject({ is_addressed: false });
    expect(addressed(mention("😀 hey @longhand_BOT what is tea?", "@longhand_BOT"))).toMatchObject({ is_addressed: true });
    expect(addressed(mention("hey @other_bot", "@other_bot"))).toMatchObject({ is_addressed: false });
    expect(addressed({ text: "and milk?", reply_to_message: { from: bot } })).toMatchObject({ is_addressed: true });
    expect(addressed({ text: "and milk?", reply_to_message: { from: ada } })).toMatchObject({ is_addressed: false });
    expect(addressed(mention("/reset@Longhand_bot", "/reset@Longhand_bot", "bot_command"))).toMatchObject({ is_addressed: true });
    expect(addressed(mention("/reset", "/reset", "bot_command"))).toMatchObject({ is_addressed: false });
  });

  test("is addressed by what Telegram marks as a mention, not by its letters", () => {
    expect(read({ chat: group, text: "mail me@longhand_bot", entities: [] })).toMatchObject({ is_addressed: false });
  });

  test("loses the bot's name at its beginning, and keeps it elsewhere and alone", () => {
    expect(read(mention("@longhand_bot, what is tea?", "@longhand_bot"))).toMatchObject({ text: "what is tea?" });
    expect(read(mention("ask @longhand_bot", "@longhand_bot"))).toMatchObject({ text: "ask @longhand_bot" });
    expect(read(mention("@longhand_bot", "@longhand_bot"))).toMatchObject({ text: "@longhand_bot" });
  });

  test("has a command with its arguments, at its beginning and for this bot only", () => {
    const command = (text: string, name: string) => read({ ...mention(text, name, "bot_command") });
    expect(command("/Reset now please", "/Reset")).toMatchObject({ command: { name: "reset", args: "now please" } });
    expect(command("/start@longhand_bot", "/start@longhand_bot")).toMatchObject({ command: { name: "start", args: "" } });
    expect(command("/start@other_bot", "/start@other_bot")).toMatchObject({ command: null });
    expect(command("see /start", "/start")).toMatchObject({ command: null, text: "see /start" });
    expect(read({ text: "/start" })).toMatchObject({ command: null });
  });

  test("that was forwarded says whose words it has, and gives no command", () => {
    const forward_origin = { type: "user", sender_user: { ...ada, first_name: "Grace" }, date: 1 };
    expect(read({ ...mention("/reset", "/reset", "bot_command"), forward_origin })).toMatchObject({
      text: "Forwarded from Grace:\n/reset",
      command: null,
    });
    expect(read({ text: "a", forward_origin: { type: "hidden_user", sender_user_name: "Someone" } })).toMatchObject({
      text: "Forwarded from Someone:\na",
    });
    expect(read({ text: "a", forward_origin: { type: "channel", chat: { ...group, type: "channel" } } })).toMatchObject({
      text: "Forwarded from Tea:\na",
    });
  });

  test("has the largest size of a photo, with its caption", () => {
    const photo = [90, 1280, 320].map((width) => ({ file_id: `p${width}`, file_unique_id: "u", width, height: width, file_size: width }));
    expect(read({ caption: "Look", photo })).toMatchObject({
      text: "Look",
      files: [{ ref: "p1280", name: null, media_type: "image/jpeg", bytes: 1280 }],
    });
  });

  test("has documents, voice, audio and videos as files, and an animation once", () => {
    const file = (kind: string, rest: object = {}) => ({ [kind]: { file_id: kind, file_unique_id: "u", ...rest } });
    const ref = (message: object) => {
      const event = read(message);
      return event && "files" in event ? event.files : event;
    };
    expect(ref(file("document", { file_name: "a.pdf", mime_type: "application/pdf", file_size: 9 }))).toEqual([
      { ref: "document", name: "a.pdf", media_type: "application/pdf", bytes: 9 },
    ]);
    expect(ref(file("voice"))).toEqual([{ ref: "voice", name: null, media_type: "audio/ogg", bytes: null }]);
    expect(ref(file("audio", { mime_type: "audio/mp4" }))).toMatchObject([{ media_type: "audio/mp4" }]);
    expect(ref(file("video"))).toMatchObject([{ ref: "video" }]);
    expect(ref(file("video_note"))).toMatchObject([{ ref: "video_note" }]);
    expect(ref({ ...file("animation"), ...file("document") })).toMatchObject([{ ref: "animation" }]);
  });

  test("has a sticker and a place as text", () => {
    expect(read({ sticker: { file_id: "s", emoji: "👍" } })).toMatchObject({ text: "👍", files: [] });
    expect(read({ location: { latitude: 52.5, longitude: 13.4 } })).toMatchObject({ text: "[location 52.5, 13.4]" });
  });

  test.each([
    ["a bot's", { text: "a", from: bot }],
    ["a channel's", { text: "a", chat: { ...group, type: "channel" } }],
    ["a channel's, copied into its group", { text: "a", chat: group, is_automatic_forward: true }],
    ["without a sender", { text: "a", from: undefined }],
    ["about the group itself", { chat: group, migrate_to_chat_id: -1 }],
  ])("is ignored when it is %s", (_, message) => {
    expect(update(message)).toMatchObject({ kind: "ignored", answer: ANSWER });
  });
});

describe("another update", () => {
  test("is an edit, with the new text", () => {
    expect(parse({ update_id: 3, edited_message: { ...base, text: "new", edit_date: 2 } })).toMatchObject({
      deliveries: [{ id: "3", event: { type: "edit", message: "7", text: "new" } }],
    });
  });

  test("is a pressed button, whose delivery has the query's id", () => {
    const message = { ...base, from: bot, chat: group, message_thread_id: 5, is_topic_message: true, text: "Sure?" };
    expect(parse({ update_id: 3, callback_query: { id: "4382", from: ada, message, data: "yes" } })).toMatchObject({
      deliveries: [
        { id: "callback:4382", place: { thread: "5" }, user: { id: "1111" }, event: { type: "button", message: "7", data: "yes" } },
      ],
    });
  });

  test.each(["channel_post", "my_chat_member", "poll", "message_reaction"])("is ignored, with its name as the reason: %s", (name) => {
    expect(parse({ update_id: 3, [name]: { secret: "words" } })).toEqual({
      kind: "ignored",
      reason: `no message: ${name}`,
      answer: ANSWER,
    });
  });

  test("is malformed without an id, or when it is no JSON", () => {
    expect([parse({}), parse(null), parse([1]), telegram.parse(toRequest("{"), CREDENTIALS)].map(({ kind }) => kind)).toEqual(
      Array(4).fill("malformed"),
    );
    expect(telegram.parse({ ...toRequest(""), method: "GET" }, CREDENTIALS)).toMatchObject({ kind: "malformed" });
  });

  test("with a part of an unknown shape is read without that part, so that Telegram does not send it for ever", () => {
    expect(read({ text: "a", photo: { odd: true }, entities: [{ type: 1 }], reply_to_message: 5, forward_origin: "x" })).toMatchObject({
      text: "a",
      files: [],
    });
    expect(parse({ update_id: 1, message: { text: "no chat" } })).toMatchObject({ kind: "ignored" });
  });

  test("never throws, whatever the body is", () => {
    const names = [
      "update_id",
      "message",
      "edited_message",
      "callback_query",
      "from",
      "chat",
      "id",
      "text",
      "entities",
      "photo",
      "data",
      "date",
      "message_id",
    ];
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6 },
        fc.jsonValue({ maxDepth: 1 }),
        fc.integer(),
        fc.dictionary(fc.constantFrom(...names), tie("tree")),
        fc.array(tie("tree"), { maxLength: 3 }),
      ),
    }));
    const body = fc.oneof(
      tree.map((json) => JSON.stringify({ update_id: 1, ...Object(json) })),
      fc.json(),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(body, (text) => {
        expect(["handshake", "ignored", "deliveries", "malformed"]).toContain(telegram.parse(toRequest(text), CREDENTIALS).kind);
      }),
      { numRuns: drawn(1_000) },
    );
  });
});

describe("the secret of a webhook", () => {
  const verify = (...sent: string[]) => {
    const headers = new Headers();
    for (const value of sent) headers.append("X-Telegram-Bot-Api-Secret-Token", value);
    return telegram.verify(toRequest("{}", headers), CREDENTIALS, 0);
  };

  test("is right, wrong, missing, or sent twice", async () => {
    const secret = CREDENTIALS.secret_token;
    const wrong = [`${secret}x`, secret.slice(1), secret.toUpperCase(), ""];
    expect(await verify(secret)).toBe("verified");
    expect(await verify()).toBe("unsigned");
    for (const each of wrong) expect(await verify(each)).toBe("wrong");
    expect(await verify(secret, secret)).toBe("wrong");
  });
});

describe("credentials", () => {
  const entered = { bot_token: "123456:AAbb-cc_dd", secret_token: "0123456789abcdef", bot_username: "longhand_bot" };
  const fault = (change: object) => telegram.credentials.safeParse({ ...entered, ...change }).error?.issues[0]?.path[0];

  test("have Telegram's own address unless another is given, without a slash at its end", () => {
    expect(telegram.credentials.parse(entered).api_url).toBe("https://api.telegram.org");
    expect(telegram.credentials.parse({ ...entered, api_url: "http://127.0.0.1:8081/" }).api_url).toBe("http://127.0.0.1:8081");
  });

  test("are refused by the name of what is wrong", () => {
    expect(telegram.credentials.safeParse(entered).success).toBe(true);
    expect(fault({ bot_token: "123456:a/../b" })).toBe("bot_token");
    expect(fault({ secret_token: "too-short" })).toBe("secret_token");
    expect(fault({ secret_token: "a".repeat(257) })).toBe("secret_token");
    expect(fault({ bot_username: "@longhand_bot" })).toBe("bot_username");
    expect(fault({ api_url: "file:///etc" })).toBe("api_url");
  });
});
