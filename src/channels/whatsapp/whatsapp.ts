/** WhatsApp, by Meta's Cloud API. docs/channels/whatsapp.md says how to set up an app. */
import type { ChannelAdapter } from "../../app/channels/channel";
import { readWhatsAppAnswer, readWhatsAppFile } from "./answers";
import { type WhatsAppCredentials, whatsappCredentials } from "./credentials";
import { parseWhatsApp } from "./parse";
import { renderWhatsApp } from "./render";
import { BODY_CHARS, buildMediaRequest, buildWhatsAppRequest, MAX_WHATSAPP_BUTTONS } from "./requests";
import { verifyWhatsApp } from "./signature";

export const whatsapp: ChannelAdapter<WhatsAppCredentials> = {
  credentials: whatsappCredentials,
  traits: {
    fits: (rendered) => rendered.length <= BODY_CHARS,
    edits: null,
    // The indicator is dismissed after 25 seconds: developers.facebook.com/docs/whatsapp/cloud-api/typing-indicators
    typing: { every_ms: 20_000 },
    // One message every 6 seconds to the same person: developers.facebook.com/docs/whatsapp/cloud-api/overview (pair rate limits)
    pace: { messages: 10, per_ms: 60_000 },
    // Meta repeats a webhook, ever more seldom, for 7 days: developers.facebook.com/docs/whatsapp/cloud-api/guides/set-up-webhooks
    redelivers_for_ms: 7 * 86_400_000,
    // Meta documents no key of repetition.
    is_idempotent: false,
    max_buttons: MAX_WHATSAPP_BUTTONS,
  },
  verify: (request, credentials) => verifyWhatsApp(request, credentials),
  parse: (request, { phone_number_id }) => parseWhatsApp(request, phone_number_id),
  render: renderWhatsApp,
  build: buildWhatsAppRequest,
  read: readWhatsAppAnswer,
  buildFileRequest: buildMediaRequest,
  readFile: readWhatsAppFile,
};
