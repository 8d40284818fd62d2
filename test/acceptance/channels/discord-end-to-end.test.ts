/** What Discord alone has, through the whole backend: each command shows that the bot is thinking, and no such message is left behind. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EN } from "../../../src/app/channels/words/words-latin";
import { discordDriver, toDiscordPlatform } from "../../channels/contract/discord-driver";
import { type ChannelStage, openChannelStage } from "../../channels/contract/stage";
import { type DiscordStandIn, startDiscord } from "../../support/stand-in/discord/discord";

const START_MS = 120_000;
const TEST_MS = 60_000;
const TEXT = 3;
const ADA = "601";
const BEN = "602";
const STRANGER = "603";

let api: DiscordStandIn;
let stage: ChannelStage;
beforeAll(async () => {
  api = await startDiscord();
  const driver = { ...discordDriver, start: async () => toDiscordPlatform(api) };
  stage = await openChannelStage(driver, { access: { mode: "allow_list", users: [ADA, BEN] } });
}, START_MS);
afterAll(() => stage?.close());

let channels = 5_000;
function openRoom() {
  const channel = String(++channels);
  api.addChannel({ id: channel, type: "server" });
  return {
    channel,
    ask: (text: string, user = ADA) => api.command({ channel, user, name: "ask", options: [{ name: "message", type: TEXT, value: text }] }),
    command: (name: string, user = ADA) => api.command({ channel, user, name }),
    texts: () => api.seen(channel).map(({ content, isThinking }) => (isThinking ? "thinking…" : content)),
  };
}
type Room = ReturnType<typeof openRoom>;

const untilTexts = (room: Room, texts: readonly string[]) => expect.poll(room.texts, { timeout: 20_000 }).toEqual(texts);

/** A reply of the model that waits until the gate is open. */
function enqueueGated(text: string): () => void {
  const gate = Promise.withResolvers<void>();
  stage.provider.enqueue(
    (async function* () {
      await gate.promise;
      yield text;
    })(),
  );
  return gate.resolve;
}

describe("a command of Discord", { timeout: TEST_MS }, () => {
  test("is answered that the bot is thinking, and the reply takes the place of that message", async () => {
    const room = openRoom();
    const open = enqueueGated("Here I am.");
    const { answer, isFailed } = await room.ask("Where are you?");
    expect([answer, isFailed]).toEqual([{ type: 5 }, false]);
    const [thinking] = api.seen(room.channel);
    expect(room.texts()).toEqual(["thinking…"]);
    open();
    await untilTexts(room, ["Here I am."]);
    expect(api.seen(room.channel)[0]?.id).toBe(thinking?.id);
  });

  test("that waits while another is answered is answered in its own place", async () => {
    const room = openRoom();
    const open = enqueueGated("One.");
    const begun = stage.provider.request(stage.provider.log.length + 1);
    await room.ask("the first", ADA);
    await begun;
    await room.ask("the second", ADA);
    await room.ask("the third", BEN);
    const asked = api.seen(room.channel).map(({ id }) => id);
    stage.provider.enqueue({ text: "Two." }, { text: "Three." });
    open();
    await untilTexts(room, ["One.", "Two.", "Three."]);
    expect(api.seen(room.channel).map(({ id }) => id)).toEqual(asked);
  });

  test("whose turn a reset stops before it said anything leaves no message that the bot is thinking", async () => {
    const room = openRoom();
    enqueueGated("Never said.");
    const begun = stage.provider.request(stage.provider.log.length + 1);
    await room.ask("A long story, please.");
    await begun;
    await room.command("reset");
    await untilTexts(room, [EN.reset]);
  });

  test("whose conversation is erased before it was answered leaves no message that the bot is thinking", async () => {
    const room = openRoom();
    enqueueGated("Never said.");
    const begun = stage.provider.request(stage.provider.log.length + 1);
    await room.ask("A long story, please.");
    await begun;
    await room.command("forget");
    await untilTexts(room, ["thinking…", EN.forget_ask]);
    const question = api.seen(room.channel).at(-1);
    await api.press(room.channel, ADA, { message: question?.id ?? "", label: EN.yes });
    await untilTexts(room, [EN.forgotten]);
  });

  test("of a stranger is answered with words once a day, and the others leave no message that the bot is thinking", async () => {
    const room = openRoom();
    await room.ask("Hello?", STRANGER);
    await untilTexts(room, [EN.stranger]);
    await room.ask("Hello??", STRANGER);
    await untilTexts(room, [EN.stranger]);
  });
});
