-- Full-text search over the titles and messages of a tenant's sessions.

-- terms: the distinct terms of a message, or of the title at position 0, separated by spaces. A message that has none has no row.
-- Rows of sessions from before this migration come with a rebuild.
CREATE TABLE search_rows (
  id INTEGER PRIMARY KEY NOT NULL,
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  terms TEXT NOT NULL,
  last_seq INTEGER NOT NULL
);

CREATE UNIQUE INDEX search_rows_by_place ON search_rows (tenant_id, session_id, position);

-- Each term with its tenant in front, so that a search reads no list of another tenant.
CREATE VIEW search_texts AS
  SELECT id, replace(' ' || terms, ' ', ' ' || substr(tenant_id, 5) || '·') AS terms FROM search_rows;

-- No text is stored here a second time. A term holds no ASCII punctuation, so the ascii tokenizer keeps it whole.
CREATE VIRTUAL TABLE search_index USING fts5 (terms, content = 'search_texts', content_rowid = 'id', detail = 'none', tokenize = 'ascii');

CREATE VIRTUAL TABLE search_terms USING fts5vocab (search_index, 'row');

-- A removed row leaves none of its terms in the index. Otherwise they would stay until segments are merged.
INSERT INTO search_index (search_index, rank) VALUES ('secure-delete', 1);
