import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { discord } from "../../../src/channels/discord/discord";
import { ask, credentials, ID, inServer, NOW, parse, post, read, run } from "./support";

const THINKING = { status: 200, json: { type: 5 } };
const TAKEN = { status: 200, json: { type: 6 } };

describe("an interaction of Discord", () => {
  test("PING is answered with PONG", () => {
    expect(parse({ id: "1", application_id: "700", type: 1, token: "x" })).toEqual({
      kind: "handshake",
      answer: { status: 200, json: { type: 1 } },
    });
  });

  test("of another application than the credentials is malformed, and names the field", () => {
    for (const type of [1, 2])
      expect(parse({ ...ask("hi"), type, application_id: "701" })).toMatchObject({
        kind: "malformed",
        detail: expect.stringContaining("`application_id`"),
      });
  });

  test("/ask is a message, at the time of its id, and shows that the bot is thinking", () => {
    const parsed = parse(ask("why?"));
    expect(parsed).toMatchObject({ kind: "deliveries", answer: THINKING });
    expect(read(ask("why?"))).toEqual({
      id: ID,
      at: NOW,
      user: { id: "5", name: "Annie", language: "zh-CN" },
      place: {
        chat: "100",
        thread: null,
        is_private: false,
        target: { channel: "100", token: inServer.token, asked_at: NOW, is_thinking: 1, may_write: 1 },
      },
      event: { type: "message", message: ID, text: "why?", files: [], command: null, is_addressed: true },
    });
  });

  test.each([
    ["reset", [], "/reset", { name: "reset", args: "" }],
    ["Compact", [{ name: "note", type: 3, value: " keep names " }], "/compact keep names", { name: "compact", args: "keep names" }],
    ["ask", [], "/ask", { name: "help", args: "" }],
    ["ask", [{ name: "message", type: 3, value: "reset" }], "reset", null],
    ["roll", [{ name: "sides", type: 4, value: 6 }], "6", null],
    [
      "translate",
      [
        { name: "text", type: 3, value: "hi" },
        { name: "to", type: 3, value: "中文" },
      ],
      "text: hi\nto: 中文",
      null,
    ],
    ["bot", [{ name: "ask", type: 1, options: [{ name: "message", type: 3, value: "hi" }] }], "hi", null],
    ["constructor", [{ name: "message", type: 3, value: "hi" }], "hi", null],
  ])("/%s %j", (name, options, text, command) => {
    expect(read(run(name, options)).event).toMatchObject({ text, command });
  });

  test("attachments are files, and need no words", () => {
    const file = {
      id: "9",
      filename: "a.png",
      content_type: "image/png",
      size: 3,
      url: "https://cdn.discordapp.com/ephemeral-attachments/1/a.png?ex=1",
    };
    const options = [
      { name: "file", type: 11, value: "9" },
      { name: "other", type: 11, value: "8" },
    ];
    expect(read(run("ask", options, { resolved: { attachments: { "9": file } } })).event).toMatchObject({
      text: "",
      command: null,
      files: [{ ref: file.url, name: "a.png", media_type: "image/png", bytes: 3 }],
    });
  });

  test("a thread has its channel as the chat, and a direct message is private", () => {
    const thread = { channel_id: "101", channel: { id: "101", type: 11, parent_id: "100" } };
    expect(read(ask("a", { ...thread, app_permissions: String((1n << 10n) | (1n << 38n)) })).place).toMatchObject({
      chat: "100",
      thread: "101",
      is_private: false,
      target: { channel: "101", may_write: 1 },
    });
    expect(read(ask("a", thread)).place.target.may_write).toBe(0);
    const direct = {
      guild_id: undefined,
      member: undefined,
      user: { id: "6", username: "bo" },
      channel_id: "7",
      channel: { id: "7", type: 1 },
      context: 1,
    };
    const inDirect = read(ask("a", direct));
    expect(inDirect).toMatchObject({ user: { id: "6", name: "bo" }, place: { chat: "7", is_private: true, target: { may_write: 1 } } });
    expect(read(ask("a", { ...direct, context: 2, channel: { id: "7", type: 3 } })).place).toMatchObject({
      is_private: false,
      target: { may_write: 0 },
    });
  });

  test.each([
    [{ app_permissions: "0" }, 0],
    [{ app_permissions: undefined }, 0],
    [{ app_permissions: "8" }, 1],
    [{ authorizing_integration_owners: { "1": "5" } }, 0],
  ])("with %j, may_write is %i", (more, expected) => {
    expect(read(ask("a", more)).place.target.may_write).toBe(expected);
  });

  test("a pressed button leaves its message as it is, and has that message's id", () => {
    const press = { ...inServer, type: 3, data: { custom_id: "yes:1", component_type: 2 }, message: { id: "55" } };
    expect(parse(press)).toMatchObject({ kind: "deliveries", answer: TAKEN });
    expect(read(press)).toMatchObject({ event: { type: "button", message: "55", data: "yes:1" }, place: { target: { is_thinking: 0 } } });
  });

  test.each([
    ["autocomplete", { type: 4 }, { type: 8, data: { choices: [] } }],
    ["a modal", { type: 5 }, { type: 6 }],
    ["a menu", { type: 3, data: { custom_id: "x", component_type: 3, values: ["a"] }, message: { id: "55" } }, { type: 6 }],
    ["a command of the menu of a message", { data: { id: "1", name: "Ask", type: 3 } }, { type: 4, data: { flags: 64 } }],
  ])("%s is ignored, with an answer that Discord takes", (_, more, json) => {
    expect(parse({ ...ask("a"), ...more })).toMatchObject({ kind: "ignored", answer: { status: 200, json } });
  });

  test.each([
    ["channel_id", { channel_id: undefined }],
    ["token", { token: "../../users" }],
    ["id", { id: "x" }],
    ["data", { data: undefined }],
    ["member.user", { member: undefined }],
  ])("without a proper %s is malformed, and says so", (field, more) => {
    expect(parse({ ...ask("a"), ...more })).toMatchObject({ kind: "malformed", detail: expect.stringContaining(`\`${field}`) });
  });

  test("the target has at most 2 KB", () => {
    const { target } = read(ask("a", { token: "t".repeat(1_000) })).place;
    expect(JSON.stringify(target).length).toBeLessThan(2_048);
    expect(parse(ask("a", { token: "t".repeat(1_001) })).kind).toBe("malformed");
  });
});

const KINDS = ["handshake", "ignored", "deliveries", "malformed"];
const value = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(1, 2, 3, 11, "1", "700", "ask", "reset", null, [], {}, [{ name: "a", type: 3, value: "b" }], { "0": "1" }),
);
const NAMES = [...Object.keys(inServer), "data", "message", "user"];
const changes = fc.dictionary(fc.constantFrom(...NAMES), value);
const data = fc.dictionary(fc.constantFrom("name", "type", "options", "resolved", "custom_id", "component_type"), value);

describe("whatever arrives, parsing it never throws", () => {
  test("any bytes, and any JSON", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (given) => void expect(KINDS).toContain(discord.parse(post(given), credentials).kind)),
    );
    fc.assert(fc.property(fc.json(), (json) => void expect(KINDS).toContain(parse(json).kind)));
  });

  test("any interaction", () => {
    fc.assert(fc.property(changes, (given) => void expect(KINDS).toContain(parse({ ...ask("a"), ...given }).kind)));
    fc.assert(
      fc.property(
        data,
        fc.constantFrom(2, 3),
        (given, type) => void expect(KINDS).toContain(parse({ ...ask("a"), type, data: given, message: { id: "1" } }).kind),
      ),
    );
  });

  test("any words of a person arrive", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
        fc.pre(text.trim() !== "");
        expect(read(ask(text.toWellFormed())).event).toMatchObject({ text: text.toWellFormed().trim() });
      }),
    );
  });

  test("deep nesting, and a method that Discord does not use", () => {
    expect(parse("[".repeat(200_000)).kind).toBe("malformed");
    const nested = `${'[{"name":"a","type":1,"options":'.repeat(3_000)}[]${"}]".repeat(3_000)}`;
    expect(KINDS).toContain(parse(JSON.stringify(run("ask")).replace('"options":[]', `"options":${nested}`)).kind);
    expect(discord.parse({ ...post("{}"), method: "GET" }, credentials).kind).toBe("malformed");
  });
});
