/**
 * A deliberate breakage: a replacement in one source file, with the promise that it breaks and the tests that are expected
 * to notice. `find` occurs exactly once in its file, so that a change of the code that makes a mutant meaningless is seen.
 */

export interface Mutant {
  readonly name: string;
  /** The promise that it breaks, and the page that makes it. */
  readonly breaks: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Test files or folders that should notice, run first. */
  readonly tests: readonly string[];
  /** Seeds of the simulation, should the tests not notice. */
  readonly seeds?: number;
}

export const DOMAIN = ["test/domain"];
export const CONTEXT = ["test/context"];
export const SIMULATION: readonly string[] = [];
