-- What the calls of erased sessions come to: sums for a quarter of an hour, a model and a purpose, without text. The tenant's object
-- owns them. at: epoch milliseconds at which the quarter begins. cost: US dollars of the calls whose cost is known.

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
  PRIMARY KEY (tenant_id, session_id, at, model, purpose)
) WITHOUT ROWID;

CREATE INDEX erased_usage_by_time ON erased_usage (tenant_id, at);
