import type { ChatEvent } from "../../app/channels/channel";
import type { ChatCommand } from "../../contract/channel";

export type WrittenCommand = Extract<ChatEvent, { type: "message" }>["command"];

const COMMANDS: Readonly<Record<ChatCommand, true>> = {
  start: true,
  reset: true,
  compact: true,
  context: true,
  undo: true,
  forget: true,
  help: true,
};

export const isCommandName = (name: string): boolean => Object.hasOwn(COMMANDS, name);

/** A command that is written as text, on platforms that have no commands there. Other words behind a slash are text: `/etc/passwd`. */
export function findWrittenCommand(text: string): WrittenCommand {
  const [, name = "", args = ""] = /^\/([a-z]{1,32})(?:\s+([\s\S]*))?$/i.exec(text) ?? [];
  return isCommandName(name.toLowerCase()) ? { name: name.toLowerCase(), args: args.trim() } : null;
}
