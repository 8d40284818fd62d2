/** Sends what adapters build, and reads what platforms answer. Addresses are judged as those of tools are: a tenant may have chosen them. */
import type { PlatformRequest, PlatformResponse } from "../../app/channels/channel";
import type { PlatformAnswer } from "../../app/channels/chat-ports";
import type { Schedule } from "../../app/session-ports";
import { readAtMost } from "../../lib/bounded-body";
import type { Result } from "../../lib/result";

/** A request as `tools/safe-fetch` takes it. */
interface JudgedRequest extends Pick<PlatformRequest, "url" | "method" | "headers" | "body"> {
  readonly secret: { readonly name: string; readonly value: string } | null;
  readonly signal: AbortSignal;
  readonly redirects: number;
  readonly onSend?: () => void;
}

export interface ClientDeps {
  readonly fetch: (request: JudgedRequest) => Promise<Result<Response, string>>;
  readonly schedule: Schedule;
}

const MAX_ANSWER_BYTES = 64 * 1_024;
const TIMEOUT_MS = 30_000;

/** `work` gets a signal that is aborted when the time is over. */
export async function withinTime<T>(schedule: Schedule, ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const stop = schedule(ms, () => late.abort(new Error("The time is over")));
  try {
    return await work(late.signal);
  } finally {
    stop();
  }
}

/**
 * Statuses by which Cloudflare's network answers in place of a server that it cannot talk to:
 * https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-5xx-errors/
 * No connection was made: it was refused (521), had no route (523), or TLS failed (525, 526).
 */
const NOT_CONNECTED = [521, 523, 525, 526];
/** The name was not resolved. The body has the code that says so. */
const UNRESOLVED = { status: 530, code: /\b1016\b/ };
/** The answer was empty or broken (520), or did not come (522, 524). The server may have read the request. */
const NO_ANSWER = [520, 522, 524];

function judgeAnswer(response: PlatformResponse): PlatformAnswer {
  const { status, body } = response;
  const isUnresolved = status === UNRESOLVED.status && UNRESOLVED.code.test(body);
  if (isUnresolved || NOT_CONNECTED.includes(status)) return { kind: "not_sent", reason: `no connection (${status})` };
  return NO_ANSWER.includes(status) ? { kind: "no_answer" } : { kind: "answered", response };
}

/**
 * No redirect is followed: a message that was sent twice would be there twice. A request that left and got no answer may have arrived: workerd
 * reports a refused connection and an answer that was lost by the same error.
 */
export const createPlatformClient =
  ({ fetch, schedule }: ClientDeps): ((request: PlatformRequest) => Promise<PlatformAnswer>) =>
  (request) =>
    withinTime(schedule, TIMEOUT_MS, async (signal): Promise<PlatformAnswer> => {
      let isSent = false;
      const onSend = (): void => {
        isSent = true;
      };
      const fetched = await fetch({ ...request, secret: null, signal, redirects: 0, onSend });
      if (!fetched.ok) return isSent ? { kind: "no_answer" } : { kind: "not_sent", reason: fetched.error };
      const { status, headers, body } = fetched.value;
      try {
        const read = await readAtMost(body, { maxBytes: MAX_ANSWER_BYTES, signal });
        return judgeAnswer({ status, headers, body: read.ok ? new TextDecoder().decode(read.value) : "" });
      } catch {
        return { kind: "no_answer" };
      }
    });
