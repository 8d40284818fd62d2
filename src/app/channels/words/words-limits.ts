/** What the bot says of limits, and when they pass. */
import { type ChatLanguage, findLanguage } from "./words";

interface LimitWords {
  /** Too many messages of a minute. */
  readonly requests: string;
  /** The tenant's files. */
  readonly files: string;
  /** `when`: such as "in 40 seconds". */
  readonly again: (when: string) => string;
}

const LIMIT_WORDS: Readonly<Record<ChatLanguage, LimitWords>> = {
  en: {
    requests: "That was more than I may answer in a minute.",
    files: "I have no room for your file.",
    again: (when) => `Please try again ${when}.`,
  },
  de: {
    requests: "Das war mehr, als ich in einer Minute beantworten darf.",
    files: "Für deine Datei habe ich keinen Platz.",
    again: (when) => `Bitte versuche es ${when} noch einmal.`,
  },
  fr: {
    requests: "C’est plus que ce à quoi je peux répondre en une minute.",
    files: "Je n’ai pas de place pour ton fichier.",
    again: (when) => `Réessaie ${when}.`,
  },
  es: {
    requests: "Es más de lo que puedo responder en un minuto.",
    files: "No tengo espacio para tu archivo.",
    again: (when) => `Vuelve a intentarlo ${when}.`,
  },
  pt: {
    requests: "É mais do que posso responder em um minuto.",
    files: "Não tenho espaço para o teu ficheiro.",
    again: (when) => `Tenta novamente ${when}.`,
  },
  it: {
    requests: "È più di quanto io possa rispondere in un minuto.",
    files: "Non ho spazio per il tuo file.",
    again: (when) => `Riprova ${when}.`,
  },
  zh: {
    requests: "这超出了我一分钟内可以回答的数量。",
    files: "我没有空间存放你的文件。",
    again: (when) => `请在${when}再试。`,
  },
  ja: {
    requests: "一分間にお答えできる数を超えました。",
    files: "ファイルを保存する空きがありません。",
    again: (when) => `${when}にもう一度お試しください。`,
  },
  ru: {
    requests: "Это больше, чем я могу ответить за минуту.",
    files: "У меня нет места для вашего файла.",
    again: (when) => `Попробуйте снова ${when}.`,
  },
};

export const findLimitWords = (tag: string | null): LimitWords => LIMIT_WORDS[findLanguage(tag)];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Units, each up to where the next one says enough. */
const UNITS = [
  { unit: "second", ms: 1_000, until: 90 * 1_000 },
  { unit: "minute", ms: MINUTE_MS, until: 90 * MINUTE_MS },
  { unit: "hour", ms: HOUR_MS, until: 36 * HOUR_MS },
] as const;

/** The wait in words, rounded up, so that no person tries too early. */
export function writeWait(tag: string | null, ms: number): string {
  const { unit, ms: one } = UNITS.find(({ until }) => ms < until) ?? { unit: "day", ms: DAY_MS };
  return new Intl.RelativeTimeFormat(findLanguage(tag), { numeric: "always" }).format(Math.max(1, Math.ceil(ms / one)), unit);
}
