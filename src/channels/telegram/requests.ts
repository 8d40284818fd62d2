/** Calls of the Bot API: https://core.telegram.org/bots/api#making-requests */
import type { ChatFile, ChatPlace, OutboundAct, PlatformRequest, RenderedText, ReplyButton } from "../../app/channels/channel";
import { assertNever } from "../../lib/assert-never";
import type { TelegramCredentials } from "./credentials";
import { BUTTON_PREFIX } from "./parse";

type Fields = Readonly<Record<string, unknown>>;

export function buildTelegramRequest(act: OutboundAct, credentials: TelegramCredentials): PlatformRequest | null {
  switch (act.type) {
    case "send":
      return toCall("sendMessage", { ...toTarget(act.place), ...toText(act), ...toKeyboard(act.buttons) }, credentials);
    case "edit": {
      const { chat_id } = act.place.target;
      const fields = { chat_id, message_id: Number(act.message), ...toText(act), ...toKeyboard(act.buttons) };
      return toCall("editMessageText", fields, credentials);
    }
    case "typing":
      return toCall("sendChatAction", { ...toTarget(act.place), action: "typing" }, credentials);
    case "withdraw":
      return null;
    case "acknowledge_button":
      return toCall("answerCallbackQuery", { callback_query_id: act.delivery.replace(BUTTON_PREFIX, "") }, credentials);
    default:
      return assertNever(act);
  }
}

export function buildFileLookUp({ ref }: ChatFile, credentials: TelegramCredentials): PlatformRequest {
  return toCall("getFile", { file_id: ref }, credentials);
}

export function buildDownload(path: string, { api_url, bot_token }: TelegramCredentials): PlatformRequest {
  return { method: "GET", url: `${api_url}/file/bot${bot_token}/${path}`, headers: {} };
}

function toCall(name: string, fields: Fields, { api_url, bot_token }: TelegramCredentials): PlatformRequest {
  const headers = { "content-type": "application/json" };
  return { method: "POST", url: `${api_url}/bot${bot_token}/${name}`, headers, body: JSON.stringify(fields) };
}

function toTarget({ target: { chat_id, thread_id } }: ChatPlace): Fields {
  return thread_id === null || thread_id === undefined ? { chat_id } : { chat_id, message_thread_id: thread_id };
}

function toText({ text, is_plain }: { readonly text: RenderedText; readonly is_plain: boolean }): Fields {
  const link_preview_options = { is_disabled: true };
  return is_plain ? { text: text.plain, link_preview_options } : { text: text.text, parse_mode: "HTML", link_preview_options };
}

/** Two short labels share a row. An edit without a keyboard removes the one that is there. */
const SHORT_LABEL = 16;

function toKeyboard(buttons: readonly ReplyButton[]): Fields {
  if (buttons.length === 0) return {};
  const keys = buttons.map(({ label, data }) => ({ text: label, callback_data: data }));
  const width = keys.every(({ text }) => text.length <= SHORT_LABEL) ? 2 : 1;
  const rows = Array.from({ length: Math.ceil(keys.length / width) }, (_, row) => keys.slice(row * width, (row + 1) * width));
  return { reply_markup: { inline_keyboard: rows } };
}
