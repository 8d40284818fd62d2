/** How Slack sends a request to an app, and repeats an event: https://docs.slack.dev/apis/events-api#retries */
import { createHmac } from "node:crypto";

export interface Attempt {
  readonly status: number | null;
  /** The answer's body. Empty when there was no answer. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Sender {
  /** Where the app receives requests. */
  readonly url: string;
  readonly signingSecret: string;
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
  /** Aborts when Slack no longer waits for an answer. */
  readonly deadline: () => AbortSignal;
}

/** At once, after a minute, after five. */
const RETRY_WAITS = [0, 60_000, 300_000];

export function signSlack(secret: string, timestamp: string, body: string): string {
  return `v0=${createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex")}`;
}

/** Sends an event until it is answered with 2xx: four times at most. */
export async function deliverEvent(sender: Sender, event: object): Promise<readonly Attempt[]> {
  const body = JSON.stringify(event);
  const attempts = [await post(sender, { body, type: "application/json", headers: {} })];
  for (const [index, ms] of RETRY_WAITS.entries()) {
    const last = attempts.at(-1);
    if (!last || isTaken(last) || last.headers["x-slack-no-retry"] === "1") break;
    await sender.wait(ms);
    const reason = last.status === null ? "http_timeout" : "http_error";
    const headers = { "x-slack-retry-num": String(index + 1), "x-slack-retry-reason": reason };
    attempts.push(await post(sender, { body, type: "application/json", headers }));
  }
  return attempts;
}

/** Slash commands and interactions are sent once. */
export function deliverForm(sender: Sender, fields: Readonly<Record<string, string>>): Promise<Attempt> {
  return post(sender, { body: new URLSearchParams(fields).toString(), type: "application/x-www-form-urlencoded", headers: {} });
}

const isTaken = ({ status }: Attempt): boolean => status !== null && status >= 200 && status < 300;

interface Sent {
  readonly body: string;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function post({ url, signingSecret, now, deadline }: Sender, { body, type, headers }: Sent): Promise<Attempt> {
  const timestamp = String(Math.floor(now() / 1_000));
  const signed = { "x-slack-request-timestamp": timestamp, "x-slack-signature": signSlack(signingSecret, timestamp, body) };
  try {
    const response = await fetch(url, {
      method: "POST",
      body,
      headers: { "content-type": type, ...signed, ...headers },
      signal: deadline(),
    });
    return { status: response.status, body: await response.text(), headers: Object.fromEntries(response.headers) };
  } catch {
    return { status: null, body: "", headers: {} };
  }
}
