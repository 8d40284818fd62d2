/**
 * Identifiers: what a conversation says once and needs again exactly, because nobody can guess it. E-mail addresses,
 * words that mix letters and digits (`mia_li_3668`, `HAT069`, `certificate_7504069`), numbers of six digits and more.
 * Amounts, dates, times and ordinals are none of them.
 */
// An address begins where no character of one stands before it: tried at each character, a long run without @ would be read again each time.
const CANDIDATES = /(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[A-Za-z0-9][A-Za-z0-9_]{4,}/g;

const isIdentifier = (word: string): boolean => word.includes("@") || /^(?=.*\d)(?=.*[A-Za-z])/.test(word) || /^\d{6,}$/.test(word);

/** The identifiers in `text`. */
export const identifiersIn = (text: string): ReadonlySet<string> => new Set((text.match(CANDIDATES) ?? []).filter(isIdentifier));

export interface Recall {
  /** Identifiers that are said again. */
  readonly needed: number;
  /** Those of them that the request does not show. */
  readonly lost: number;
}

interface Mention {
  /** Identifiers of the history before it. */
  readonly earlier: ReadonlySet<string>;
  /** What the request shows beside it. Summaries count; the lab's hold no identifier, so nothing is found in one. */
  readonly shown: readonly string[];
  readonly said: string;
}

/** Which identifiers of the history something that is said comes back to, and whether the model could see where from. `read`: one that remembers. */
export function recallOf({ earlier, shown, said }: Mention, read = identifiersIn): Recall {
  const again = [...read(said)].filter((word) => earlier.has(word));
  const lost = again.filter((word) => !shown.some((text) => read(text).has(word)));
  return { needed: again.length, lost: lost.length };
}
