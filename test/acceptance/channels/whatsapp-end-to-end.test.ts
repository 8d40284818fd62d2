/** What WhatsApp alone has, through the whole backend: the check of the address, webhooks with several messages, states, and hidden numbers. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChannelStage, openChannelStage } from "../../channels/contract/stage";
import { toWhatsAppPlatform, whatsappDriver } from "../../channels/contract/whatsapp-driver";
import { startWhatsApp, type WhatsAppStandIn } from "../../support/stand-in/whatsapp/whatsapp";

const START_MS = 120_000;
const TEST_MS = 60_000;

let whatsapp: WhatsAppStandIn;
let stage: ChannelStage;
beforeAll(async () => {
  whatsapp = await startWhatsApp();
  stage = await openChannelStage({ ...whatsappDriver, start: async () => toWhatsAppPlatform(whatsapp) });
}, START_MS);
afterAll(() => stage?.close());

const untilSeen = (person: string, texts: readonly string[]) =>
  expect.poll(() => whatsapp.seen(person).map(({ text }) => text), { timeout: 20_000 }).toEqual(texts);

describe("a channel of WhatsApp", { timeout: TEST_MS }, () => {
  test("answers the check of its address with the challenge as a text, and refuses another verify token", async () => {
    expect(await whatsapp.verifyUrl("1158201444", "another-verify-token")).toBe(false);
    expect(await whatsapp.verifyUrl("1158201444")).toBe(true);
    expect(stage.relay.log.slice(-2).map(({ status, answer }) => (status === 200 ? answer : status))).toEqual([401, "1158201444"]);
  });

  test("answers each message of a webhook once and in order, though one of them cannot be read and Meta repeats them all", async () => {
    const person = "49151001";
    stage.relay.mishap("the first of a webhook", { type: "lose_answer" });
    stage.provider.enqueue({ text: "One." }, { text: "Two." });
    const messages = ["the first of a webhook", "the last of a webhook"].map((body) => ({ type: "text", text: { body } }));
    const [first, last] = messages;
    const { attempts } = await whatsapp.write(person, [
      first ?? {},
      { type: "location", location: { latitude: 1, longitude: 2 } },
      last ?? {},
    ]);
    expect(attempts.map(({ status }) => status)).toEqual([null, 200]);
    await untilSeen(person, ["One.", "Two."]);
    expect(stage.asked.at(-1)).toContain("the last of a webhook");
  });

  test("takes the states of its own messages, and answers none of them", async () => {
    const person = "49151002";
    const asked = stage.asked.length;
    stage.provider.enqueue({ text: "Hello." }, { text: "Again." });
    await whatsapp.say(person, "Hi");
    await untilSeen(person, ["Hello."]);
    const id = whatsapp.seen(person)[0]?.id ?? "";
    for (const state of ["sent", "delivered", "read"] as const)
      expect((await whatsapp.report(person, id, state)).map(({ status }) => status)).toEqual([200]);
    await whatsapp.say(person, "Hi again");
    await untilSeen(person, ["Hello.", "Again."]);
    expect(stage.asked).toHaveLength(asked + 2);
  });

  test("answers a person who hides the number, and shows that the bot types", async () => {
    const person = "DE.hidden1";
    const gate = Promise.withResolvers<void>();
    stage.provider.enqueue(
      (async function* () {
        await gate.promise;
        yield "Hello, stranger.";
      })(),
    );
    await whatsapp.say(person, "Who am I?");
    await expect.poll(() => whatsapp.isTyping(person), { timeout: 20_000 }).toBe(true);
    gate.resolve();
    await untilSeen(person, ["Hello, stranger."]);
    expect(whatsapp.isTyping(person)).toBe(false);
  });

  test("names a picture that Meta no longer has, in the text and in the log", async () => {
    const person = "49151003";
    stage.provider.enqueue({ text: "I cannot see it." });
    await whatsapp.write(person, [{ type: "image", image: { id: "gone1", mime_type: "image/png", caption: "Look." } }]);
    await untilSeen(person, ["I cannot see it."]);
    expect(stage.asked.at(-1)).toContain("[A file could not be read");
    await stage.untilLogged("attachment_failed", /error 100/);
  });
});
