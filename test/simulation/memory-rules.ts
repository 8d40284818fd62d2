/** What a session's object holds in memory when nothing is left to do (docs/invariants-of-the-log.md). */
import type { KeptCollection } from "../support/kept-collections";
import { MODELS } from "./profile";
import type { Violations } from "./violation";

const ASKED = Object.keys(MODELS).length;

interface Rested {
  readonly violations: Violations;
  readonly kept: readonly KeptCollection[];
  /** The most texts in memory. */
  readonly texts: number;
}

/** The most entries of each map and set that the object began with, by the file that makes it. A new one needs a bound here. */
const listBounds = (texts: number): Readonly<Record<string, readonly number[]>> => ({
  // Callers that wait for a commit, and for the result of a worker.
  "signal.ts": [0, 0],
  // Readers of the live stream that wait.
  "stream-buffer.ts": [0],
  // What refusals taught of each model, and look-ups under way.
  "known-model.ts": [ASKED, 0],
  // The longest reply that each model takes.
  "runtime.ts": [ASKED],
  // Turns whose request is known.
  "turn-requests.ts": [200],
  // Items, and all other texts. The weight of both is bounded: `test/session/bounded-cache.test.ts`.
  "bounded-cache.ts": [texts, texts],
});

/** I57: no caller waits, nothing is looked up, and all else has a bound. */
export function checkMemory({ violations, kept, texts }: Rested): void {
  const bounds = listBounds(texts);
  for (const [file, most] of Object.entries(bounds)) {
    const sizes = kept.flatMap((each) => (each.file === file ? [each.collection.size] : []));
    const isWithin = sizes.length === most.length && sizes.every((size, index) => size <= (most[index] ?? 0));
    violations.check(isWithin, "I57", () => `at rest the collections of ${file} have ${sizes} entries, not at most ${most}`);
  }
  const unknown = kept.filter(({ file }) => !(file in bounds)).map(({ file }) => file);
  violations.check(unknown.length === 0, "I57", () => `collections of ${unknown} have no bound`);
}
