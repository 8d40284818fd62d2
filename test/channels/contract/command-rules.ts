/** What people can do on every platform beside talking: commands, buttons, files, edits and deletions. */
import { expect } from "vitest";
import { EN } from "../../../src/app/channels/words/words-latin";
import { CHAT_COMMANDS } from "../../../src/contract/channel";
import type { ChannelRule } from "./describe-channel";
import type { ContractChat, SeenReply } from "./driver";
import type { ChannelStage } from "./stage";

const DOG = "My dog is called Rex.";
const WHICH = "What is my dog called?";

/** Whether the model still reads what was said first. */
async function remembers(stage: ChannelStage, chat: ContractChat, answer: string): Promise<boolean> {
  await stage.exchange(chat, WHICH, answer);
  return stage.asked.at(-1)?.includes(DOG) ?? false;
}

/** A message at which the model asks for a tool, and the question that people see. */
async function askForTool(stage: ChannelStage, chat: ContractChat): Promise<SeenReply> {
  stage.provider.enqueue({ tool_calls: [{ id: "call_1", name: "weather", arguments: "{}" }] });
  await chat.say({ text: "How is the weather?" });
  return stage.hear(chat, EN.approve_ask("weather"));
}

const COMMANDS: readonly ChannelRule[] = [
  {
    title: "the commands start, help, context and compact are answered in the bot's words",
    run: async (stage) => {
      const chat = stage.platform.open("private");
      await chat.command("start");
      await stage.hear(chat, EN.start);
      await chat.command("help");
      const help = await stage.hear(chat, EN.help);
      expect(CHAT_COMMANDS.filter((name) => !help.text.includes(`/${name}: ${EN.commands[name]}`))).toEqual([]);
      await stage.exchange(chat, DOG, "A good name.");
      await chat.command("context");
      await stage.until(chat, (replies) => /My memory of this conversation is \d+ % full\./.test(replies.at(-1)?.text ?? ""));
      await chat.command("compact");
      await stage.until(chat, (replies) => [EN.compacting, EN.nothing_to_compact].includes(replies.at(-1)?.text ?? ""));
      expect(chat.replies()).toHaveLength(5);
    },
  },
  {
    title: "the command reset begins a conversation that does not know the old one",
    run: async (stage) => {
      const chat = stage.platform.open("private");
      await stage.exchange(chat, DOG, "A good name.");
      expect(await remembers(stage, chat, "Rex.")).toBe(true);
      await chat.command("reset");
      await stage.hear(chat, EN.reset);
      expect(await remembers(stage, chat, "I do not know.")).toBe(false);
    },
  },
  {
    title: "the command undo takes the last message and its answer back",
    run: async (stage) => {
      const chat = stage.platform.open("private");
      await chat.command("undo");
      await stage.hear(chat, EN.nothing_to_undo);
      await stage.exchange(chat, DOG, "A good name.");
      await chat.command("undo");
      await stage.hear(chat, EN.undone);
      expect(await remembers(stage, chat, "I do not know.")).toBe(false);
    },
  },
  {
    title: "the command forget erases the conversation once it is confirmed, and not otherwise",
    run: async (stage) => {
      const chat = stage.platform.open("private");
      await stage.exchange(chat, DOG, "A good name.");
      await chat.command("forget");
      const first = await stage.hear(chat, EN.forget_ask);
      await chat.press(first, EN.no, "asker");
      await stage.hear(chat, EN.kept);
      expect(await remembers(stage, chat, "Rex.")).toBe(true);
      await chat.command("forget");
      // The first question stays where no message can be edited.
      const isNew = ({ id, text }: SeenReply): boolean => id !== first.id && text === EN.forget_ask;
      const second = (await stage.until(chat, (replies) => replies.some(isNew))).find(isNew);
      await chat.press(second ?? first, EN.yes, "asker");
      await stage.hear(chat, EN.forgotten);
      expect(await remembers(stage, chat, "I do not know.")).toBe(false);
    },
  },
];

const TOOLS: readonly ChannelRule[] = [
  {
    title: "a tool is asked about by buttons, and runs once, when the person who asked presses yes",
    run: async (stage) => {
      const { platform, provider, tools, driver } = stage;
      const chat = platform.open(driver.can.groups ? "group" : "private");
      const run = tools.heard.length;
      const question = await askForTool(stage, chat);
      expect(question.buttons).toEqual([EN.yes, EN.no]);
      await chat.press(question, EN.yes, "other");
      provider.enqueue({ text: "Sunny." }, { text: "Still here." });
      await Promise.all([chat.press(question, EN.yes, "asker"), chat.press(question, EN.yes, "asker")]);
      await stage.hear(chat, "Sunny.");
      await chat.say({ text: "Are you there?" });
      await stage.hear(chat, "Still here.");
      expect(tools.heard).toHaveLength(run + 1);
      expect(chat.replies().filter(({ text }) => text.includes("Sunny."))).toHaveLength(1);
      expect(chat.replies().filter(({ text }) => text === EN.approved("weather"))).toHaveLength(1);
    },
  },
  {
    title: "a tool does not run when another person presses yes, or the asker presses no",
    run: async (stage) => {
      const { platform, provider, tools, driver } = stage;
      const chat = platform.open(driver.can.groups ? "group" : "private");
      const run = tools.heard.length;
      const question = await askForTool(stage, chat);
      await chat.press(question, EN.yes, "other");
      provider.enqueue({ text: "Then I do not know." });
      await chat.press(question, EN.no, "asker");
      await stage.hear(chat, EN.refused("weather"));
      await stage.hear(chat, "Then I do not know.");
      expect(tools.heard).toHaveLength(run);
    },
  },
];

const CHANGES: readonly ChannelRule[] = [
  {
    title: "a file of a message is read by the model",
    run: async (stage) => {
      const chat = stage.platform.open("private");
      const bytes = new TextEncoder().encode("The opening hours are nine to five.");
      stage.provider.enqueue({ text: "Nine to five." });
      await chat.say({ text: "When is it open?", file: { name: "hours.txt", type: "text/plain", bytes } });
      await stage.hear(chat, "Nine to five.");
      expect(stage.asked.at(-1)).toContain("When is it open?");
      expect(stage.asked.at(-1)).toContain("The opening hours are nine to five.");
    },
  },
  {
    title: "an edit of the newest message is answered anew, and the model does not read the first version",
    applies: ({ can }) => can.reportEdits,
    run: async (stage) => {
      const { platform, provider } = stage;
      const chat = platform.open("private");
      const message = await stage.exchange(chat, "My cat is called Tom.", "Tom, then.");
      provider.enqueue({ text: "Felix, then." });
      await chat.edit(message, "My cat is called Felix.");
      await stage.hear(chat, "Felix, then.");
      expect(stage.asked.at(-1)).toContain("My cat is called Felix.");
      expect(stage.asked.at(-1)).not.toContain("My cat is called Tom.");
    },
  },
  {
    title: "a deleted message is redacted, so that the model reads it no more",
    applies: ({ can }) => can.reportDeletions,
    run: async (stage) => {
      const chat = stage.platform.open("private");
      const message = await stage.exchange(chat, "The password is Rumpelstilzchen.", "I see.");
      await chat.delete(message);
      await stage.exchange(chat, "What was it?", "I no longer see it.");
      expect(stage.asked.at(-1)).toContain("What was it?");
      expect(stage.asked.at(-1)).not.toContain("Rumpelstilzchen");
    },
  },
];

export const COMMAND_RULES: readonly ChannelRule[] = [...COMMANDS, ...TOOLS, ...CHANGES];
