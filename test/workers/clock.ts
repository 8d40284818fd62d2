/**
 * A clock that a test moves. The setup of each file imports it before the Worker is loaded, because the Worker's code reads
 * `Date.now` when it is loaded, and puts it back to the true time.
 */
import { vi } from "vitest";

const realNow = Date.now;
let ahead = 0;
// This is not a spy, because it must outlast `vi.restoreAllMocks`.
Date.now = () => realNow.call(Date) + ahead;

export function advanceClock(ms: number): void {
  ahead += ms;
}

export function restoreClock(): void {
  ahead = 0;
}

export interface HeldTimers {
  /** Resolves once a timer is set. */
  set(): Promise<void>;
  /** Fires all timers that were set. Timers of an object fire inside it: `runInDurableObject(stub, timers.ring)`. */
  ring(): void;
  restore(): void;
}

/** From here on, timers of exactly `ms` are held until the test fires them. */
export function holdTimers(ms: number): HeldTimers {
  const held = new Map<number, () => void>();
  const first = Promise.withResolvers<void>();
  const real = globalThis.setTimeout;
  const realClear = globalThis.clearTimeout;
  let next = -1;
  const set = vi.spyOn(globalThis, "setTimeout").mockImplementation(((work: () => void, delay?: number) => {
    if (delay !== ms) return real(work, delay);
    held.set(next, work);
    first.resolve();
    return next--;
  }) as typeof setTimeout);
  const clear = vi.spyOn(globalThis, "clearTimeout").mockImplementation(((timer: number) => {
    if (!held.delete(timer)) realClear(timer);
  }) as typeof clearTimeout);
  return {
    set: () => first.promise,
    ring() {
      const due = [...held.values()];
      held.clear();
      for (const work of due) work();
    },
    restore() {
      set.mockRestore();
      clear.mockRestore();
    },
  };
}
