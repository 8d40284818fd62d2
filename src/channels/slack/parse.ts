/** What a verified request of Slack means: an event, a slash command or a pressed button. */
import { z } from "zod";
import type { DeliveryAnswer, ParsedWebhook, WebhookRequest } from "../../app/channels/channel";
import { readCallback } from "./events";
import { readInteraction, readSlash } from "./forms";
import type { SlackReading } from "./reading";

/** Slack repeats an event whose answer takes over 3 s. The core stores what was delivered, and answers at once. */
const TAKEN: DeliveryAnswer = { status: 200 };

const handshake = z.object({ type: z.literal("url_verification"), challenge: z.string().min(1).max(1_024) });
const typed = z.object({ type: z.string() });

export function parseSlack(request: WebhookRequest, bot: string | null): ParsedWebhook {
  if (request.method !== "POST") return malformed("method: is not POST");
  const body = decode(request.body);
  if (body === null) return malformed("body: is not UTF-8");
  const isForm = (request.headers.get("content-type") ?? "").toLowerCase().startsWith("application/x-www-form-urlencoded");
  return isForm ? parseForm(new URLSearchParams(body), request.headers) : parseEvent(parseJson(body), bot);
}

function parseEvent(body: unknown, bot: string | null): ParsedWebhook {
  const start = handshake.safeParse(body);
  if (start.success) return { kind: "handshake", answer: { status: 200, json: { challenge: start.data.challenge } } };
  const { data } = typed.safeParse(body);
  if (!data) return malformed("type: is missing in a body of JSON");
  if (data.type === "event_callback") return toParsed(readCallback(body, bot));
  if (data.type === "url_verification") return malformed("challenge: is not a text");
  return toParsed({ ignored: `a request of the type ${data.type.slice(0, 64)}` });
}

function parseForm(form: URLSearchParams, headers: Headers): ParsedWebhook {
  // Slack asks so whether the certificate is valid.
  if (form.get("ssl_check") === "1") return { kind: "handshake", answer: TAKEN };
  const payload = form.get("payload");
  if (payload !== null) return toParsed(readInteraction(parseJson(payload)));
  return toParsed(readSlash(form, headers.get("x-slack-request-timestamp")));
}

function toParsed(reading: SlackReading): ParsedWebhook {
  if ("malformed" in reading) return malformed(reading.malformed);
  if ("ignored" in reading) return { kind: "ignored", reason: reading.ignored, answer: TAKEN };
  return { kind: "deliveries", deliveries: [reading.delivery], answer: reading.answer ?? TAKEN };
}

const malformed = (detail: string): ParsedWebhook => ({ kind: "malformed", detail });

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return null;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
