-- The read model of tenants and sessions, as it was before sessions were compacted. Everything here can be dropped and rebuilt from the objects.
-- Every key starts with the tenant. Tables are WITHOUT ROWID: a row is billed once, not once more for its key.
-- No BEGIN or COMMIT in migrations: they pass locally and fail on the real database.

CREATE TABLE tenants (
  tenant_id TEXT NOT NULL,
  name TEXT NOT NULL,
  default_model TEXT NOT NULL,
  default_policy TEXT NOT NULL,
  PRIMARY KEY (tenant_id)
) WITHOUT ROWID;

-- tenant_id '' holds the presets that every deployment knows. Null: unknown, or for `ratio` 1.
-- capabilities, quirks: JSON. Prices: US dollars per million tokens, as the tenant or the deployment named them; what a package of
-- prices says changes with the day and is looked up when it is needed. credential: a name, never what it stands for.
CREATE TABLE models (
  tenant_id TEXT NOT NULL,
  provider_id TEXT NOT NULL,
  id TEXT NOT NULL,
  display_name TEXT,
  is_default INTEGER NOT NULL DEFAULT 0,
  source TEXT NOT NULL,
  upstream_id TEXT NOT NULL,
  base_url TEXT,
  max_output INTEGER,
  capabilities TEXT,
  ratio REAL,
  price_input REAL,
  price_output REAL,
  price_cached REAL,
  price_cache_write REAL,
  credential TEXT,
  endpoint TEXT,
  quirks TEXT,
  PRIMARY KEY (tenant_id, provider_id, id)
) WITHOUT ROWID;

-- external_id, end_user, metadata: how clients find their sessions again. metadata: a JSON object of strings.
-- archived_at: null, if the session is not archived.
CREATE TABLE sessions (
  tenant_id TEXT NOT NULL,
  id TEXT NOT NULL,
  title TEXT,
  model TEXT NOT NULL,
  policy TEXT NOT NULL,
  message_count INTEGER NOT NULL DEFAULT 0,
  last_message_preview TEXT,
  overlay_count INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  external_id TEXT,
  end_user TEXT,
  metadata TEXT NOT NULL DEFAULT '{}',
  archived_at INTEGER,
  PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;

-- Each order of the list has an index, for all sessions and for those of one person. The session's id ends each of them.
CREATE INDEX sessions_by_update ON sessions (tenant_id, updated_at);
CREATE INDEX sessions_by_creation ON sessions (tenant_id, created_at);
CREATE INDEX sessions_by_external_id ON sessions (tenant_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX sessions_of_user_by_update ON sessions (tenant_id, end_user, updated_at) WHERE end_user IS NOT NULL;
CREATE INDEX sessions_of_user_by_creation ON sessions (tenant_id, end_user, created_at) WHERE end_user IS NOT NULL;
-- Most lists leave archived sessions out, and must not read past them.
CREATE INDEX sessions_active_by_update ON sessions (tenant_id, updated_at) WHERE archived_at IS NULL;
CREATE INDEX sessions_active_by_creation ON sessions (tenant_id, created_at) WHERE archived_at IS NULL;
CREATE INDEX sessions_archived_by_update ON sessions (tenant_id, updated_at) WHERE archived_at IS NOT NULL;
CREATE INDEX sessions_archived_by_creation ON sessions (tenant_id, created_at) WHERE archived_at IS NOT NULL;

-- One row an entry of metadata, for filters. number: the entry's place in the object.
CREATE TABLE session_metadata (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  last_seq INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, session_id, number)
) WITHOUT ROWID;

CREATE INDEX session_metadata_by_value ON session_metadata (tenant_id, name, value);

-- content: the parts as JSON. content_state: 'full', 'cut' to fit a row, 'redacted', or 'missing'.
CREATE TABLE messages (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  content_state TEXT NOT NULL,
  preview TEXT,
  turn_id TEXT,
  execution_id TEXT,
  incomplete INTEGER NOT NULL DEFAULT 0,
  superseded INTEGER NOT NULL DEFAULT 0,
  tokens INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, session_id, position)
) WITHOUT ROWID;

-- Each call as an execution (OdinCode's plan, with its column names), and what came beside its output. A row follows its call from the
-- moment it is recorded. What a text is, whole or not: arguments_state and content_state, as content_state of messages. The output is
-- the message at result_position.
CREATE TABLE executions (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  id TEXT NOT NULL,
  turn_id TEXT,
  position INTEGER NOT NULL,
  result_position INTEGER,
  tool_name TEXT NOT NULL,
  call_id TEXT NOT NULL,
  runs TEXT NOT NULL,
  status TEXT NOT NULL,
  success INTEGER,
  exit_code INTEGER,
  duration_ms INTEGER,
  failure TEXT,
  error_message TEXT,
  arguments_json TEXT NOT NULL,
  arguments_state TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  last_seq INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, session_id, id)
) WITHOUT ROWID;

-- UNIQUE, or SQLite would not know that it finds one row, and read all calls of the tenant instead.
CREATE UNIQUE INDEX executions_by_id ON executions (tenant_id, id);

-- A turn that ends cancels what it left open: found without reading the session's whole history.
CREATE INDEX executions_open ON executions (tenant_id, session_id, turn_id) WHERE finished_at IS NULL;

-- id: the execution's, a slash and the number in two digits.
CREATE TABLE execution_artifacts (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  id TEXT NOT NULL,
  execution_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  artifact_type TEXT NOT NULL,
  content_json TEXT NOT NULL,
  content_state TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, session_id, id)
) WITHOUT ROWID;

-- What stands in for positions that left the model's view; active: it does so now.
CREATE TABLE overlays (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  position_from INTEGER NOT NULL,
  position_to INTEGER NOT NULL,
  items INTEGER NOT NULL,
  content TEXT,
  boundary_timestamp INTEGER,
  active INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, session_id, id)
) WITHOUT ROWID;

-- id: the compaction's, or 'epoch_<n>' of a change that no request came before. ops, receipt: JSON.
CREATE TABLE compactions (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  id TEXT NOT NULL,
  trigger TEXT NOT NULL,
  status TEXT NOT NULL,
  did_compact INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  failure TEXT,
  epoch INTEGER,
  ops TEXT NOT NULL DEFAULT '[]',
  receipt TEXT,
  summary TEXT,
  requested_at INTEGER NOT NULL,
  finished_at INTEGER,
  last_seq INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, session_id, id)
) WITHOUT ROWID;

-- One row a model call. The token columns are null when the provider reported no usage.
-- cache_write: tokens that were written to the provider's cache. cost: US dollars, by the prices of the moment; null: unknown, which is
-- never free. key_id, end_user: for whom the call is counted.
CREATE TABLE usage (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  turn_id TEXT,
  purpose TEXT NOT NULL,
  model TEXT NOT NULL,
  input INTEGER,
  output INTEGER,
  cached INTEGER,
  reasoning INTEGER,
  estimate INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  ms INTEGER NOT NULL,
  at INTEGER NOT NULL,
  cache_write INTEGER,
  cost REAL,
  key_id TEXT,
  end_user TEXT,
  PRIMARY KEY (tenant_id, session_id, seq)
) WITHOUT ROWID;

-- What GET /v1/usage reads: the calls of a tenant in a range of time. One more row written for each call.
CREATE INDEX usage_by_time ON usage (tenant_id, at);
CREATE INDEX usage_of_user ON usage (tenant_id, end_user, at) WHERE end_user IS NOT NULL;

-- What the calls of erased sessions come to: sums for a quarter of an hour, a model, a purpose, a key and an end user, without text. The
-- tenant's object owns them. at: epoch milliseconds at which the quarter begins. cost: US dollars of the calls whose cost is known.
-- key_id, end_user: empty, if none is known. revision: how often names were forgotten in the session's sums.
CREATE TABLE erased_usage (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  model TEXT NOT NULL,
  purpose TEXT NOT NULL,
  calls INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  input INTEGER NOT NULL,
  uncached INTEGER NOT NULL,
  cached INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  output INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  cost REAL NOT NULL,
  unpriced INTEGER NOT NULL,
  key_id TEXT NOT NULL DEFAULT '',
  end_user TEXT NOT NULL DEFAULT '',
  revision INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, session_id, at, model, purpose, key_id, end_user)
) WITHOUT ROWID;

CREATE INDEX erased_usage_by_time ON erased_usage (tenant_id, at);
CREATE INDEX erased_usage_of_user ON erased_usage (tenant_id, end_user, at);
-- A late write from before a name was forgotten must not bring it back.
CREATE INDEX erased_usage_revised ON erased_usage (tenant_id, session_id, revision) WHERE revision > 0;

-- From when on a tenant's usage is complete. Older rows were removed by its retention, and no writer brings one back.
CREATE TABLE usage_bounds (
  tenant_id TEXT NOT NULL PRIMARY KEY,
  complete_from INTEGER NOT NULL
) WITHOUT ROWID;

-- Full-text search over the titles and messages of a tenant's sessions.
-- terms: the distinct terms of a message, or of the title at position 0, separated by spaces. A message that has none has no row.
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

-- An erased session: refuses every late writer.
CREATE TABLE session_tombstones (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  erased_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, session_id)
) WITHOUT ROWID;

-- The pre-seeded models of RFC-011 and FEAT-011. Their context windows come with the columns of compaction.
INSERT INTO models (tenant_id, provider_id, id, source, upstream_id) VALUES
  ('', 'openai', 'gpt-4o', 'preset', 'gpt-4o'),
  ('', 'openai', 'gpt-4o-mini', 'preset', 'gpt-4o-mini'),
  ('', 'openai', 'gpt-4-turbo', 'preset', 'gpt-4-turbo'),
  ('', 'openai', 'o1', 'preset', 'o1'),
  ('', 'openai', 'o3-mini', 'preset', 'o3-mini'),
  ('', 'anthropic', 'claude-opus-4-5-20251101', 'preset', 'claude-opus-4-5-20251101'),
  ('', 'anthropic', 'claude-sonnet-4-5-20250929', 'preset', 'claude-sonnet-4-5-20250929'),
  ('', 'anthropic', 'claude-haiku-4-5-20251001', 'preset', 'claude-haiku-4-5-20251001'),
  ('', 'anthropic', 'claude-sonnet-4-20250514', 'preset', 'claude-sonnet-4-20250514'),
  ('', 'anthropic', 'claude-opus-4-20250514', 'preset', 'claude-opus-4-20250514'),
  ('', 'anthropic', 'claude-haiku-3-5-20241022', 'preset', 'claude-haiku-3-5-20241022'),
  ('', 'gemini', 'gemini-2.0-flash', 'preset', 'gemini-2.0-flash'),
  ('', 'gemini', 'gemini-2.5-pro', 'preset', 'gemini-2.5-pro'),
  ('', 'gemini', 'gemini-2.5-pro-preview-05-06', 'preset', 'gemini-2.5-pro-preview-05-06');
