-- RFC-011, migration 1 to 2: the windows of the preset models, and the compact fields of a session. Rows that are there keep what they have.
-- Presets only: a tenant's own model may share a name and have another window, and its owner says which.

ALTER TABLE models ADD COLUMN context_window_size INTEGER DEFAULT NULL;

-- RFC-011, "Preset Model Context Window Sizes".
UPDATE models SET context_window_size = 128000 WHERE source = 'preset' AND id = 'gpt-4o';
UPDATE models SET context_window_size = 128000 WHERE source = 'preset' AND id = 'gpt-4o-mini';
UPDATE models SET context_window_size = 200000 WHERE source = 'preset' AND id = 'o1';
UPDATE models SET context_window_size = 200000 WHERE source = 'preset' AND id = 'o3-mini';
UPDATE models SET context_window_size = 200000 WHERE source = 'preset' AND id = 'claude-opus-4-5-20251101';
UPDATE models SET context_window_size = 200000 WHERE source = 'preset' AND id = 'claude-sonnet-4-5-20250929';
UPDATE models SET context_window_size = 200000 WHERE source = 'preset' AND id = 'claude-haiku-4-5-20251001';
UPDATE models SET context_window_size = 1048576 WHERE source = 'preset' AND id = 'gemini-2.0-flash';
UPDATE models SET context_window_size = 1048576 WHERE source = 'preset' AND id = 'gemini-2.5-pro';

-- FEAT-011, "Pre-seeded Model Context Window Sizes", those that RFC-011 does not name.
UPDATE models SET context_window_size = 128000 WHERE source = 'preset' AND id = 'gpt-4-turbo';
UPDATE models SET context_window_size = 200000 WHERE source = 'preset' AND id = 'claude-sonnet-4-20250514';
UPDATE models SET context_window_size = 200000 WHERE source = 'preset' AND id = 'claude-opus-4-20250514';
UPDATE models SET context_window_size = 200000 WHERE source = 'preset' AND id = 'claude-haiku-3-5-20241022';
UPDATE models SET context_window_size = 1048576 WHERE source = 'preset' AND id = 'gemini-2.5-pro-preview-05-06';

ALTER TABLE sessions ADD COLUMN compacted_summary TEXT DEFAULT NULL;
ALTER TABLE sessions ADD COLUMN compact_boundary_timestamp INTEGER DEFAULT NULL;
