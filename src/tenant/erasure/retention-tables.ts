/** The tables of retention, as one migration. It never changes after its release. */
export const RETENTION_TABLES: readonly string[] = [
  // setting: as JSON. starts_at: nothing is removed before.
  "CREATE TABLE retention (one INTEGER PRIMARY KEY CHECK (one = 1), setting TEXT NOT NULL, starts_at INTEGER NOT NULL) STRICT",
  // When the session has to be looked at. Null: when it is old enough for the setting's shortest rule.
  "ALTER TABLE sessions ADD COLUMN retain_at INTEGER",
  "CREATE INDEX sessions_by_retention ON sessions (retain_at, created_at)",
  "ALTER TABLE erasure_receipts ADD COLUMN cause TEXT NOT NULL DEFAULT 'request'",
];
