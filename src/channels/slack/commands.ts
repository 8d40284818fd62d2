import { isCommandName, type WrittenCommand } from "../text/written-command";

/**
 * What a slash command says. `/reset` is the bot's command by its name. Any other, such as `/ask`, has a question as its text; one word that is
 * a command's name is that command (`/ask reset`), and without a text it asks for help.
 */
export function readSlashCommand(slash: string, text: string): { readonly text: string; readonly command: WrittenCommand } {
  const name = slash.replace(/^\//, "").toLowerCase();
  if (isCommandName(name)) return { text: `${slash} ${text}`.trim(), command: { name, args: text } };
  const word = text.toLowerCase();
  if (text === "") return { text: slash, command: { name: "help", args: "" } };
  return { text, command: isCommandName(word) ? { name: word, args: "" } : null };
}
