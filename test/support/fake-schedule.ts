/** A clock that the test moves, and the timers that fire on the way. */
import type { Schedule } from "../../src/app/session-ports";

export class FakeSchedule {
  #now = 1_000;
  #timers: { readonly at: number; readonly work: () => void }[] = [];

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.length;
  }

  readonly now = (): number => this.#now;

  readonly schedule: Schedule = (ms, work) => {
    const timer = { at: this.#now + ms, work };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((known) => known !== timer);
    };
  };

  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const next = this.#timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#now = next.at;
      next.work();
    }
    this.#now = end;
  }
}
