/** One signal for a call: it ends when the caller gives up, and when its time is over. */
import type { Schedule } from "../app/session-ports";
import { TimeIsUp } from "./safe-fetch";

export interface Deadline {
  readonly signal: AbortSignal;
  /** Ends the call for a reason of its own. */
  abort(reason: unknown): void;
  /** Call it once the work is over. */
  clear(): void;
}

export function startDeadline(ms: number, { signal, schedule }: { readonly signal: AbortSignal; readonly schedule: Schedule }): Deadline {
  const own = new AbortController();
  const giveUp = (): void => own.abort(signal.reason);
  if (signal.aborted) giveUp();
  signal.addEventListener("abort", giveUp, { once: true });
  const cancel = schedule(ms, () => own.abort(new TimeIsUp()));
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    clear: () => {
      cancel();
      signal.removeEventListener("abort", giveUp);
    },
  };
}
