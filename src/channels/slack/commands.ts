import type { ChatEvent } from "../../app/channels/channel";
import type { ChatCommand } from "../../contract/channel";

type Command = Extract<ChatEvent, { type: "message" }>["command"];

const COMMANDS: Readonly<Record<ChatCommand, true>> = {
  start: true,
  reset: true,
  compact: true,
  context: true,
  undo: true,
  forget: true,
  help: true,
};

const isCommand = (name: string): boolean => Object.hasOwn(COMMANDS, name);

/** A command that was written as text, for example `@bot /reset`: Slack has no slash commands within threads. */
export function findWrittenCommand(text: string): Command {
  const [, name = "", args = ""] = /^\/([a-z]{1,32})(?:\s+([\s\S]*))?$/i.exec(text) ?? [];
  return isCommand(name.toLowerCase()) ? { name: name.toLowerCase(), args: args.trim() } : null;
}

/**
 * What a slash command says. `/reset` is the bot's command by its name. Any other, such as `/ask`, has a question as its text; one word that is
 * a command's name is that command (`/ask reset`), and without a text it asks for help.
 */
export function readSlashCommand(slash: string, text: string): { readonly text: string; readonly command: Command } {
  const name = slash.replace(/^\//, "").toLowerCase();
  if (isCommand(name)) return { text: `${slash} ${text}`.trim(), command: { name, args: text } };
  const word = text.toLowerCase();
  if (text === "") return { text: slash, command: { name: "help", args: "" } };
  return { text, command: isCommand(word) ? { name: word, args: "" } : null };
}
