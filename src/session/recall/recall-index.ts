/**
 * The full-text index of a session, in its object: terms alone (`context/recall/terms`), no text a second time. It follows the record by a
 * watermark, a page in each transaction, and can be made again from the record at any time.
 */
import { MOST_PASSAGES, toPassages, toRecallText } from "../../context/recall/passages";
import type { RecallQuery } from "../../context/recall/query";
import type { Candidate } from "../../context/recall/rank";
import type { PositionRange } from "../../context/recall/request";
import { toTerms } from "../../context/recall/terms";
import { RECALL_TOOL } from "../../context/recall-tool";
import type { ViewEntry } from "../../context/view";
import type { ItemMeta } from "../../domain/message";
import { readMeta, writeMeta } from "../log/log-schema";
import type { Sql } from "../log/sql";

/** Raise it with any change of what a term is: the index is made again. */
export const TERMS_VERSION = 1;
const WATERMARK = "recall_index";
/** Of one transaction. A message is never divided. */
const PAGE = { items: 256, units: 200_000 } as const;
/** Weights of the two columns for bm25: another form of a word is as good as the word, and the word itself a little better. */
const BM25 = "bm25(recall, 0.4, 1.0)";
const SEARCH = `SELECT rowid AS row, -${BM25} AS score FROM recall
  WHERE recall MATCH ? AND rowid BETWEEN ? AND ? ORDER BY score DESC, rowid DESC LIMIT ?`;
/** Rows that one search scores, at most: of a word that is everywhere, the newest. */
const MOST_SCORED = 6_000;
const MOST_CANDIDATES = 300;

interface Watermark {
  readonly version: number;
  /** Everything up to this position is in the index, as far as it belongs there. */
  readonly to: number;
}

export function readWatermark(sql: Sql): number {
  const text = readMeta(sql, WATERMARK);
  const known = text === null ? null : (JSON.parse(text) as Watermark);
  return known?.version === TERMS_VERSION ? known.to : 0;
}

const writeWatermark = (sql: Sql, to: number): void =>
  writeMeta(sql, WATERMARK, JSON.stringify({ version: TERMS_VERSION, to } satisfies Watermark));

/** What it returned once must not be found in place of what it found; nor must the words that it was asked. */
export const isLookUp = ({ tool }: Pick<ItemMeta, "tool">): boolean => tool?.name === RECALL_TOOL.name;

export interface IndexSource {
  readForwards(range: { readonly from: number; readonly to: number }): Iterable<ViewEntry>;
}

/** One page more, in a transaction of its own. `to`: the last position that belongs into the index. Whether more is to be done. */
export function indexPage(sql: Sql, to: number, source: IndexSource): boolean {
  return sql.transaction(() => {
    const from = readWatermark(sql) + 1;
    if (from > to) return false;
    if (from === 1) sql.all("INSERT INTO recall (recall) VALUES ('delete-all')");
    let [last, items, units] = [to, 0, 0];
    for (const entry of source.readForwards({ from, to })) {
      units += indexItem(sql, entry);
      items += 1;
      if (items < PAGE.items && units < PAGE.units) continue;
      last = entry.meta.position;
      break;
    }
    writeWatermark(sql, last);
    return last < to;
  });
}

function indexItem(sql: Sql, { meta, parts }: ViewEntry): number {
  if (isLookUp(meta)) return 0;
  const text = toRecallText(parts);
  for (const [index, passage] of toPassages(text).entries()) {
    const { exact, stems } = toTerms(passage.text, meta.at);
    sql.all("INSERT INTO recall (rowid, exact, stems) VALUES (?, ?, ?)", rowOf(meta.position, index), exact.join(" "), stems.join(" "));
  }
  return text.length;
}

const rowOf = (position: number, passage: number): number => position * MOST_PASSAGES + passage;

/** The next search makes the index again. */
export function dropIndex(sql: Sql): void {
  writeWatermark(sql, 0);
}

/** Passages that have any of the terms, the best first. */
export function findCandidates(sql: Sql, query: RecallQuery, range: PositionRange | null = null): Candidate[] {
  const chosen = chooseTerms(sql, query);
  if (chosen.match === null) return [];
  const [from, to] = range ? [rowOf(range.from, 0), rowOf(range.to + 1, 0) - 1] : [chosen.from, Number.MAX_SAFE_INTEGER];
  return sql.all<{ row: number; score: number }>(SEARCH, chosen.match, from, to, MOST_CANDIDATES).map(({ row, score }) => ({
    position: Math.floor(row / MOST_PASSAGES),
    passage: row % MOST_PASSAGES,
    score: Math.max(score, Number.EPSILON),
  }));
}

interface CountedTerm {
  readonly column: "exact" | "stems";
  readonly term: string;
  readonly rows: number;
}

/** The rarest ones, as long as they do not make the search long. `from`: the first row that is looked at. */
function chooseTerms(sql: Sql, { exact, stems }: RecallQuery): { readonly match: string | null; readonly from: number } {
  const counted = [...countTerms(sql, "stems", stems), ...countTerms(sql, "exact", exact)].sort((a, b) => a.rows - b.rows);
  let rows = 0;
  const chosen = counted.filter((term, index) => {
    rows += term.rows;
    return index === 0 || rows <= MOST_SCORED;
  });
  const [rarest] = chosen;
  if (!rarest) return { match: null, from: 0 };
  const match = chosen.map(({ column, term }) => `${column} : "${term}"`).join(" OR ");
  return { match, from: rarest.rows > MOST_SCORED ? newestShare(sql, MOST_SCORED / rarest.rows) : 0 };
}

/** How many passages have it, in either column. */
function countTerms(sql: Sql, column: CountedTerm["column"], terms: readonly string[]): CountedTerm[] {
  return terms.flatMap((term) => {
    const rows = sql.all<{ doc: number }>("SELECT doc FROM recall_terms WHERE term = ?", term)[0]?.doc ?? 0;
    return rows > 0 ? [{ column, term, rows }] : [];
  });
}

const newestShare = (sql: Sql, share: number): number => rowOf(Math.floor(readWatermark(sql) * (1 - share)), 0);
