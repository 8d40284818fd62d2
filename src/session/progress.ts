/** Tells waiting clients that the session went on, or that it cannot: work under way is halted while there is no room for its next write. */

import type { Schedule } from "../app/session-ports";
import { isStorageFull } from "../lib/sync-sql";
import { createSignal, type Signal } from "./signal";
import type { StreamBuffer } from "./stream/stream-buffer";

export class Progress {
  #isHalted = false;
  /** Given after each commit, for callers that wait for an outcome and not for its text. */
  readonly #commits: Signal;
  readonly #buffer: StreamBuffer;

  constructor(schedule: Schedule, buffer: StreamBuffer) {
    this.#commits = createSignal(schedule);
    this.#buffer = buffer;
  }

  get isHalted(): boolean {
    return this.#isHalted;
  }

  /** Resolves at the next commit or halt, or after `ms`. */
  next(ms?: number): Promise<void> {
    return this.#commits.next(ms);
  }

  /** Halts work under way when the error says that the disk is full, and wakes waiting clients. The next commit ends the halt. */
  haltIfFull(error: unknown): void {
    if (isStorageFull(error)) this.halt();
  }

  halt(): void {
    this.#isHalted = true;
    this.#commits.give();
    this.#buffer.nudge();
  }

  resume(): void {
    this.#isHalted = false;
  }

  committed(): void {
    this.#commits.give();
  }
}
