/** What Slack refuses of a message: https://docs.slack.dev/reference/block-kit/blocks and the errors of chat.postMessage and chat.update. */
import { z } from "zod";

const plainText = (most: number) =>
  z.strictObject({ type: z.literal("plain_text"), text: z.string().min(1).max(most), emoji: z.boolean().optional() });
const mrkdwn = z.strictObject({ type: z.literal("mrkdwn"), text: z.string().min(1).max(3_000), verbatim: z.boolean().optional() });
const blockId = z.string().max(255).optional();

const button = z.strictObject({
  type: z.literal("button"),
  text: plainText(75),
  action_id: z.string().min(1).max(255).optional(),
  value: z.string().max(2_000).optional(),
  url: z.url().max(3_000).optional(),
  style: z.enum(["primary", "danger"]).optional(),
});
const section = z.strictObject({
  type: z.literal("section"),
  text: z.discriminatedUnion("type", [plainText(3_000), mrkdwn]),
  expand: z.boolean().optional(),
  block_id: blockId,
});
const actions = z.strictObject({
  type: z.literal("actions"),
  elements: z
    .array(button)
    .min(1)
    .max(25)
    .refine((buttons) => hasNoRepetition(buttons.flatMap(({ action_id }) => action_id ?? [])), "action_id already exists"),
  block_id: blockId,
});
const block = z.discriminatedUnion("type", [section, actions]);
const blocks = z.array(block).max(50);
export type SlackBlock = z.infer<typeof block>;

const message = z.object({ text: z.string().optional(), blocks: z.unknown() });

export type CheckedMessage =
  | { readonly ok: true; readonly text: string; readonly blocks: readonly SlackBlock[] }
  | { readonly ok: false; readonly error: string; readonly messages: readonly string[] };

/** All characters of a message's blocks. Slack documents no number: refusals begin at about 13,200. */
const BLOCKS_CHARS = 13_200;

/** `textBytes`: chat.update takes a shorter text than chat.postMessage. */
export function checkMessage(body: unknown, textBytes: number): CheckedMessage {
  const given = message.safeParse(body);
  if (!given.success) return refuse("invalid_arguments", []);
  const { text = "", blocks: raw } = given.data;
  const parsed = blocks.safeParse(raw ?? []);
  if (!parsed.success)
    return refuse(
      "invalid_blocks",
      parsed.error.issues.map((issue) => `[ERROR] ${issue.message} [${issue.path.join("/")}]`),
    );
  if (text.trim() === "" && parsed.data.length === 0) return refuse("no_text", []);
  if (Buffer.byteLength(text) > textBytes) return refuse("msg_too_long", []);
  if (JSON.stringify(parsed.data).length > BLOCKS_CHARS * 2) return refuse("msg_blocks_too_long", []);
  const unescaped = [text, ...parsed.data.flatMap(listMrkdwn)].find(hasStrayBracket);
  return unescaped === undefined ? { ok: true, text, blocks: parsed.data } : refuse("invalid_blocks", [`unescaped: ${unescaped}`]);
}

const refuse = (error: string, messages: readonly string[]): CheckedMessage => ({ ok: false, error, messages });

const listMrkdwn = (each: SlackBlock): readonly string[] =>
  each.type === "section" && each.text.type === "mrkdwn" ? [each.text.text] : [];

/** Stricter than Slack, which shows such a text, but wrongly: a bracket is part of a reference, begins a quoted line, or is escaped. */
function hasStrayBracket(text: string): boolean {
  const rest = text.replace(/<(?:https?:\/\/|mailto:|tel:)[^<>|\s]+(?:\|[^<>\n]+)?>/g, "").replace(/^(?:[ •☐☑]|\d+\. |> )+/gm, "");
  return /[<>]|&(?!amp;|lt;|gt;)/.test(rest);
}

const hasNoRepetition = (names: readonly string[]): boolean => new Set(names).size === names.length;
