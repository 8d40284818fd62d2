import { describe, expect, test } from "vitest";
import { slackCredentials } from "../../../src/channels/slack/credentials";
import { slack } from "../../../src/channels/slack/slack";
import { BOT, callback, onlyDelivery, parse, post, read } from "./support";

const TS = "1764000000.000100";
const message = (more: object = {}) => ({
  type: "message",
  channel: "C1",
  channel_type: "channel",
  user: "U1",
  text: `<@${BOT}> hello`,
  ts: TS,
  event_ts: TS,
  ...more,
});
const direct = (more: object = {}) => message({ channel: "D1", channel_type: "im", text: "hello", ...more });
const reason = (event: object): unknown => parse(post(callback(event)));

describe("events of Slack", () => {
  test("the check of the address is answered with its challenge", () => {
    const body = JSON.stringify({ token: "t", challenge: "3eZbrw1aBm2r", type: "url_verification" });
    expect(parse(post(body))).toEqual({ kind: "handshake", answer: { status: 200, json: { challenge: "3eZbrw1aBm2r" } } });
  });

  test("a direct message addresses the bot, and its reply is beside it", () => {
    expect(read(direct())).toEqual({
      id: `D1:${TS}`,
      place: { chat: "D1", thread: null, is_private: true, target: { channel: "D1", thread_ts: null } },
      user: { id: "U1", name: null, language: null },
      at: 1_764_000_000_000,
      event: { type: "message", message: TS, text: "hello", files: [], command: null, is_addressed: true },
    });
  });

  test("the reply to a mention in a channel is in the thread that the mention opens, and so is all that follows there", () => {
    const first = read(message());
    const second = read(message({ ts: "1764000009.000000", thread_ts: TS }));
    expect(first.place).toEqual({ chat: "C1", thread: TS, is_private: false, target: { channel: "C1", thread_ts: TS } });
    expect(second.place).toEqual(first.place);
  });

  test("a mention that arrives as `message` and as `app_mention` is one delivery", () => {
    const { channel_type: _, ...mention } = message({ type: "app_mention" });
    const one = onlyDelivery(parse(post(callback(message(), { event_id: "Ev1" }))));
    const two = onlyDelivery(parse(post(callback(mention, { event_id: "Ev2" }))));
    expect(two).toEqual(one);
  });

  test("who the bot is, the event says where the tenant does not", () => {
    const unknown = slackCredentials.parse({ signing_secret: "s", bot_token: "xoxb-1" });
    const authorizations = [{ user_id: BOT, is_bot: true, team_id: "T1" }];
    const told = onlyDelivery(slack.parse(post(callback(message(), { authorizations })), unknown));
    expect(told).toMatchObject({ id: `C1:${TS}`, event: { text: "hello", is_addressed: true } });
    expect(slack.parse(post(callback(message())), unknown)).toMatchObject({ kind: "ignored" });
    expect(onlyDelivery(slack.parse(post(callback(message({ type: "app_mention" }))), unknown))).toMatchObject({ id: `C1:${TS}` });
  });

  test("a message that does not address the bot says so, and has the event's id", () => {
    const { id, event } = read(message({ text: "<@U2> hello" }));
    expect({ id, event }).toMatchObject({ id: "Ev1", event: { text: "@U2 hello", is_addressed: false } });
  });

  test("a reply in a thread that the bot began addresses it", () => {
    expect(read(message({ text: "and?", thread_ts: "1764000000.000000", parent_user_id: BOT })).event).toMatchObject({
      is_addressed: true,
    });
  });

  test.each([
    ["the bot's own message", direct({ user: BOT })],
    ["a message of another bot", direct({ bot_id: "B1" })],
    ["a bot's message of the old form", direct({ subtype: "bot_message", user: undefined })],
    ["a person who joins", direct({ subtype: "channel_join" })],
    ["an event of another type", { type: "reaction_added", user: "U1" }],
    ["a change by the bot", direct({ subtype: "message_changed", message: { user: BOT, bot_id: "B1", text: "b", ts: TS } })],
    [
      "a preview that is added",
      direct({
        subtype: "message_changed",
        message: { user: "U1", text: "b", ts: TS },
        previous_message: { user: "U1", text: "b", ts: TS },
      }),
    ],
    [
      "a deletion of the bot's message",
      direct({ subtype: "message_deleted", deleted_ts: TS, previous_message: { user: BOT, text: "b", ts: TS } }),
    ],
  ])("%s is ignored, and taken", (_, event) => {
    expect(reason(event)).toMatchObject({ kind: "ignored", answer: { status: 200 } });
  });

  test("an edit names the message and its place", () => {
    const changed = { user: "U1", text: "b &amp; c", ts: TS, edited: { user: "U1", ts: "1764000005.000000" } };
    const before = { user: "U1", text: "a", ts: TS };
    const event = {
      subtype: "message_changed",
      message: changed,
      previous_message: before,
      user: undefined,
      event_ts: "1764000005.000000",
    };
    const { place, ...rest } = read(message(event));
    expect(rest).toMatchObject({
      id: "Ev1",
      user: { id: "U1" },
      at: 1_764_000_005_000,
      event: { type: "edit", message: TS, text: "b & c" },
    });
    expect(place).toEqual(read(message()).place);
  });

  test("an edit of a direct message that has replies is in the place of the message", () => {
    const changed = { user: "U1", text: "b", ts: TS, thread_ts: TS };
    expect(read(direct({ subtype: "message_changed", message: changed })).place).toEqual(read(direct()).place);
  });

  test("a deletion names the message, also where its replies remain", () => {
    const before = { user: "U1", text: "a", ts: TS };
    const deleted = read(message({ subtype: "message_deleted", deleted_ts: TS, previous_message: before, ts: "1764000009.000000" }));
    const tombstone = { user: "USLACKBOT", subtype: "tombstone", text: "This message was deleted.", ts: TS, thread_ts: TS };
    const left = read(message({ subtype: "message_changed", message: tombstone, previous_message: before }));
    expect(deleted.event).toEqual({ type: "deletion", message: TS });
    expect(left).toMatchObject({ user: { id: "U1" }, place: deleted.place, event: deleted.event });
  });

  test("files come with their type and size, and those without an address are left out", () => {
    const shared = { name: "a.png", mimetype: "image/png", size: 3, url_private: "https://files.slack.com/files-pri/T1-F1/a.png" };
    const { event } = read(direct({ subtype: "file_share", text: "", files: [shared, { id: "F2", mode: "hidden_by_limit" }, null] }));
    expect(event).toMatchObject({ text: "", files: [{ ref: shared.url_private, name: "a.png", media_type: "image/png", bytes: 3 }] });
  });

  test("a command may be written after the mention, because Slack has no slash commands in threads", () => {
    expect(read(message({ text: `<@${BOT}> /Reset now`, thread_ts: TS })).event).toMatchObject({ command: { name: "reset", args: "now" } });
    expect(read(message({ text: `<@${BOT}> /etc/passwd` })).event).toMatchObject({ command: null, text: "/etc/passwd" });
  });

  test.each([
    ["no `type`", "{}"],
    ["an event without an id", JSON.stringify({ type: "event_callback", event: message() })],
    ["a message without a channel", callback({ ...message(), channel: undefined })],
    ["a `ts` that is no number", callback(message({ ts: "1e5" }))],
    ["no JSON", "{"],
    ["nothing", ""],
    ["a list", "[]"],
  ])("%s is malformed", (_, body) => {
    expect(parse(post(body))).toMatchObject({ kind: "malformed", detail: expect.stringMatching(/^\S+: /) });
  });

  test("a malformed request names its field", () => {
    expect(parse(post(callback({ ...message(), channel: 5 })))).toMatchObject({
      detail: "channel: is missing, or not as Slack documents it",
    });
  });
});

describe("Slack's escapes in a text", () => {
  test.each([
    ["a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"],
    [`<@${BOT}|longhand>, hi`, "hi"],
    [`ask <@${BOT}> now`, `ask @${BOT} now`],
    ["<@U2|ada> and <@W3>", "@ada and @W3"],
    ["<#C2|general> <#C3>", "#general #C3"],
    ["<!here> <!channel|channel> <!subteam^S1|@team>", "@here channel @team"],
    ["<!date^1392734382^{date}|18 February 2014>", "18 February 2014"],
    ["<https://a.example/?x=1&amp;y=2>", "https://a.example/?x=1&y=2"],
    ["<https://a.example|the page>", "the page (https://a.example)"],
    ["<http://a.example|a.example>", "http://a.example"],
    ["<mailto:ada@a.example|ada@a.example>", "ada@a.example"],
    ["1 < 2 <b>", "1 < 2 <b>"],
    ["你好 <", "你好 <"],
  ])("%j is read as %j", (text, plain) => {
    expect(read(direct({ text })).event).toMatchObject({ text: plain });
  });
});
