-- Each call as an execution (OdinCode's plan, with its column names), and what came beside its output. A row follows its call from the
-- moment it is recorded; calls that were recorded before this step come with a rebuild. What a text is, whole or not: arguments_state and
-- content_state, as content_state of messages. The output is the message at result_position.

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
