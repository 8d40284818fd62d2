/** Text in place of a summary that no model wrote. */

/** Tokens that the text repeats. Each is one token. */
const WORDS = ["the", "talk", "went", "on", "about", "one", "more", "point", "and", "it", "was", "kept"] as const;

/** Text of exactly `tokens` tokens, different for each `name`, without identifiers. */
export function filler(tokens: number, name: string | number): string {
  const words = [`${name}`];
  while (words.length < tokens) words.push(WORDS[words.length % WORDS.length] ?? "the");
  return words.join(" ");
}
