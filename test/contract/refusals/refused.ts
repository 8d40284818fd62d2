/** Requests that a provider refuses, with the wording of the refusal. */
import type { Dialect } from "../../support/stand-in/providers/script.ts";

/** An accepted request, and changes to it that are refused, with a part of the refusal's wording. */
export interface Refused {
  readonly name: string;
  readonly dialect: Dialect;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly taken: object;
  readonly changes: readonly (readonly [what: string, change: object, words: string])[];
}

/** The window of these tests' stand-ins in tokens, and a text that exceeds it. */
export const SMALL_WINDOW = 2_000;
export const LONG_TEXT = "word ".repeat(3_000);
