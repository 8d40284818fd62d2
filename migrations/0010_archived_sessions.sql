-- When a session was archived. Null: it is not. Most lists leave archived sessions out, and must not read past them.

ALTER TABLE sessions ADD COLUMN archived_at INTEGER DEFAULT NULL;
CREATE INDEX sessions_active_by_update ON sessions (tenant_id, updated_at) WHERE archived_at IS NULL;
CREATE INDEX sessions_active_by_creation ON sessions (tenant_id, created_at) WHERE archived_at IS NULL;
CREATE INDEX sessions_archived_by_update ON sessions (tenant_id, updated_at) WHERE archived_at IS NOT NULL;
CREATE INDEX sessions_archived_by_creation ON sessions (tenant_id, created_at) WHERE archived_at IS NOT NULL;
