/** Talk about nothing in particular, as `npm run recall` has it. */
import { CHAT_LANGUAGES } from "../recall/languages.ts";
import type { Random } from "../support/random.ts";

interface Tongue {
  /** As `scripts/recall/languages` names it. */
  readonly name: string;
}

/** A sentence with talk about nothing before and after it. */
export const amidTalk = (random: Random, language: Tongue, text: string): string =>
  [smallTalk(random, language), text, smallTalk(random, language)].join("\n");

export function smallTalk(random: Random, { name }: Tongue): string {
  const language = CHAT_LANGUAGES.find((each) => each.name === name);
  if (!language) throw new Error(`nobody chats in ${name}`);
  const pick = (list: readonly string[]): string => list[random.between(0, list.length - 1)] ?? "";
  const text = language.small.map(pick).join(language.joint).replace(`${language.joint}、`, "、");
  return text.replaceAll("{n}", pick(language.people));
}
