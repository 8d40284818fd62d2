/** Sends what adapters build, and reads what platforms answer. Addresses are judged as those of tools are: a tenant may have chosen them. */
import type { PlatformRequest } from "../../app/channels/channel";
import type { PlatformAnswer } from "../../app/channels/chat-ports";
import type { Schedule } from "../../app/session-ports";
import { readAtMost } from "../../lib/bounded-body";
import type { Result } from "../../lib/result";

/** A request as `tools/safe-fetch` takes it. */
interface JudgedRequest extends Pick<PlatformRequest, "url" | "method" | "headers" | "body"> {
  readonly secret: { readonly name: string; readonly value: string } | null;
  readonly signal: AbortSignal;
  readonly redirects: number;
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

/** No redirect is followed: a message that was sent twice would be there twice. */
export const createPlatformClient =
  ({ fetch, schedule }: ClientDeps): ((request: PlatformRequest) => Promise<PlatformAnswer>) =>
  (request) =>
    withinTime(schedule, TIMEOUT_MS, async (signal): Promise<PlatformAnswer> => {
      const fetched = await fetch({ ...request, secret: null, signal, redirects: 0 });
      if (!fetched.ok) return fetched.error === "refused_address" ? { kind: "not_sent", reason: fetched.error } : { kind: "no_answer" };
      const { status, headers, body } = fetched.value;
      try {
        const read = await readAtMost(body, { maxBytes: MAX_ANSWER_BYTES, signal });
        return { kind: "answered", response: { status, headers, body: read.ok ? new TextDecoder().decode(read.value) : "" } };
      } catch {
        return { kind: "no_answer" };
      }
    });
