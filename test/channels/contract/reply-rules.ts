/** What holds for replies on every platform: their form, their parts, how they grow, and what becomes of them in trouble. */
import { expect } from "vitest";
import { EN } from "../../../src/app/channels/words/words-latin";
import type { ChannelRule } from "./describe-channel";

const LINES = Array.from({ length: 240 }, (_, n) => `Line ${n} of a long answer to you.`);

export const REPLY_RULES: readonly ChannelRule[] = [
  {
    title: "a reply has the platform's formatting",
    run: async (stage) => {
      const chat = stage.platform.open("private");
      stage.provider.enqueue({ text: "**bold** & 1 < 2" });
      await chat.say({ text: "format something" });
      const [reply] = await stage.until(chat, (replies) => replies.length > 0);
      expect(reply?.text).toBe(stage.driver.shown);
    },
  },
  {
    title: "a long reply comes whole and in order, in parts that the platform takes",
    run: async (stage) => {
      const { platform, provider, driver } = stage;
      const chat = platform.open("private");
      provider.enqueue({ text: LINES.join("\n\n") });
      await chat.say({ text: "write much" });
      await stage.hear(chat, LINES.at(-1) ?? "");
      const texts = chat.replies().map(({ text }) => text);
      expect(texts.every((text) => text.length <= driver.longest)).toBe(true);
      expect(texts.join("\n\n").match(/Line \d+ of a long answer to you\./g)).toEqual(LINES);
      expect(texts.length).toBeLessThanOrEqual(Math.ceil(texts.join("").length / driver.longest) + 1);
    },
  },
  {
    title: "a reply grows in one message while the model writes",
    applies: ({ can }) => can.growReplies,
    run: async (stage) => {
      const { platform, provider } = stage;
      const chat = platform.open("private");
      const gate = Promise.withResolvers<void>();
      const speak = async function* () {
        yield "It begins";
        await gate.promise;
        yield " and it ends.";
      };
      provider.enqueue(speak());
      await chat.say({ text: "grow something" });
      const begun = await stage.hear(chat, "It begins");
      expect(begun.text).toBe("It begins");
      gate.resolve();
      const ended = await stage.hear(chat, "It begins and it ends.");
      expect([ended.id, chat.replies().length]).toEqual([begun.id, 1]);
    },
  },
  {
    title: "a failure of the model is no failure to the platform, and the person gets words",
    run: async (stage) => {
      const chat = stage.platform.open("private");
      stage.provider.enqueue({ status: 400, error: { message: "No.", type: "invalid_request_error" } });
      await chat.say({ text: "break the model" });
      await stage.hear(chat, EN.failed);
      expect(stage.relay.find("break the model").map(({ status }) => status)).toEqual([200]);
      await stage.exchange(chat, "and now?", "Now it works.");
      expect(chat.replies()).toHaveLength(2);
    },
  },
  {
    title: "a message that the platform limits waits for as long as it says, and appears once",
    run: async (stage) => {
      const { platform, driver } = stage;
      const chat = platform.open("private");
      platform.trouble("limit");
      const began = Date.now();
      await chat.command("start");
      await stage.hear(chat, EN.start);
      expect(Date.now() - began).toBeGreaterThanOrEqual(driver.limitMs);
      await stage.exchange(chat, "behind the limit", "On.");
      expect(chat.replies().map(({ text }) => text)).toEqual([EN.start, "On."]);
    },
  },
  {
    title: "a message that the platform cannot take now is tried again, and appears once",
    run: async (stage) => {
      const chat = stage.platform.open("private");
      stage.platform.trouble("broken");
      await chat.command("start");
      await stage.hear(chat, EN.start);
      await stage.exchange(chat, "behind the failure", "On.");
      expect(chat.replies().map(({ text }) => text)).toEqual([EN.start, "On."]);
    },
  },
  {
    title: "a message that the platform refuses is in the channel's log, and holds up nothing",
    run: async (stage) => {
      const chat = stage.platform.open("private");
      stage.platform.trouble("refuse");
      await chat.command("start");
      await stage.untilLogged("reply_failed", /^refused: /);
      await stage.exchange(chat, "behind the refusal", "On.");
      expect(chat.replies().map(({ text }) => text)).toEqual(["On."]);
    },
  },
  {
    title: "a message whose answer was lost appears once: it is repeated where that is harmless, and else named in the log",
    run: async (stage) => {
      const { platform, driver } = stage;
      const chat = platform.open("private");
      platform.trouble("lose_answer");
      await chat.command("start");
      await stage.hear(chat, EN.start);
      await stage.exchange(chat, "behind the loss", "On.");
      expect(chat.replies().map(({ text }) => text)).toEqual([EN.start, "On."]);
      if (!driver.can.recogniseRepetitions) await stage.untilLogged("reply_failed", /^in doubt: /);
    },
  },
];
