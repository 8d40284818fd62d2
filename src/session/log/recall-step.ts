/**
 * The tables of the full-text index (`session/recall/recall-index`), and the way from an execution to its items. Contentless: no text is
 * stored a second time. A term has no sign of ASCII in it, so that this tokenizer takes each as it is, marks of every script included.
 */
import { MOST_PASSAGES } from "../../context/recall/passages";
import type { Sql } from "./sql";

const INDEX = `
  CREATE VIRTUAL TABLE recall USING fts5 (exact, stems, content = '', contentless_delete = 1, tokenize = 'ascii');
  CREATE VIRTUAL TABLE recall_terms USING fts5vocab (recall, 'row');
`;

export const RECALL_STEP = `
  ${INDEX}
  CREATE INDEX items_by_execution ON items (json_extract(meta, '$.tool.execution'))
    WHERE json_extract(meta, '$.tool.execution') IS NOT NULL;
`;

/** Half of a row's limit, and as many as a list of free pages may have before those that were freed last. */
const ROW_BYTES = 1_000_000;
const LEAST_ROWS = 5;

/** The index's row of a passage. */
export const rowOf = (position: number, passage: number): number => position * MOST_PASSAGES + passage;

/** How far the index reaches, as JSON (`session/recall/recall-index`). */
export const WATERMARK = "recall_index";

/**
 * Empty again: a deleted row of such a table is only marked, and its terms stay where they are until segments are merged, which is work for the
 * whole index at once. The next look-up makes it anew from the record, page by page.
 */
export function remakeIndex(sql: Sql): void {
  const [held] = sql.all<{ bytes: number | null }>("SELECT sum(length(block)) AS bytes FROM recall_data");
  // Filler takes the pages that it leaves, or the new tables would begin in them, with the old terms behind their own.
  const rows = LEAST_ROWS + Math.ceil(((held?.bytes ?? 0) * 2) / ROW_BYTES);
  sql.script("CREATE TABLE IF NOT EXISTS scrub (n INTEGER PRIMARY KEY, filler BLOB NOT NULL); DROP TABLE recall_terms; DROP TABLE recall");
  for (let row = 1; row <= rows; row++) sql.all("INSERT INTO scrub (n, filler) VALUES (?, zeroblob(?))", row, ROW_BYTES);
  sql.script(`${INDEX}; DELETE FROM scrub`);
  sql.all("DELETE FROM meta WHERE key = ?", WATERMARK);
}
