import type { Scope } from "./scheduler";

/** A copy hashes ids between its calls, on a thread that no scheduler sees. No step begins while one does, so that a seed stays one story. */
export class Hashing {
  readonly #busy = new Set<Scope>();

  /** Returns a wrapper for the calls of one copy. */
  begin(scope: Scope) {
    const busy = this.#busy;
    const call = async <T>(work: () => Promise<T>): Promise<T> => {
      busy.delete(scope);
      const value = await work();
      busy.add(scope);
      return value;
    };
    return Object.assign(call, { end: () => void busy.delete(scope) });
  }

  /** Resolves when no living copy hashes. */
  async settle(): Promise<void> {
    for (const scope of this.#busy) if (!scope.alive) this.#busy.delete(scope);
    while (this.#busy.size > 0) await new Promise((resolve) => setImmediate(resolve));
  }
}
