-- How clients find their sessions again: an id of their own, the person who talks, and metadata. metadata: a JSON object of strings.
-- Rows of sessions from before this migration get theirs with a rebuild; those sessions have metadata only.

ALTER TABLE sessions ADD COLUMN external_id TEXT DEFAULT NULL;
ALTER TABLE sessions ADD COLUMN end_user TEXT DEFAULT NULL;
ALTER TABLE sessions ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';

-- Each order of the list has an index, for all sessions and for those of one person. The session's id ends each of them.
CREATE INDEX sessions_by_creation ON sessions (tenant_id, created_at);
CREATE INDEX sessions_by_external_id ON sessions (tenant_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX sessions_of_user_by_update ON sessions (tenant_id, end_user, updated_at) WHERE end_user IS NOT NULL;
CREATE INDEX sessions_of_user_by_creation ON sessions (tenant_id, end_user, created_at) WHERE end_user IS NOT NULL;

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
