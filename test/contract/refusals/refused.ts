/** Requests that a provider refuses, with the words that it refuses them in. */
import type { Dialect } from "../../support/stand-in/providers/script.ts";

/** A request that is taken, and changes to it that are refused, with some of the words of the refusal. */
export interface Refused {
  readonly name: string;
  readonly dialect: Dialect;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly taken: object;
  readonly changes: readonly (readonly [what: string, change: object, words: string])[];
}

/** Tokens that the stand-ins of these tests hold, and a text of more. */
export const SMALL_WINDOW = 2_000;
export const LONG_TEXT = "word ".repeat(3_000);
