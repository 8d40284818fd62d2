/**
 * Builds the POST of a reply, signed by Standard Webhooks, and reads its answer. Its `webhook-id` is the operation, so that the receiver
 * recognises a repetition.
 */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { z } from "zod";
import type { ActOutcome, OutboundAct, PlatformRequest, PlatformResponse } from "../../app/channels/channel";
import { toBase64 } from "../../lib/base64";
import { type GenericCredentials, readWebhookKey } from "./credentials";

const utf8 = new TextEncoder();

/** Synchronous, as `build` is. */
function sign({ id, timestamp, body }: { readonly id: string; readonly timestamp: number; readonly body: string }, secret: string): string {
  const key = readWebhookKey(secret);
  if (!key) throw new TypeError("The secret was checked when it was put");
  return `v1,${toBase64(hmac(sha256, key, utf8.encode(`${id}.${timestamp}.${body}`)))}`;
}

type Send = Extract<OutboundAct, { readonly type: "send" }>;

export function buildReply(
  { operation, place, text, buttons, is_plain }: Send,
  credentials: GenericCredentials,
  now: number,
): PlatformRequest {
  const { conversation = null, thread = null } = place.target;
  const data = { operation, conversation, thread, text: is_plain ? text.plain : text.text, buttons };
  const body = JSON.stringify({ type: "reply", timestamp: new Date(now).toISOString(), data });
  const timestamp = Math.floor(now / 1_000);
  return {
    method: "POST",
    url: credentials.reply_url,
    headers: {
      "content-type": "application/json",
      "webhook-id": operation,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": sign({ id: operation, timestamp, body }, credentials.reply_secret ?? credentials.secret),
    },
    body,
  };
}

const DEFAULT_WAIT_S = 30;
const MAX_WAIT_S = 3_600;

/** In milliseconds. A date is not read. */
function readRetryAfter(headers: Headers): number {
  const [seconds] = /^\d{1,9}$/.exec(headers.get("retry-after") ?? "") ?? [];
  return Math.min(seconds === undefined ? DEFAULT_WAIT_S : Math.max(Number(seconds), 1), MAX_WAIT_S) * 1_000;
}

const answerBody = z.object({ message_id: z.string().min(1).max(256) });

/** The receiver's own id of the message, if it tells one. */
function readMessageId(body: string): string | null {
  try {
    return answerBody.safeParse(JSON.parse(body)).data?.message_id ?? null;
  } catch {
    return null;
  }
}

/** A receiver that fails may have taken the reply. It recognises the repetition. */
export function readReplyAnswer(response: PlatformResponse | null): ActOutcome {
  if (!response) return { kind: "unknown", reason: "no answer" };
  const { status, headers, body } = response;
  const reason = `status ${status}`;
  if (status >= 200 && status < 300) return { kind: "done", message: readMessageId(body) };
  if (status === 429) return { kind: "rate_limited", retry_in_ms: readRetryAfter(headers) };
  if (status === 503) return { kind: "failed", reason };
  return status >= 500 || status === 408 || status === 425 ? { kind: "unknown", reason } : { kind: "refused", reason };
}
