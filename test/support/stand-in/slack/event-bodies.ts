/** The requests that Slack sends: https://docs.slack.dev/reference/events and https://docs.slack.dev/interactivity */
import type { SeenMessage, SlackChannel } from "./conversations.ts";

const TEAM = "T0STANDIN";
const APP = "A0STANDIN";
const TOKEN = "deprecated-verification-token";

export interface SlackFile {
  readonly id: string;
  readonly name: string;
  readonly mimetype: string;
  readonly size: number;
  readonly url_private: string;
}

export interface EventEnvelope {
  readonly id: string;
  readonly at: number;
  readonly bot: string;
}

export function toCallback(event: object, { id, at, bot }: EventEnvelope): object {
  return {
    token: TOKEN,
    team_id: TEAM,
    api_app_id: APP,
    event,
    type: "event_callback",
    event_id: id,
    event_time: Math.floor(at / 1_000),
    authorizations: [{ enterprise_id: null, team_id: TEAM, user_id: bot, is_bot: true, is_enterprise_install: false }],
    is_ext_shared_channel: false,
    event_context: `4-${id}`,
  };
}

export const toVerification = (challenge: string): object => ({ token: TOKEN, challenge, type: "url_verification" });

/** `bot`: the id of the bot's user, to mark its own messages as Slack does. */
function toWireMessage({ ts, thread_ts, user, text, edits }: SeenMessage, bot: string): object {
  return {
    type: "message",
    user,
    ...(user === bot
      ? { bot_id: "B0STANDIN", app_id: APP }
      : { client_msg_id: `00000000-0000-4000-8000-${ts.replace(".", "").slice(-12)}` }),
    text,
    ts,
    team: TEAM,
    ...(thread_ts === null ? {} : { thread_ts }),
    ...(edits === 0 ? {} : { edited: { user, ts } }),
  };
}

interface InChannel {
  readonly channel: SlackChannel;
  readonly message: SeenMessage;
  readonly bot: string;
}

export function toMessageEvent({ channel, message, bot }: InChannel, files: readonly SlackFile[]): object {
  const attached =
    files.length === 0 ? {} : { subtype: "file_share", files: files.map((file) => ({ ...file, mode: "hosted" })), upload: false };
  return { ...toWireMessage(message, bot), channel: channel.id, event_ts: message.ts, channel_type: channel.type, ...attached };
}

/** Slack sends it beside the event `message`, with no `channel_type`. */
export function toMentionEvent({ channel, message, bot }: InChannel, files: readonly SlackFile[]): object {
  const attached = files.length === 0 ? {} : { files };
  return { ...toWireMessage(message, bot), type: "app_mention", channel: channel.id, event_ts: message.ts, ...attached };
}

export function toChangedEvent({ channel, message, bot }: InChannel, before: SeenMessage, ts: string): object {
  const messages = { message: toWireMessage(message, bot), previous_message: toWireMessage(before, bot) };
  return {
    type: "message",
    subtype: "message_changed",
    ...messages,
    channel: channel.id,
    hidden: true,
    ts,
    event_ts: ts,
    channel_type: channel.type,
  };
}

export function toDeletedEvent({ channel, message, bot }: InChannel, ts: string): object {
  const deleted = { previous_message: toWireMessage(message, bot), deleted_ts: message.ts };
  return {
    type: "message",
    subtype: "message_deleted",
    ...deleted,
    channel: channel.id,
    hidden: true,
    ts,
    event_ts: ts,
    channel_type: channel.type,
  };
}

export interface Slash {
  readonly command: string;
  readonly text: string;
  readonly channel: SlackChannel;
  readonly user: string;
  readonly trigger: string;
}

export function toSlashForm({ command, text, channel, user, trigger }: Slash): Readonly<Record<string, string>> {
  return {
    token: TOKEN,
    team_id: TEAM,
    team_domain: "stand-in",
    channel_id: channel.id,
    channel_name: channel.type === "im" ? "directmessage" : "general",
    user_id: user,
    user_name: user.toLowerCase(),
    command,
    text,
    api_app_id: APP,
    is_enterprise_install: "false",
    response_url: "https://hooks.slack.com/commands/T0STANDIN/1/x",
    trigger_id: trigger,
  };
}

export interface Press {
  readonly channel: SlackChannel;
  readonly message: SeenMessage;
  readonly user: string;
  readonly button: { readonly action_id?: string | undefined; readonly value?: string | undefined };
  readonly trigger: string;
  readonly ts: string;
}

export function toInteractionForm({ channel, message, user, button, trigger, ts }: Press): Readonly<Record<string, string>> {
  const thread = message.thread_ts === null ? {} : { thread_ts: message.thread_ts };
  const payload = {
    type: "block_actions",
    user: { id: user, username: user.toLowerCase(), name: user.toLowerCase(), team_id: TEAM },
    api_app_id: APP,
    token: TOKEN,
    container: { type: "message", message_ts: message.ts, channel_id: channel.id, is_ephemeral: false, ...thread },
    trigger_id: trigger,
    team: { id: TEAM, domain: "stand-in" },
    channel: { id: channel.id, name: channel.type === "im" ? "directmessage" : "general" },
    message: { type: "message", bot_id: "B0STANDIN", text: message.text, user: message.user, ts: message.ts, ...thread },
    response_url: "https://hooks.slack.com/actions/T0STANDIN/1/x",
    actions: [{ type: "button", block_id: "b1", action_ts: ts, ...button }],
  };
  return { payload: JSON.stringify(payload) };
}
