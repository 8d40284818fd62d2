/**
 * A deliberate breakage: a replacement in one source file, with the guarantee that it breaks and the tests that must
 * detect it. `find` occurs exactly once in the file, so that a change of the code that invalidates the mutant is
 * noticed.
 */

export interface Mutant {
  readonly name: string;
  /** The promise that it breaks, and the page that makes it. */
  readonly breaks: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Test files or folders that should detect it. They run first. */
  readonly tests: readonly string[];
  /** Seeds of the simulation, which runs if those tests detect nothing. */
  readonly seeds?: number;
}

export const DOMAIN = ["test/domain"];
export const CONTEXT = ["test/context"];
export const SIMULATION: readonly string[] = [];
