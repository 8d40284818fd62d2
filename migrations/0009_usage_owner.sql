-- For which API key and which end user a model call is counted. Calls from before this migration have neither.

ALTER TABLE usage ADD COLUMN key_id TEXT DEFAULT NULL;
ALTER TABLE usage ADD COLUMN end_user TEXT DEFAULT NULL;
CREATE INDEX usage_of_user ON usage (tenant_id, end_user, at) WHERE end_user IS NOT NULL;

-- SQLite cannot change a primary key, so the sums of erased sessions move to a new table. Empty: no key or no end user is known.
CREATE TABLE erased_usage_by_owner (
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

INSERT INTO erased_usage_by_owner (
  tenant_id, session_id, at, model, purpose,
  calls, failed, input, uncached, cached, cache_write, output, reasoning, cost, unpriced
)
SELECT
  tenant_id, session_id, at, model, purpose,
  calls, failed, input, uncached, cached, cache_write, output, reasoning, cost, unpriced
FROM erased_usage;

DROP TABLE erased_usage;
ALTER TABLE erased_usage_by_owner RENAME TO erased_usage;
CREATE INDEX erased_usage_by_time ON erased_usage (tenant_id, at);
CREATE INDEX erased_usage_of_user ON erased_usage (tenant_id, end_user, at);
-- How often names were forgotten in the session's sums: a late write from before must not bring one back.
CREATE INDEX erased_usage_revised ON erased_usage (tenant_id, session_id, revision) WHERE revision > 0;
