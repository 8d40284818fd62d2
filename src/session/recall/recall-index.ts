/**
 * The full-text index of a session, in its object: terms alone (`context/recall/terms`), no text a second time. A
 * watermark says how far it follows the record. It grows by one page a transaction, and can be rebuilt from the record
 * at any time.
 */
import { MOST_PASSAGES, toPassages, toRecallText } from "../../context/recall/passages";
import type { RecallQuery } from "../../context/recall/query";
import type { PassageCandidate } from "../../context/recall/rank";
import { chooseRarest } from "../../context/recall/rarest-terms";
import type { PositionRange } from "../../context/recall/request";
import { toTerms } from "../../context/recall/terms";
import { RECALL_TOOL } from "../../context/recall-tool";
import type { ViewEntry } from "../../context/view";
import { type ItemMeta, toTimeSaid } from "../../domain/message";
import { readMeta, writeMeta } from "../log/log-schema";
import { toRowId, WATERMARK } from "../log/recall-tables";
import type { Sql } from "../log/sql";

/** Raise it with every change of what a term is: each session then rebuilds its index. */
const TERMS_VERSION = 1;
/** The limit of one transaction: items, and UTF-16 units of text. A message is never divided. */
const PAGE = { items: 256, units: 200_000 } as const;
/**
 * The bm25 weights of the columns `exact` and `stems`. Another form of a word matches by its stem alone. The word
 * itself matches both columns, and scores a little more.
 */
const BM25 = "bm25(recall, 0.4, 1.0)";
const searchIn = (rows: string): string => `SELECT rowid AS row, -${BM25} AS score FROM recall
  WHERE recall MATCH ? AND (${rows}) ORDER BY score DESC, rowid DESC LIMIT ?`;
/** Takes the newest rows without scoring: for words that are everywhere no row is better than another. */
const newestIn = (rows: string): string =>
  `SELECT rowid AS row, 1.0 AS score FROM recall WHERE recall MATCH ? AND (${rows}) ORDER BY rowid DESC LIMIT ?`;
/** The most ranges in one query; each takes two of its 100 parameters. Where there are more, the oldest are joined into one. */
const MOST_RANGES = 40;
/** The most rows that one search scores. */
const MOST_SCORED = 4_000;
const MOST_CANDIDATES = 300;

interface Watermark {
  readonly version: number;
  /** Everything up to this position that belongs in the index is in it. */
  readonly to: number;
}

export function readWatermark(sql: Sql): number {
  const text = readMeta(sql, WATERMARK);
  const known = text === null ? null : (JSON.parse(text) as Watermark);
  return known?.version === TERMS_VERSION ? known.to : 0;
}

const writeWatermark = (sql: Sql, to: number): void =>
  writeMeta(sql, WATERMARK, JSON.stringify({ version: TERMS_VERSION, to } satisfies Watermark));

/** True for a look-up's call and result. A search must find neither its earlier answers nor their questions. */
export const isLookUp = ({ tool }: Pick<ItemMeta, "tool">): boolean => tool?.name === RECALL_TOOL.name;

interface IndexSource {
  /** Items of all branches. */
  readRecord(range: { readonly from: number; readonly to: number }): Iterable<ViewEntry>;
}

/** Indexes one more page in its own transaction, up to position `to`. Returns whether more is left. */
export function indexPage(sql: Sql, to: number, source: IndexSource): boolean {
  return sql.transaction(() => {
    const from = readWatermark(sql) + 1;
    if (from > to) return false;
    if (from === 1) sql.all("INSERT INTO recall (recall) VALUES ('delete-all')");
    let [last, items, units] = [to, 0, 0];
    for (const entry of source.readRecord({ from, to })) {
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
    const { exact, stems } = toTerms(passage.text, toTimeSaid(meta));
    sql.all("INSERT INTO recall (rowid, exact, stems) VALUES (?, ?, ?)", toRowId(meta.position, index), exact.join(" "), stems.join(" "));
  }
  return text.length;
}

const EVERYWHERE: readonly PositionRange[] = [{ from: 0, to: Number.MAX_SAFE_INTEGER / MOST_PASSAGES - 1 }];

/** Passages at these positions that have any of the terms, best first. */
export function findCandidates(sql: Sql, query: RecallQuery, ranges: readonly PositionRange[] = EVERYWHERE): PassageCandidate[] {
  const chosen = chooseTerms(sql, query);
  if (!chosen || ranges.length === 0) return [];
  const named = joinOldest(ranges);
  const rows = named.map(() => "rowid BETWEEN ? AND ?").join(" OR ");
  const bounds = named.flatMap(({ from, to }) => [toRowId(from, 0), toRowId(Math.floor(to) + 1, 0) - 1]);
  const statement = chosen.isEverywhere ? newestIn(rows) : searchIn(rows);
  return sql.all<{ row: number; score: number }>(statement, chosen.match, ...bounds, MOST_CANDIDATES).map(({ row, score }) => ({
    position: Math.floor(row / MOST_PASSAGES),
    passage: row % MOST_PASSAGES,
    score: Math.max(score, Number.EPSILON),
  }));
}

/** Joins the oldest ranges into one. The positions between them are filtered out after the query. */
function joinOldest(ranges: readonly PositionRange[]): readonly PositionRange[] {
  if (ranges.length <= MOST_RANGES) return ranges;
  const newest = ranges.slice(1 - MOST_RANGES);
  return [{ from: ranges[0]?.from ?? 0, to: ranges[ranges.length - MOST_RANGES]?.to ?? 0 }, ...newest];
}

/** Null when no term is known. */
function chooseTerms(sql: Sql, { exact, stems }: RecallQuery): { readonly match: string; readonly isEverywhere: boolean } | null {
  const termRows = countRows(sql, [...stems, ...exact]);
  const asked = [...stems.map((term) => ({ column: "stems", term })), ...exact.map((term) => ({ column: "exact", term }))];
  const counted = asked.map((each) => ({ ...each, rows: termRows.get(each.term) ?? 0 }));
  const chosen = chooseRarest(counted, MOST_SCORED);
  if (!chosen) return null;
  return { match: chosen.terms.map(({ column, term }) => `${column} : "${term}"`).join(" OR "), isEverywhere: chosen.isEverywhere };
}

/** The number of passages that have each term, in either column. */
function countRows(sql: Sql, terms: readonly string[]): ReadonlyMap<string, number> {
  const count = (term: string): number => sql.all<{ doc: number }>("SELECT doc FROM recall_terms WHERE term = ?", term)[0]?.doc ?? 0;
  return new Map([...new Set(terms)].map((term) => [term, count(term)]));
}
