/** The measured figures as a table, and the goals. */

export type AskedBy = "execution id" | "own words" | "other words";

export interface RecallFigures {
  readonly language: string;
  readonly asked: AskedBy;
  /** `plain`: BM25 over whole words as SQLite splits them, without stems and neighbours, and whole messages up to 2,000 tokens. */
  readonly by: "memory_query" | "plain";
  readonly questions: number;
  /** Shares of the questions whose evidence is among this many first hits, with their neighbours. */
  readonly at5: number;
  readonly at10: number;
  /** Anywhere in the result, within 2,000 tokens. */
  readonly within: number;
  /** Mean tokens of a result. */
  readonly tokens: number;
}

/** The goals: everything by execution id and by exact words, and 95 % when the question shares words with the fact. */
const GOALS: Readonly<Record<AskedBy, number>> = { "execution id": 1, "own words": 1, "other words": 0.95 };
const MOST_TOKENS = 2_000;

/** The index of the hit that contains the evidence, or -1. */
export function toFigures(
  of: Pick<RecallFigures, "language" | "asked" | "by">,
  found: readonly { readonly at: number; readonly tokens: number }[],
): RecallFigures {
  const share = (isFound: (at: number) => boolean): number => found.filter(({ at }) => at >= 0 && isFound(at)).length / found.length;
  const tokens = Math.round(found.reduce((sum, each) => sum + each.tokens, 0) / found.length);
  return { ...of, questions: found.length, at5: share((at) => at < 5), at10: share((at) => at < 10), within: share(() => true), tokens };
}

export function findMissed(figures: readonly RecallFigures[]): string[] {
  return figures
    .filter(({ by }) => by === "memory_query")
    .flatMap(({ language, asked, within, tokens }) => [
      ...(within < GOALS[asked] ? [`${language}, ${asked}: ${percent(within)} found, wanted ${percent(GOALS[asked])}`] : []),
      ...(tokens > MOST_TOKENS ? [`${language}, ${asked}: ${tokens} tokens, at most ${MOST_TOKENS}`] : []),
    ]);
}

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
const HEAD = ["language", "asked by", "found by", "questions", "at 5", "at 10", "in all", "tokens"];

export function formatFigures(figures: readonly RecallFigures[]): string {
  const rows = figures.map((row) => [
    row.language,
    row.asked,
    row.by,
    String(row.questions),
    percent(row.at5),
    percent(row.at10),
    percent(row.within),
    String(row.tokens),
  ]);
  const widths = HEAD.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [HEAD, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
