-- The read model of tenants and sessions, version 1. Everything here can be dropped and rebuilt from the objects.
-- Every key starts with the tenant. Tables are WITHOUT ROWID: a row is billed once, not once more for its key.
-- No BEGIN or COMMIT in migrations: they pass locally and fail on the real database.

CREATE TABLE tenants (
  tenant_id TEXT NOT NULL,
  name TEXT NOT NULL,
  default_model TEXT NOT NULL,
  default_policy TEXT NOT NULL,
  PRIMARY KEY (tenant_id)
) WITHOUT ROWID;

-- tenant_id '' holds the presets that every deployment knows.
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
  PRIMARY KEY (tenant_id, provider_id, id)
) WITHOUT ROWID;

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
  PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;

CREATE INDEX sessions_by_update ON sessions (tenant_id, updated_at);

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
  PRIMARY KEY (tenant_id, session_id, seq)
) WITHOUT ROWID;

-- An erased session: refuses every late writer.
CREATE TABLE session_tombstones (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  erased_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, session_id)
) WITHOUT ROWID;

-- The pre-seeded models of RFC-011 and FEAT-011. Version 1 knows no context windows.
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
