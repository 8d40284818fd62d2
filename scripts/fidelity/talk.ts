/** Small talk without facts, as in `npm run recall`. */
import { CHAT_LANGUAGES } from "../recall/languages.ts";
import type { Random } from "../support/random.ts";

interface Tongue {
  /** The language's name in `scripts/recall/languages`. */
  readonly name: string;
}

/** A sentence with small talk before and after it. */
export const amidTalk = (random: Random, language: Tongue, text: string): string =>
  [smallTalk(random, language), text, smallTalk(random, language)].join("\n");

export function smallTalk(random: Random, { name }: Tongue): string {
  const language = CHAT_LANGUAGES.find((each) => each.name === name);
  if (!language) throw new Error(`there is no small talk in ${name}`);
  const pick = (list: readonly string[]): string => list[random.between(0, list.length - 1)] ?? "";
  const text = language.small.map(pick).join(language.joint).replace(`${language.joint}、`, "、");
  return text.replaceAll("{n}", pick(language.people));
}
