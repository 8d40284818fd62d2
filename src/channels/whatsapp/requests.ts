/** Calls of the Cloud API: https://developers.facebook.com/documentation/business-messaging/whatsapp/reference */
import type { ChatFile, ChatPlace, OutboundAct, PlatformRequest, ReplyButton } from "../../app/channels/channel";
import { assertNever } from "../../lib/assert-never";
import type { WhatsAppCredentials } from "./credentials";

/** The body of a text message, and of an interactive list. */
export const BODY_CHARS = 4_096;
/** The body of a message with reply buttons. */
const BUTTON_BODY_CHARS = 1_024;
export const MAX_WHATSAPP_BUTTONS = 3;
/** The title of a button. A list takes longer ones, but a press shows the same in both. */
const TITLE_CHARS = 20;
/** Opens a list. It is the same in each language. */
const LIST_LABEL = "☰";
/** Stands where a message would be empty, because WhatsApp takes no empty text. */
const NOTHING = "…";
/** Meta's servers of media answer a client without a name with an error. */
const USER_AGENT = "longhand";

export function buildWhatsAppRequest(act: OutboundAct, credentials: WhatsAppCredentials): PlatformRequest | null {
  switch (act.type) {
    case "send": {
      const body = toBody(act.is_plain ? act.text.plain : act.text.text);
      const content = act.buttons.length > 0 ? toInteractive(body, act.buttons) : { type: "text", text: { preview_url: false, body } };
      return call(credentials, { recipient_type: "individual", ...toRecipient(act.place), ...content });
    }
    case "typing": {
      const { message } = act.place.target;
      return typeof message === "string"
        ? call(credentials, { status: "read", message_id: message, typing_indicator: { type: "text" } })
        : null;
    }
    case "edit":
    case "acknowledge_button":
    case "withdraw":
      // WhatsApp lets no business edit a message, and a pressed button does not wait.
      return null;
    default:
      return assertNever(act);
  }
}

/** Asks for the address of a file, which is then fetched from there. */
export function buildMediaRequest(
  { ref }: ChatFile,
  { api_url, access_token, phone_number_id }: WhatsAppCredentials,
): PlatformRequest | null {
  if (!/^\w{1,128}$/.test(ref)) return null;
  const url = `${withoutSlash(api_url)}/${ref}?phone_number_id=${phone_number_id}`;
  return { method: "GET", url, headers: { authorization: `Bearer ${access_token}` } };
}

/** The token is sent to Meta alone. Null: the address is another's. */
export function buildMediaDownload(address: string, { api_url, access_token }: WhatsAppCredentials): PlatformRequest | null {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  const isMeta = url.protocol === "https:" && /(?:^|\.)(?:fbsbx|facebook|whatsapp)\.(?:com|net)$/.test(url.hostname);
  if (!isMeta && url.origin !== new URL(api_url).origin) return null;
  return { method: "GET", url: url.href, headers: { authorization: `Bearer ${access_token}`, "user-agent": USER_AGENT } };
}

function call({ api_url, access_token, phone_number_id }: WhatsAppCredentials, body: object): PlatformRequest {
  return {
    method: "POST",
    url: `${withoutSlash(api_url)}/${phone_number_id}/messages`,
    headers: { authorization: `Bearer ${access_token}`, "content-type": "application/json" },
    body: JSON.stringify({ messaging_product: "whatsapp", ...body }),
  };
}

/** Buttons stand below a short text. A longer one has the same choices in a list. */
function toInteractive(body: string, buttons: readonly ReplyButton[]): object {
  const choices = toChoices(buttons.slice(0, MAX_WHATSAPP_BUTTONS));
  const action =
    body.length <= BUTTON_BODY_CHARS
      ? { type: "button", action: { buttons: choices.map((reply) => ({ type: "reply", reply })) } }
      : { type: "list", action: { button: LIST_LABEL, sections: [{ rows: choices }] } };
  return { type: "interactive", interactive: { ...action, body: { text: body } } };
}

/** WhatsApp refuses two buttons of one title, so a repeated one gets a number. */
function toChoices(buttons: readonly ReplyButton[]): readonly { readonly id: string; readonly title: string }[] {
  const titles: string[] = [];
  for (const { label } of buttons) {
    const title = cut(label.trim() || NOTHING, TITLE_CHARS).trimEnd();
    titles.push(titles.includes(title) ? `${cut(title, TITLE_CHARS - 2)} ${titles.length + 1}` : title);
  }
  return buttons.map(({ data }, index) => ({ id: data, title: titles[index] ?? NOTHING }));
}

const toBody = (text: string): string => (text.trim() === "" ? NOTHING : cut(text, BODY_CHARS));

/** At most so many UTF-16 units, and no half of a character at the end. */
const cut = (text: string, most: number): string => (text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, ""));

/** A person without a shown phone number is reached by the id that Meta gives the business. */
const toRecipient = ({ chat, target: { to, recipient } }: ChatPlace): object =>
  typeof recipient === "string" ? { recipient } : { to: typeof to === "string" ? to : chat };

const withoutSlash = (url: string): string => (url.endsWith("/") ? url.slice(0, -1) : url);
