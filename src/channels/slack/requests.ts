/** Calls of Slack's Web API: https://docs.slack.dev/reference/methods */
import type { ChatFile, OutboundAct, PlatformRequest, RenderedText, ReplyButton } from "../../app/channels/channel";
import { assertNever } from "../../lib/assert-never";
import { utf8Bytes } from "../../lib/text-bytes";
import type { SlackCredentials } from "./credentials";
import { escapeMrkdwn } from "./mrkdwn";
import { readTarget } from "./place";

/** The text of a section: https://docs.slack.dev/reference/block-kit/blocks/section-block */
export const SECTION_CHARS = 3_000;
/** The label of a button: https://docs.slack.dev/reference/block-kit/block-elements/button-element */
const LABEL_CHARS = 75;
/** Elements of an actions block: https://docs.slack.dev/reference/block-kit/blocks/actions-block */
export const MAX_SLACK_BUTTONS = 25;
/** chat.update refuses a longer `text`. Slack counts the bytes of the escaped text. */
const NOTIFICATION_BYTES = 4_000;
/** Stands where a message would be empty, because Slack takes no empty text. */
const NOTHING = "…";

export function buildSlackRequest(act: OutboundAct, credentials: SlackCredentials): PlatformRequest | null {
  switch (act.type) {
    case "send": {
      const { channel, thread_ts } = readTarget(act.place);
      const thread = thread_ts === null ? {} : { thread_ts };
      return call(credentials, "chat.postMessage", { channel, ...thread, ...toContent(act), unfurl_links: false, unfurl_media: false });
    }
    case "edit":
      return call(credentials, "chat.update", { channel: readTarget(act.place).channel, ts: act.message, ...toContent(act) });
    case "typing":
      return buildStatus(act, credentials);
    case "withdraw":
      // Slack takes the status away by itself.
      return null;
    case "acknowledge_button":
      // The answer to the interaction's request ends the waiting state.
      return null;
    default:
      return assertNever(act);
  }
}

/** Slack shows the status in threads alone, until the bot posts there or two minutes have passed. */
function buildStatus({ place }: Extract<OutboundAct, { type: "typing" }>, credentials: SlackCredentials): PlatformRequest | null {
  const { channel, thread_ts } = readTarget(place);
  if (thread_ts === null) return null;
  return call(credentials, "assistant.threads.setStatus", { channel_id: channel, thread_ts, status: "is thinking…" });
}

/** The token is sent to Slack alone, whatever address an event names. */
export function buildSlackFileRequest({ ref }: ChatFile, { api_url, bot_token }: SlackCredentials): PlatformRequest | null {
  if (!URL.canParse(ref)) return null;
  const url = new URL(ref);
  const isSlack = url.protocol === "https:" && /(?:^|\.)slack(?:-files)?\.com$/.test(url.hostname);
  if (!isSlack && url.origin !== new URL(api_url).origin) return null;
  return { method: "GET", url: url.href, headers: { authorization: `Bearer ${bot_token}` } };
}

function call({ api_url, bot_token }: SlackCredentials, method: string, body: object): PlatformRequest {
  return {
    method: "POST",
    url: `${api_url.endsWith("/") ? api_url.slice(0, -1) : api_url}/${method}`,
    headers: { authorization: `Bearer ${bot_token}`, "content-type": "application/json; charset=utf-8" },
    body: JSON.stringify(body),
  };
}

interface Content {
  readonly text: RenderedText;
  readonly buttons: readonly ReplyButton[];
  readonly is_plain: boolean;
}

/** The blocks are what Slack shows. `text` is what its notifications and screen readers use. */
function toContent({ text, buttons, is_plain }: Content): object {
  const sections = is_plain
    ? cutText(text.plain, SECTION_CHARS).map((piece) => ({ type: "plain_text", text: piece, emoji: false }))
    : [{ type: "mrkdwn", text: orNothing(text.text), verbatim: true }];
  const blocks = [
    ...sections.map((section) => ({ type: "section", text: section, expand: true })),
    ...(buttons.length === 0 ? [] : [{ type: "actions", elements: buttons.slice(0, MAX_SLACK_BUTTONS).map(toButton) }]),
  ];
  return { text: toNotification(text.plain), blocks };
}

function toButton({ label, data }: ReplyButton, index: number): object {
  const [text = NOTHING] = cutText(label, LABEL_CHARS);
  return { type: "button", action_id: `button_${index}`, text: { type: "plain_text", text, emoji: false }, value: data };
}

function toNotification(plain: string): string {
  let notification = "";
  let bytes = 0;
  for (const character of orNothing(plain)) {
    const escaped = escapeMrkdwn(character);
    bytes += utf8Bytes(escaped);
    if (bytes > NOTIFICATION_BYTES) break;
    notification += escaped;
  }
  return notification;
}

const orNothing = (text: string): string => (text.trim() === "" ? NOTHING : text);

/** Pieces of at most `most` UTF-16 units, none of which ends within a character. */
function cutText(text: string, most: number): readonly string[] {
  const whole = orNothing(text);
  const pieces: string[] = [];
  for (let start = 0; start < whole.length; ) {
    const end = start + most;
    const isSplit = end < whole.length && /[\ud800-\udbff]/.test(whole.charAt(end - 1));
    const piece = whole.slice(start, isSplit ? end - 1 : end);
    start += piece.length;
    pieces.push(orNothing(piece));
  }
  return pieces;
}
