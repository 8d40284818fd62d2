/**
 * The tables of the full-text index (`session/recall/recall-index`), and the index from an execution to its items. The
 * full-text table is contentless: no text is stored twice. A term holds no ASCII punctuation, so the `ascii` tokenizer
 * keeps each term whole, including the marks of every script.
 */
import { MOST_PASSAGES } from "../../context/recall/passages";
import { EMPTY_FILLER, fillFreed } from "../../lib/scrub/filler";
import type { Sql } from "./sql";

const INDEX = `
  CREATE VIRTUAL TABLE recall USING fts5 (exact, stems, content = '', contentless_delete = 1, tokenize = 'ascii');
  CREATE VIRTUAL TABLE recall_terms USING fts5vocab (recall, 'row');
`;

export const RECALL_TABLES = `
  ${INDEX}
  CREATE INDEX items_by_execution ON items (json_extract(meta, '$.tool.execution'))
    WHERE json_extract(meta, '$.tool.execution') IS NOT NULL;
`;

/** The index's row id of a passage. */
export const toRowId = (position: number, passage: number): number => position * MOST_PASSAGES + passage;

/** The key of the index's watermark: the position up to which it is complete, as JSON (`session/recall/recall-index`). */
export const WATERMARK = "recall_index";

/** Call it in a transaction that deletes, before it does. Returns the space that is in use then. */
export function beginDeletion(sql: Pick<Sql, "script" | "usedBytes">): number {
  sql.script(EMPTY_FILLER.join(";"));
  return sql.usedBytes();
}

/**
 * Empties the index. A deleted row of a contentless table is only marked: its terms stay until segments are merged,
 * which is work for the whole index at once. The next look-up builds the index again from the record, page by page. `used`: the space that was
 * in use when the deletion began (`beginDeletion`). Filler takes all pages that were freed since, so that those of earlier deletions are again
 * the first that a scrub takes.
 */
export function remakeIndex(sql: Pick<Sql, "all" | "script" | "usedBytes">, used: number): void {
  sql.script("DROP TABLE recall_terms; DROP TABLE recall");
  sql.script(`${fillFreed(used - sql.usedBytes())}; ${INDEX}`);
  sql.all("DELETE FROM meta WHERE key = ?", WATERMARK);
}
