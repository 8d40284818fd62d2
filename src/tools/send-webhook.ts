/** Signs a webhook's event and sends it to the tenant's endpoint. The address is judged at each try, and no redirect is followed. */
import type { Clock } from "../app/ports";
import type { Schedule } from "../app/session-ports";
import type { SealedCredential } from "../app/tenant-api";
import type { SendWebhook, WebhookAnswer, WebhookOrder } from "../app/webhook-api";
import { signWebhook } from "../lib/webhook-signature";
import { startDeadline } from "./deadline";
import { type SafeFetch, toFetchFailure } from "./safe-fetch";

/** From the request to the end of the answer. */
const DEADLINE_MS = 15_000;
/** What is kept of an answer. */
const ANSWER_BYTES = 4_096;

interface SenderDeps {
  readonly fetch: SafeFetch;
  /** Null: no known master key opens it. */
  readonly openSecret: (sealed: SealedCredential, place: string) => Promise<string | null>;
  readonly schedule: Schedule;
  readonly now: Clock;
}

const failed = (failure: NonNullable<WebhookAnswer["failure"]>): WebhookAnswer => ({ status: null, failure, answer: null });

export function createWebhookSender(deps: SenderDeps): SendWebhook {
  return async (order) => {
    const deadline = startDeadline(DEADLINE_MS, { signal: new AbortController().signal, schedule: deps.schedule });
    try {
      return await send(order, deps, deadline.signal);
    } catch {
      return failed(toFetchFailure(deadline.signal));
    } finally {
      deadline.clear();
    }
  };
}

async function send({ url, event, body, secrets, place }: WebhookOrder, deps: SenderDeps, signal: AbortSignal): Promise<WebhookAnswer> {
  const opened = await Promise.all(secrets.map((sealed) => deps.openSecret(sealed, place)));
  const known = opened.filter((secret) => secret !== null);
  if (known.length === 0) return failed("secret_unavailable");
  const timestamp = Math.floor(deps.now() / 1_000);
  const response = await deps.fetch({
    url,
    method: "POST",
    headers: {
      "content-type": "application/json",
      "user-agent": "longhand-webhooks",
      "webhook-id": event,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": await signWebhook({ id: event, timestamp, body }, known),
    },
    body,
    secret: null,
    signal,
    redirects: 0,
  });
  if (!response.ok) return failed(response.error);
  const { status, ok } = response.value;
  return { status, failure: ok ? null : "status", answer: await readStart(response.value, signal) };
}

/** The beginning of the answer as text. An answer that breaks off keeps what had come: its status says how the try ended. */
async function readStart({ body }: Response, signal: AbortSignal): Promise<string> {
  const reader = body?.getReader();
  if (!reader) return "";
  const giveUp = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", giveUp, { once: true });
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let left = ANSWER_BYTES; left > 0; ) {
      const part = await reader.read();
      if (part.done) break;
      text += decoder.decode(part.value.subarray(0, left), { stream: true });
      left -= part.value.byteLength;
    }
  } catch {
    // The connection broke. What is left of the answer is of no use.
  } finally {
    signal.removeEventListener("abort", giveUp);
    giveUp();
  }
  return text;
}
