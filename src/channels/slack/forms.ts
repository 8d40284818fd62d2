/** Requests that Slack sends as forms: slash commands and pressed buttons. Slack does not repeat them. */
import { z } from "zod";
import type { DeliveryAnswer } from "../../app/channels/channel";
import { readSlashCommand } from "./commands";
import { isDirectMessage, toMilliseconds, toPlace } from "./place";
import { toPlainText } from "./plain-text";
import { type SlackReading, slackId, slackTs, toMalformed } from "./reading";

const slash = z.object({
  command: z.string().regex(/^\/\S{1,64}$/),
  text: z.string(),
  trigger_id: z.string().min(1).max(128),
  channel_id: slackId,
  channel_name: z.string(),
  user_id: slackId,
  user_name: z.string(),
});

/** Shows the question in the channel, as Slack does not by itself: a reply without its question puzzles the others. */
const SHOW_QUESTION: DeliveryAnswer = { status: 200, json: { response_type: "in_channel" } };

/** `timestamp`: the signed header, because a slash command has no time of its own. */
export function readSlash(form: URLSearchParams, timestamp: string | null): SlackReading {
  const fields = Object.keys(slash.shape).map((name) => [name, form.get(name) ?? (name === "text" ? "" : undefined)] as const);
  const parsed = slash.safeParse(Object.fromEntries(fields));
  if (!parsed.success) return toMalformed(parsed.error);
  const { command, text, trigger_id: id, channel_id: channel, channel_name, user_id, user_name } = parsed.data;
  const said = readSlashCommand(command, toPlainText(text, null));
  const isPrivate = channel_name === "directmessage" || isDirectMessage(channel);
  return {
    delivery: {
      id,
      place: toPlace({ channel, thread_ts: null }, isPrivate),
      user: { id: user_id, name: user_name || null, language: null },
      at: Number(timestamp ?? 0) * 1_000,
      event: { type: "message", message: id, ...said, files: [], is_addressed: true },
    },
    ...(said.command ? {} : { answer: SHOW_QUESTION }),
  };
}

const interaction = z.object({
  trigger_id: z.string().min(1).max(128),
  user: z.object({ id: slackId, name: z.string().nullish(), username: z.string().nullish() }),
  channel: z.object({ id: slackId, name: z.string().nullish() }),
  container: z.object({ message_ts: slackTs }),
  message: z.object({ thread_ts: slackTs.nullish() }).nullish(),
  actions: z.array(z.object({ value: z.string().min(1).max(2_000), action_ts: slackTs })).min(1),
});

export function readInteraction(payload: unknown): SlackReading {
  const type = z.object({ type: z.string() }).safeParse(payload);
  if (!type.success) return { malformed: "payload: is not a JSON object with a type" };
  if (type.data.type !== "block_actions") return { ignored: `an interaction of the type ${type.data.type.slice(0, 64)}` };
  const parsed = interaction.safeParse(payload);
  if (!parsed.success) return toMalformed(parsed.error);
  const { trigger_id: id, user, channel, container, message, actions } = parsed.data;
  const [action] = actions;
  if (!action) return { ignored: "an interaction without an action" };
  const { message_ts: ts } = container;
  // The bot's own message opens no thread. Once it has replies, Slack names it as its own thread.
  const thread = message?.thread_ts && message.thread_ts !== ts ? message.thread_ts : null;
  return {
    delivery: {
      id,
      place: toPlace({ channel: channel.id, thread_ts: thread }, channel.name === "directmessage" || isDirectMessage(channel.id)),
      user: { id: user.id, name: user.username ?? user.name ?? null, language: null },
      at: toMilliseconds(action.action_ts),
      event: { type: "button", message: ts, data: action.value },
    },
  };
}
