/**
 * Time that a test can move. Import it before the Worker is first called: the Worker's code takes `Date.now` and
 * `setTimeout` when it is loaded or an object is made.
 */
import { vi } from "vitest";

const realNow = Date.now;
let ahead = 0;
// Not a spy: it must outlast `vi.restoreAllMocks`.
Date.now = () => realNow.call(Date) + ahead;

export function advanceClock(ms: number): void {
  ahead += ms;
}

export interface HeldTimers {
  /** Resolves once one is set. */
  set(): Promise<void>;
  /** Rings all that were set. Timers of an object ring inside it: `runInDurableObject(stub, timers.ring)`. */
  ring(): void;
  restore(): void;
}

/** From here on timers of exactly `ms` are kept back until the test rings them. */
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
