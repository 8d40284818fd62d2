/** When a request is sent again, and after how long. */
import type { LonghandError } from "./errors.ts";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
/** A server that asks for more than this is not waited for: its refusal goes to the caller, who sees `retryAfterMs`. */
const LONGEST_ASKED_MS = 60_000;

/** Statuses that another attempt may change. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

export function isPassing(error: LonghandError): boolean {
  if (error.status === null) return true;
  return PASSING.has(error.status) && (error.retryAfterMs ?? 0) <= LONGEST_ASKED_MS;
}

/**
 * Whether the request certainly had no effect. The server refuses with 429, or with 503 and `Retry-After`, before it does anything; after any
 * other failure the request may have been carried out.
 */
export const isWithoutEffect = ({ status, retryAfterMs }: LonghandError): boolean =>
  status === 429 || (status === 503 && retryAfterMs !== null);

/** Doubles with every failure, from half to the whole of it by chance, so that many clients do not come back at once. */
export function chooseWait(failures: number, retryAfterMs: number | null): number {
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
  return (retryAfterMs ?? 0) + longest * (0.5 + Math.random() / 2);
}

/** Rejects with the signal's reason when it is aborted. */
export function sleep(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
