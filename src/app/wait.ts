/** A wait that ends at once when the signal aborts. */
import type { Schedule } from "./session-ports";

export function waitFor(ms: number, signal: AbortSignal, schedule: Schedule): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = schedule(ms, done);
    signal.addEventListener("abort", done, { once: true });
  });
}
