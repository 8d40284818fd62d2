/**
 * Identifiers: what a conversation says once and later needs exactly, because it cannot be guessed. E-mail addresses, words
 * that mix letters and digits (`mia_li_3668`, `HAT069`, `certificate_7504069`), and numbers of six digits and more. Amounts,
 * dates, times and ordinals are no identifiers.
 */
// An address begins where no character of an address stands before it. Tried at each character, a long run without @ would be
// read again each time.
const CANDIDATES = /(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[A-Za-z0-9][A-Za-z0-9_]{4,}/g;

const isIdentifier = (word: string): boolean => word.includes("@") || /^(?=.*\d)(?=.*[A-Za-z])/.test(word) || /^\d{6,}$/.test(word);

/** The identifiers in `text`. */
export const identifiersIn = (text: string): ReadonlySet<string> => new Set((text.match(CANDIDATES) ?? []).filter(isIdentifier));

export interface RepeatedIdentifiers {
  /** Number of identifiers that are mentioned again. */
  readonly needed: number;
  /** Number of those that the request does not show. */
  readonly lost: number;
}

interface Mention {
  /** Identifiers of the history before the message. */
  readonly earlier: ReadonlySet<string>;
  /**
   * The texts that the request shows beside the message, including summaries. Summaries of the lab hold no identifiers, so
   * none is found in one.
   */
  readonly shown: readonly string[];
  readonly said: string;
}

/**
 * Counts the identifiers of the history that a message comes back to, and those of them that the model could not see. `read`
 * finds the identifiers of a text; pass one that caches them.
 */
export function findRepeatedIdentifiers({ earlier, shown, said }: Mention, read = identifiersIn): RepeatedIdentifiers {
  const again = [...read(said)].filter((word) => earlier.has(word));
  const lost = again.filter((word) => !shown.some((text) => read(text).has(word)));
  return { needed: again.length, lost: lost.length };
}
