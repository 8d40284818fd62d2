/** The migration that adds the key and the end user to the sums of erased sessions. Like every migration it never changes after its release. */
export const USAGE_OWNER_TABLES: readonly string[] = [
  // key_id, end_user: for whom the calls are counted; empty, where none is known. SQLite cannot change a primary key.
  `CREATE TABLE erased_usage_by_owner (
     session TEXT NOT NULL,
     at INTEGER NOT NULL,
     model TEXT NOT NULL,
     purpose TEXT NOT NULL,
     key_id TEXT NOT NULL DEFAULT '',
     end_user TEXT NOT NULL DEFAULT '',
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
     PRIMARY KEY (session, at, model, purpose, key_id, end_user)
   ) STRICT, WITHOUT ROWID`,
  `INSERT INTO erased_usage_by_owner
     (session, at, model, purpose, calls, failed, input, uncached, cached, cache_write, output, reasoning, cost, unpriced)
   SELECT session, at, model, purpose, calls, failed, input, uncached, cached, cache_write, output, reasoning, cost, unpriced
   FROM erased_usage`,
  "DROP TABLE erased_usage",
  "ALTER TABLE erased_usage_by_owner RENAME TO erased_usage",
  "CREATE INDEX erased_usage_of_user ON erased_usage (end_user)",
];
