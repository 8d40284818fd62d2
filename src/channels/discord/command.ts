/** Commands: https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object-application-command-data-structure */
import { z } from "zod";
import type { ChatEvent, ChatFile } from "../../app/channels/channel";
import { isCommandName, type WrittenCommand } from "../text/written-command";
import { discordId } from "./reading";

const option = z.object({
  name: z.string().max(32),
  type: z.number(),
  value: z.union([z.string(), z.number(), z.boolean()]).nullish(),
});
type Option = z.infer<typeof option>;

/** A subcommand has options of its own, and a group has subcommands. */
const command = z.object({ name: z.string().max(32), type: z.number(), options: z.array(z.unknown()).nullish() });
const group = command.extend({ value: z.undefined().optional(), options: z.array(z.unknown()) });

const attachment = z.object({
  filename: z.string().nullish(),
  content_type: z.string().nullish(),
  size: z.number().int().nonnegative().nullish(),
  url: z.url({ protocol: /^https?$/ }).max(2_048),
});

export const commandData = command.extend({
  resolved: z.object({ attachments: z.record(z.string(), z.unknown()).nullish() }).nullish(),
});
type CommandData = z.infer<typeof commandData>;

/** A command that is written in the chat, as opposed to the menus of a person or a message. */
export const CHAT_INPUT = 1;
const ATTACHMENT = 11;
/** A group has subcommands, which have options. */
const MOST_LEVELS = 3;

/**
 * `/reset` is the bot's command by its name. Any other, such as `/ask`, has the message as its one option. With several options, each is a line
 * with its name. With none, it asks for help.
 */
export function readCommand(data: CommandData, id: string): Extract<ChatEvent, { type: "message" }> {
  const name = data.name.toLowerCase();
  const options = readOptions(data.options ?? [], MOST_LEVELS);
  const files = options.flatMap((each) => (each.type === ATTACHMENT ? findFile(data, each) : []));
  const words = options.filter(({ type, value }) => type !== ATTACHMENT && value !== null && value !== undefined);
  const text = words.length === 1 ? String(words[0]?.value).trim() : words.map((each) => `${each.name}: ${each.value}`).join("\n");
  return { type: "message", message: id, files, is_addressed: true, ...toSaid({ name, text, hasFiles: files.length > 0 }) };
}

interface Said {
  readonly name: string;
  readonly text: string;
  readonly hasFiles: boolean;
}

function toSaid({ name, text, hasFiles }: Said): { readonly text: string; readonly command: WrittenCommand } {
  if (isCommandName(name)) return { text: `/${name} ${text}`.trim(), command: { name, args: text } };
  if (text === "" && !hasFiles) return { text: `/${name}`, command: { name: "help", args: "" } };
  return { text, command: null };
}

function readOptions(given: readonly unknown[], levels: number): readonly Option[] {
  return given.flatMap((each) => {
    const inner = group.safeParse(each);
    if (inner.success) return levels > 1 ? readOptions(inner.data.options, levels - 1) : [];
    const { data } = option.safeParse(each);
    return data ? [data] : [];
  });
}

function findFile({ resolved }: CommandData, { value }: Option): readonly ChatFile[] {
  const id = discordId.safeParse(value);
  const given = id.success && Object.hasOwn(resolved?.attachments ?? {}, id.data) ? resolved?.attachments?.[id.data] : null;
  const { data } = attachment.safeParse(given);
  return data ? [{ ref: data.url, name: data.filename ?? null, media_type: data.content_type ?? null, bytes: data.size ?? null }] : [];
}
