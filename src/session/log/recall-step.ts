/**
 * The tables of the full-text index (`session/recall/recall-index`), and the way from an execution to its items. Contentless: no text is
 * stored a second time. A term has no sign of ASCII in it, so that this tokenizer takes each as it is, marks of every script included.
 */
export const RECALL_STEP = `
  CREATE VIRTUAL TABLE recall USING fts5 (exact, stems, content = '', contentless_delete = 1, tokenize = 'ascii');
  CREATE VIRTUAL TABLE recall_terms USING fts5vocab (recall, 'row');
  CREATE INDEX items_by_execution ON items (json_extract(meta, '$.tool.execution'))
    WHERE json_extract(meta, '$.tool.execution') IS NOT NULL;
`;
