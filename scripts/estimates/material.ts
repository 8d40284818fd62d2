/** The generators' material: seeded choices, words, and the kinds of names that programs and APIs contain. */
import type { Random } from "../support/random.ts";

export type Write = (random: Random) => string;

export const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));

export function pick<T>(random: Random, choices: readonly T[]): T {
  const chosen = choices[random.between(0, choices.length - 1)];
  if (chosen === undefined) throw new RangeError("nothing to choose from");
  return chosen;
}

const letters = (alphabet: string) => (random: Random, length: number) =>
  times(length, () => alphabet.charAt(random.between(0, alphabet.length - 1))).join("");

export const hex = letters("0123456789abcdef");
export const base62 = letters("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
export const base64 = letters("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
export const digits = letters("0123456789");
const capitals = letters("ABCDEFGHJKLMNPQRSTUVWXYZ");

export const orderId: Write = (random) => `${capitals(random, 3)}-${digits(random, random.between(4, 7))}`;
export const uuid: Write = (random) => [8, 4, 4, 4, 12].map((length) => hex(random, length)).join("-");
export const clock: Write = (random) =>
  `${String(random.between(0, 23)).padStart(2, "0")}:${String(random.between(0, 59)).padStart(2, "0")}`;
export const timestamp: Write = (random) =>
  `2025-${String(random.between(1, 12)).padStart(2, "0")}-${String(random.between(1, 28)).padStart(2, "0")}T${clock(random)}:${String(random.between(0, 59)).padStart(2, "0")}Z`;

export const NOUNS =
  "order customer session message invoice payment address token window cursor request response queue worker batch record entry field schema index cache policy budget summary report".split(
    " ",
  );
export const VERBS =
  "get find load read list count build parse merge apply check resolve update remove create validate encode format collect".split(" ");
export const ADJECTIVES = "active open pending stale newest valid empty recent total partial visible default remote shared".split(" ");

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Names such as `findStaleOrder`, `cursor` and `newestRecord`. */
export const camel: Write = (random) => {
  const words = pick(random, [[VERBS, NOUNS], [NOUNS], [ADJECTIVES, NOUNS], [VERBS, ADJECTIVES, NOUNS], [NOUNS, NOUNS]]);
  return words.map((list, index) => (index === 0 ? pick(random, list) : capital(pick(random, list)))).join("");
};

export const snake: Write = (random) => camel(random).replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
export const pascal: Write = (random) => capital(camel(random));
