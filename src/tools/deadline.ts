/** A signal for one call. It is aborted when the caller gives up and when the call's time is over. */
import type { Schedule } from "../app/session-ports";
import { TimeIsUp } from "./safe-fetch";

export interface Deadline {
  readonly signal: AbortSignal;
  /** Aborts the call for another reason. */
  abort(reason: unknown): void;
  /** Call this once the work is over. */
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
