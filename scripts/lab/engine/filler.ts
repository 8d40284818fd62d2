/** What stands for a summary that no model wrote. */

/** Tokens that it repeats: one each. */
const WORDS = ["the", "talk", "went", "on", "about", "one", "more", "point", "and", "it", "was", "kept"] as const;

/** Text of exactly so many tokens, another one for each `name`, with no identifier in it. */
export function filler(tokens: number, name: string | number): string {
  const words = [`${name}`];
  while (words.length < tokens) words.push(WORDS[words.length % WORDS.length] ?? "the");
  return words.join(" ");
}
