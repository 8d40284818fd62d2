/** Telegram: updates of the Bot API in, its methods out. docs/channels/telegram.md says how to set up a bot. */
import type { ChannelAdapter } from "../../app/channels/channel";
import { readTelegramAnswer, readTelegramFile } from "./answers";
import { type TelegramCredentials, telegramCredentials } from "./credentials";
import { fitsMessage, renderHtml } from "./html";
import { parseUpdate } from "./parse";
import { buildFileLookUp, buildTelegramRequest } from "./requests";
import { verifySecretToken } from "./secret-token";

export const telegram: ChannelAdapter<TelegramCredentials> = {
  credentials: telegramCredentials,
  traits: {
    fits: fitsMessage,
    // A group takes 20 messages a minute, and edits count: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
    edits: { every_ms: 3_000 },
    // The status is shown for 5 s or less: https://core.telegram.org/bots/api#sendchataction
    typing: { every_ms: 4_500 },
    // A chat takes one message a second (the page above). A group's 20 a minute are Telegram's to enforce: it says when to go on.
    pace: { messages: 1, per_ms: 1_000 },
    // Updates are kept for 24 hours: https://core.telegram.org/bots/api#getting-updates
    redelivers_for_ms: 24 * 3_600_000,
    is_idempotent: false,
    // A keyboard has at most 100 buttons; more than a screen of them is of no use.
    max_buttons: 16,
  },
  verify: (request, { secret_token }) => verifySecretToken(request, secret_token),
  parse: (request, { bot_username }) => parseUpdate(request, bot_username),
  render: renderHtml,
  build: buildTelegramRequest,
  read: readTelegramAnswer,
  buildFileRequest: buildFileLookUp,
  readFile: readTelegramFile,
};
