/** Webhooks of WhatsApp: https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages */
import { z } from "zod";
import type {
  ChatEvent,
  ChatFile,
  ChatPlace,
  ChatUser,
  Delivery,
  DeliveryAnswer,
  ParsedWebhook,
  WebhookRequest,
} from "../../app/channels/channel";
import { findWrittenCommand } from "../text/written-command";

const TAKEN: DeliveryAnswer = { status: 200 };

const envelope = z.object({ object: z.literal("whatsapp_business_account"), entry: z.array(z.object({ changes: z.array(z.unknown()) })) });

const contact = z.object({
  wa_id: z.string().nullish(),
  user_id: z.string().nullish(),
  profile: z.object({ name: z.string().nullish() }).nullish(),
});
const change = z.object({
  value: z.object({
    metadata: z.object({ phone_number_id: z.string() }),
    contacts: z.array(contact).nullish(),
    messages: z.array(z.unknown()).nullish(),
    statuses: z.array(z.unknown()).nullish(),
  }),
});
/** Meta takes some messages and reports later that they failed: https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/status */
const failedStatus = z.object({ status: z.literal("failed"), errors: z.array(z.object({ code: z.number().int() })).min(1) });

const media = z.object({
  id: z.string().regex(/^\w{1,128}$/),
  mime_type: z.string().nullish(),
  filename: z.string().nullish(),
  caption: z.string().nullish(),
});
const choice = z.object({ id: z.string().min(1).max(256), title: z.string() });

const sender = {
  id: z.string().min(1).max(256),
  from: z
    .string()
    .regex(/^\d{1,32}$/)
    .nullish(),
  /** Stands for a person who hides the phone number behind a name: "business-scoped user IDs" in Meta's documents. */
  from_user_id: z
    .string()
    .regex(/^[A-Z]{2}\.[A-Za-z0-9.]{1,128}$/)
    .nullish(),
  timestamp: z.string().regex(/^\d{1,12}$/),
  context: z.object({ id: z.string().nullish() }).nullish(),
  group_id: z.string().nullish(),
};
const message = z.discriminatedUnion("type", [
  z.object({ ...sender, type: z.literal("text"), text: z.object({ body: z.string() }) }),
  z.object({ ...sender, type: z.literal("button"), button: z.object({ text: z.string() }) }),
  z.object({
    ...sender,
    type: z.literal("interactive"),
    interactive: z.object({ button_reply: choice.nullish(), list_reply: choice.nullish() }),
  }),
  z.object({ ...sender, type: z.literal("image"), image: media }),
  z.object({ ...sender, type: z.literal("document"), document: media }),
  z.object({ ...sender, type: z.literal("audio"), audio: media }),
  z.object({ ...sender, type: z.literal("video"), video: media }),
  z.object({ ...sender, type: z.literal("sticker"), sticker: media }),
]);
type Message = z.infer<typeof message>;

export function parseWhatsApp(request: WebhookRequest, phoneNumber: string): ParsedWebhook {
  if (request.method === "GET") return answerCheck(request.url);
  const body = parseBody(request.body);
  if (body === undefined) return { kind: "malformed", detail: "body: is not JSON in UTF-8" };
  const parsed = envelope.safeParse(body);
  if (!parsed.success) return { kind: "malformed", detail: "object: is no notification of a WhatsApp business account" };
  const changes = parsed.data.entry.flatMap((each) => each.changes);
  const deliveries = changes.flatMap((each) => readChange(each, phoneNumber));
  const ignored = findFailure(changes, phoneNumber) ?? "statuses, or messages of a kind that is not read";
  if (deliveries.length === 0) return { kind: "ignored", reason: ignored, answer: TAKEN };
  return { kind: "deliveries", deliveries, answer: TAKEN };
}

function answerCheck({ searchParams }: URL): ParsedWebhook {
  const challenge = searchParams.get("hub.challenge");
  if (searchParams.get("hub.mode") !== "subscribe") return { kind: "malformed", detail: "hub.mode: is not subscribe" };
  if (!challenge || challenge.length > 256) return { kind: "malformed", detail: "hub.challenge: is missing, or too long" };
  return { kind: "handshake", answer: { status: 200, text: challenge } };
}

/** An app receives the messages of all its phone numbers. One message that cannot be read does not hold up the others. */
function readChange(given: unknown, phoneNumber: string): readonly Delivery[] {
  const { data } = change.safeParse(given);
  if (!data || data.value.metadata.phone_number_id !== phoneNumber) return [];
  const { contacts, messages } = data.value;
  const named = (contacts ?? []).map(({ wa_id, user_id, profile }) => [wa_id ?? user_id, profile?.name ?? null] as const);
  const names = new Map(named);
  return (messages ?? []).flatMap((each) => {
    const read = message.safeParse(each);
    // The bot cannot answer in groups, which need another kind of account.
    if (!read.success || read.data.group_id) return [];
    const person = read.data.from ?? read.data.from_user_id;
    return person ? [toDelivery(read.data, { id: person, name: names.get(person) || null, language: null })] : [];
  });
}

/** For the channel's log, which counts it. Null: no message of the bot failed. */
function findFailure(changes: readonly unknown[], phoneNumber: string): string | null {
  for (const each of changes) {
    const { data } = change.safeParse(each);
    if (data?.value.metadata.phone_number_id !== phoneNumber) continue;
    const [failed] = (data.value.statuses ?? []).flatMap((status) => failedStatus.safeParse(status).data ?? []);
    if (failed) return `a message was not delivered: error ${failed.errors[0]?.code}`;
  }
  return null;
}

function toDelivery(read: Message, user: ChatUser): Delivery {
  const { id, from, timestamp } = read;
  // The indicator of typing is shown below a message, so its id is kept with the place.
  const target = { to: from ?? null, recipient: from ? null : user.id, message: id };
  const place: ChatPlace = { chat: user.id, thread: null, is_private: true, target };
  return { id, place, user, at: Number(timestamp) * 1_000, event: toEvent(read) };
}

function toEvent(read: Message): ChatEvent {
  switch (read.type) {
    case "text":
      return toMessage(read.id, read.text.body, []);
    case "button":
      return toMessage(read.id, read.button.text, []);
    case "interactive": {
      const chosen = read.interactive.button_reply ?? read.interactive.list_reply;
      const source = read.context?.id;
      return chosen && source ? { type: "button", message: source, data: chosen.id } : toMessage(read.id, chosen?.title ?? "", []);
    }
    default: {
      const file = toMedia(read);
      return toMessage(read.id, file.caption ?? "", [
        { ref: file.id, name: file.filename ?? null, media_type: toType(file.mime_type), bytes: null },
      ]);
    }
  }
}

function toMedia(read: Exclude<Message, { type: "text" | "button" | "interactive" }>): z.infer<typeof media> {
  switch (read.type) {
    case "image":
      return read.image;
    case "document":
      return read.document;
    case "audio":
      return read.audio;
    case "video":
      return read.video;
    case "sticker":
      return read.sticker;
  }
}

function toMessage(id: string, text: string, files: readonly ChatFile[]): ChatEvent {
  const said = text.trim();
  return { type: "message", message: id, text: said, files, command: findWrittenCommand(said), is_addressed: true };
}

/** `audio/ogg; codecs=opus` is `audio/ogg`. */
const toType = (type: string | null | undefined): string | null => type?.split(";")[0]?.trim().toLowerCase() || null;

function parseBody(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    return undefined;
  }
}
