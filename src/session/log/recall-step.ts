/**
 * The tables of the full-text index (`session/recall/recall-index`), and the way from an execution to its items. Contentless: no text is
 * stored a second time. A term has no sign of ASCII in it, so that this tokenizer takes each as it is, marks of every script included.
 */
import { MOST_PASSAGES } from "../../context/recall/passages";
import type { Sql } from "./sql";

export const RECALL_STEP = `
  CREATE VIRTUAL TABLE recall USING fts5 (exact, stems, content = '', contentless_delete = 1, tokenize = 'ascii');
  CREATE VIRTUAL TABLE recall_terms USING fts5vocab (recall, 'row');
  CREATE INDEX items_by_execution ON items (json_extract(meta, '$.tool.execution'))
    WHERE json_extract(meta, '$.tool.execution') IS NOT NULL;
`;

/** The index's row of a passage. */
export const rowOf = (position: number, passage: number): number => position * MOST_PASSAGES + passage;

/** What is known of one message's words goes: it was redacted. */
export function dropPassages(sql: Sql, position: number): void {
  sql.all("DELETE FROM recall WHERE rowid BETWEEN ? AND ?", rowOf(position, 0), rowOf(position + 1, 0) - 1);
}
