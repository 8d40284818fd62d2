/** The bot's own words, in the languages that it speaks. All else that it says comes from the model. */
import { DE, EN, ES, FR, IT, PT, type Words } from "./words-latin";
import { JA, RU, ZH } from "./words-others";

const LANGUAGES = ["en", "de", "fr", "es", "pt", "it", "zh", "ja", "ru"] as const;
export type ChatLanguage = (typeof LANGUAGES)[number];

const WORDS: Readonly<Record<ChatLanguage, Words>> = { en: EN, de: DE, fr: FR, es: ES, pt: PT, it: IT, zh: ZH, ja: JA, ru: RU };

/** `tag`: BCP 47, such as `pt-BR`. A language that the bot does not speak is answered in English. */
export function findLanguage(tag: string | null): ChatLanguage {
  const [primary = ""] = (tag ?? "").toLowerCase().split(/[-_]/);
  return LANGUAGES.find((known) => known === primary) ?? "en";
}

export const findWords = (tag: string | null): Words => WORDS[findLanguage(tag)];
