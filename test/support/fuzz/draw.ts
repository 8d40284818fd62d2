/** Draws from one seed: what the fuzzer of the API chooses, so that a request can be made again. */
import { createRandom } from "../../../scripts/support/random.ts";

export class Draw {
  readonly #random;

  constructor(seed: number) {
    this.#random = createRandom(seed);
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return this.#random.between(least, most);
  }

  /** True in so many of a hundred cases. */
  chance(percent: number): boolean {
    return this.between(1, 100) <= percent;
  }

  pick<T>(values: readonly [T, ...T[]]): T {
    return values[this.between(0, values.length - 1)] ?? values[0];
  }

  /** One of a list that may be empty. */
  pickAny<T>(values: readonly T[]): T | undefined {
    return values[this.between(0, values.length - 1)];
  }
}

/** A seed for one request, that depends on nothing but its arguments. FNV-1a. */
export function mixSeed(seed: number, ...parts: readonly (string | number)[]): number {
  let mixed = seed ^ 0x811c9dc5;
  for (const character of parts.join(" ")) mixed = Math.imul(mixed ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return mixed | 0;
}
