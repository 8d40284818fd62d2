/** Chooses the terms of a question that an index can afford to read. */

interface CountedTerm {
  /** The rows of the index that have the term. */
  readonly rows: number;
}

interface ChosenTerms<T> {
  /** Rarest first, at least one. */
  readonly terms: readonly T[];
  /** Even the rarest term is in more rows than may be read. */
  readonly isEverywhere: boolean;
}

/** The rarest terms, as long as together they are in at most `most` rows. Null when no row has any of them. */
export function chooseRarest<T extends CountedTerm>(asked: readonly T[], most: number): ChosenTerms<T> | null {
  const known = asked.filter((term) => term.rows > 0).sort((a, b) => a.rows - b.rows);
  const [rarest] = known;
  if (!rarest) return null;
  let rows = 0;
  const terms = known.filter((term, index) => {
    rows += term.rows;
    return index === 0 || rows <= most;
  });
  return { terms, isEverywhere: rarest.rows > most };
}
