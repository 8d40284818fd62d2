/** What holds for webhooks of every platform: when they are answered, what they begin, and which are refused. */
import { expect } from "vitest";
import type { ChannelRule } from "./describe-channel";
import type { RelayMishap } from "./hook-relay";
import type { ChannelStage } from "./stage";

const OLD_MS = -10 * 60_000;

/** Sends a message that a mishap befalls, and one behind it: what the bot answered by then is all that it will. */
async function befall(stage: ChannelStage, word: string, mishap: RelayMishap): Promise<void> {
  const { platform, provider, relay } = stage;
  const chat = platform.open("private");
  const asked = stage.asked.length;
  relay.mishap(`${word} one`, mishap);
  provider.enqueue({ text: "First." }, { text: "Second." });
  await chat.say({ text: `${word} one` });
  await stage.hear(chat, "First.");
  await chat.say({ text: `${word} two` });
  await stage.hear(chat, "Second.");
  expect(chat.replies().map(({ text }) => text)).toEqual(["First.", "Second."]);
  expect(stage.asked).toHaveLength(asked + 2);
}

/** Sends a message whose headers are changed on the way, and a right one behind it. */
async function refuse(stage: ChannelStage, word: string, change: Extract<RelayMishap, { type: "headers" }>["change"]): Promise<void> {
  const { platform, relay } = stage;
  const chat = platform.open("private");
  const asked = stage.asked.length;
  relay.mishap(`forged ${word}`, { type: "headers", change });
  await chat.say({ text: `forged ${word}` });
  platform.setClock(0);
  await stage.exchange(platform.open("private"), `genuine ${word}`, `Genuine ${word}.`);
  expect(relay.find(`forged ${word}`).map(({ status }) => status)).toEqual([401]);
  expect(stage.asked).toHaveLength(asked + 1);
  expect(chat.replies()).toEqual([]);
}

export const DELIVERY_RULES: readonly ChannelRule[] = [
  {
    title: "its address is accepted by the platform",
    applies: ({ can }) => can.checkAddress,
    run: async ({ platform }) => {
      expect(await platform.verifyAddress()).toBe(true);
    },
  },
  {
    title: "a message is answered within the platform's deadline, long before the model has answered",
    run: async (stage) => {
      const { platform, provider, relay, driver } = stage;
      const chat = platform.open("private");
      const gate = Promise.withResolvers<void>();
      const speak = async function* () {
        await gate.promise;
        yield "At last.";
      };
      provider.enqueue(speak());
      await chat.say({ text: "a slow question" });
      const hooks = relay.find("a slow question");
      expect(hooks.map(({ status }) => status)).toEqual([200]);
      expect(hooks.every(({ ms }) => ms < driver.deadlineMs)).toBe(true);
      gate.resolve();
      await stage.hear(chat, "At last.");
      expect(chat.replies()).toHaveLength(1);
    },
  },
  {
    title: "a message that arrives three times at once is asked and answered once",
    run: (stage) => befall(stage, "copied", { type: "copies", copies: 3 }),
  },
  {
    title: "a message that is delivered again, because the answer was lost, is asked and answered once",
    applies: ({ can }) => can.redeliver,
    run: async (stage) => {
      await befall(stage, "lost", { type: "lose_answer" });
      expect(stage.relay.find("lost one").map(({ status }) => status)).toEqual([200, 200]);
    },
  },
  {
    title: "messages that come while a turn runs are answered in their order",
    run: async (stage) => {
      const { platform, provider } = stage;
      const chat = platform.open("private");
      const gate = Promise.withResolvers<void>();
      const speak = async function* () {
        await gate.promise;
        yield "Alpha.";
      };
      provider.enqueue(speak(), { text: "Beta." });
      await chat.say({ text: "the first of two" });
      await chat.say({ text: "the second of two" });
      gate.resolve();
      await stage.hear(chat, "Beta.");
      expect(chat.replies().map(({ text }) => text)).toEqual(["Alpha.", "Beta."]);
    },
  },
  {
    title: "a signature that is wrong is refused, and begins nothing",
    run: (stage) => refuse(stage, "wrong", (headers) => ({ ...headers, [stage.driver.signature.header]: stage.driver.signature.wrong })),
  },
  {
    title: "a signature that is missing is refused, and begins nothing",
    run: (stage) =>
      refuse(stage, "missing", (headers) =>
        Object.fromEntries(Object.entries(headers).filter(([name]) => name !== stage.driver.signature.header)),
      ),
  },
  {
    title: "a signature that comes twice is refused, and begins nothing",
    run: (stage) => {
      const { header } = stage.driver.signature;
      return refuse(stage, "double", (headers) => ({ ...headers, [header]: [String(headers[header]), String(headers[header])] }));
    },
  },
  {
    title: "a signature that is ten minutes old is refused, and begins nothing",
    applies: ({ signature }) => signature.isTimed,
    run: (stage) => {
      stage.platform.setClock(OLD_MS);
      return refuse(stage, "old", (headers) => headers);
    },
  },
  {
    title: "a message of a group that is not for the bot is neither answered nor recorded",
    applies: ({ can }) => can.groups && can.overhear,
    run: async (stage) => {
      const chat = stage.platform.open("group");
      await chat.say({ text: "a secret of ours", by: "other", isAside: true });
      await stage.exchange(chat, "which tea?", "Green.");
      expect(chat.replies()).toHaveLength(1);
      expect(stage.asked.at(-1)).toContain("which tea?");
      expect(stage.asked.at(-1)).not.toContain("a secret of ours");
    },
  },
];
