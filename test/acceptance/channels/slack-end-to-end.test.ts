/** What Slack alone has, through the whole backend: retries with their headers, threads, mentions, slash commands, and messages of bots. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EN } from "../../../src/app/channels/words/words-latin";
import { slackDriver, toSlackPlatform } from "../../channels/contract/slack-driver";
import { type ChannelStage, openChannelStage } from "../../channels/contract/stage";
import { type SlackStandIn, startSlack } from "../../support/stand-in/slack/slack";

const START_MS = 120_000;
const TEST_MS = 60_000;
const ADA = "U0ADA";
const OTHER_BOT = "U0OTHERBOT";

let slack: SlackStandIn;
let stage: ChannelStage;
beforeAll(async () => {
  slack = await startSlack();
  stage = await openChannelStage({ ...slackDriver, start: async () => toSlackPlatform(slack) }, { session_per: "thread" });
}, START_MS);
afterAll(() => stage?.close());

let channels = 0;
function openChannel(kind: "C" | "D" = "C"): string {
  const channel = `${kind}E2E${++channels}`;
  slack.addChannel({ id: channel });
  return channel;
}

/** Generous, because a channel takes one message a second, and the machine may be busy. */
const PATIENCE = { timeout: 20_000 } as const;

const replies = (channel: string) => slack.seen(channel).filter(({ user }) => user === slack.bot);
const untilReplies = (channel: string, texts: readonly string[]) =>
  expect.poll(() => replies(channel).map(({ text }) => text), PATIENCE).toEqual(texts);

describe("a channel of Slack", { timeout: TEST_MS }, () => {
  test("takes an event that Slack sends again with X-Slack-Retry-Num as the one that it has", async () => {
    const channel = openChannel("D");
    stage.relay.mishap("retried by Slack", { type: "lose_answer" });
    stage.provider.enqueue({ text: "Once." });
    await slack.say({ channel, user: ADA, text: "retried by Slack" });
    await untilReplies(channel, ["Once."]);
    const hooks = stage.relay.find("retried by Slack");
    expect(hooks.map(({ headers }) => headers["x-slack-retry-num"])).toEqual([undefined, "1"]);
    expect(hooks.map(({ status }) => status)).toEqual([200, 200]);
  });

  test("answers a mention, which Slack sends twice, once and in its thread, and shows there that the bot is thinking", async () => {
    const channel = openChannel();
    const gate = Promise.withResolvers<void>();
    stage.provider.enqueue(
      (async function* () {
        await gate.promise;
        yield "Green tea.";
      })(),
    );
    const { ts, attempts } = await slack.say({ channel, user: ADA, text: "@bot which tea?" });
    expect(attempts.flat().map(({ status }) => status)).toEqual([200, 200]);
    await expect.poll(() => slack.status(channel, ts), PATIENCE).toBe("is thinking…");
    gate.resolve();
    await untilReplies(channel, ["Green tea."]);
    expect(replies(channel)).toMatchObject([{ thread_ts: ts }]);
    expect(slack.status(channel, ts)).toBeNull();
  });

  test("holds each thread as a conversation of its own", async () => {
    const channel = openChannel();
    stage.provider.enqueue({ text: "Noted, Rex." });
    const first = await slack.say({ channel, user: ADA, text: "@bot my dog is called Rex" });
    await untilReplies(channel, ["Noted, Rex."]);
    stage.provider.enqueue({ text: "Rex." });
    await slack.say({ channel, user: ADA, text: "@bot what is it called?", thread_ts: first.ts });
    await untilReplies(channel, ["Noted, Rex.", "Rex."]);
    expect(stage.asked.at(-1)).toContain("my dog is called Rex");
    stage.provider.enqueue({ text: "I do not know." });
    await slack.say({ channel, user: ADA, text: "@bot and what is mine called?" });
    await untilReplies(channel, ["Noted, Rex.", "Rex.", "I do not know."]);
    expect(stage.asked.at(-1)).not.toContain("my dog is called Rex");
  });

  test("shows the question of a slash command, and answers a slash command that is a command's name in the bot's words", async () => {
    const channel = openChannel();
    stage.provider.enqueue({ text: "Seven." });
    const asked = await slack.slash(channel, ADA, "/ask how many days has a week?");
    expect([asked.status, JSON.parse(asked.body)]).toEqual([200, { response_type: "in_channel" }]);
    await untilReplies(channel, ["Seven."]);
    const help = await slack.slash(channel, ADA, "/ask");
    expect([help.status, help.body]).toEqual([200, ""]);
    await expect.poll(() => replies(channel).at(-1)?.text, PATIENCE).toContain(EN.help);
    await slack.slash(channel, ADA, "/reset");
    await expect.poll(() => replies(channel).at(-1)?.text, PATIENCE).toBe(EN.reset);
  });

  test("knows a command that is written behind a mention in a thread", async () => {
    const channel = openChannel();
    const { ts } = await slack.say({ channel, user: ADA, text: "@bot /start" });
    await untilReplies(channel, [EN.start]);
    expect(replies(channel)).toMatchObject([{ thread_ts: ts }]);
  });

  test("answers neither its own messages nor another bot's, nor people who join", async () => {
    const channel = openChannel("D");
    const asked = stage.asked.length;
    await slack.say({ channel, user: OTHER_BOT, text: "I am a bot, are you?", botId: "B0OTHER" });
    await slack.say({ channel, user: ADA, text: "Ada has joined the channel", subtype: "channel_join" });
    stage.provider.enqueue({ text: "Hello, Ada." });
    await slack.say({ channel, user: ADA, text: "Hello" });
    await untilReplies(channel, ["Hello, Ada."]);
    await slack.settle();
    expect(stage.relay.find("Hello, Ada.").map(({ status }) => status)).toEqual([200]);
    expect(stage.asked).toHaveLength(asked + 1);
    expect(stage.asked.at(-1)).not.toContain("I am a bot");
  });

  test("fetches a file with the bot's token, and names one that is not Slack's in the text", async () => {
    const channel = openChannel("D");
    const file = slack.addFile("hours.txt", "text/plain", new TextEncoder().encode("nine to five"));
    stage.provider.enqueue({ text: "I read one of them." });
    const foreign = { ...file, id: "F0", name: "foreign.txt", url_private: "http://127.0.0.1:1/foreign.txt" };
    await slack.say({ channel, user: ADA, text: "Read these.", files: [file, foreign] });
    await untilReplies(channel, ["I read one of them."]);
    expect(stage.asked.at(-1)).toContain("nine to five");
    expect(stage.asked.at(-1)).toContain("[A file could not be read: foreign.txt]");
  });
});
