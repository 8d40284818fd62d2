/** The tables of exports. */
export const EXPORT_TABLES: readonly string[] = [
  // subject: a session's id, an end user, or empty. state: running, ready, failed or removed. due_at: when there is something to do. upload: of
  // the store. cursor: where the next part begins. revision: counts how often parts were taken back. settings: the kinds that are in the export,
  // separated by spaces.
  `CREATE TABLE exports (
     id TEXT PRIMARY KEY, subject_kind TEXT NOT NULL, subject TEXT NOT NULL, state TEXT NOT NULL, created_at INTEGER NOT NULL,
     finished_at INTEGER, expires_at INTEGER NOT NULL, due_at INTEGER NOT NULL, attempts INTEGER NOT NULL,
     sessions_total INTEGER NOT NULL, upload TEXT, cursor TEXT NOT NULL, bytes INTEGER NOT NULL, revision INTEGER NOT NULL,
     settings TEXT NOT NULL DEFAULT ''
   ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX exports_by_due ON exports (due_at)",
  // cursor: where the part begins. sha256: the digest at its end.
  `CREATE TABLE export_parts (
     export TEXT NOT NULL, number INTEGER NOT NULL, etag TEXT NOT NULL, cursor TEXT NOT NULL, sha256 TEXT NOT NULL,
     bytes INTEGER NOT NULL, PRIMARY KEY (export, number)
   ) STRICT, WITHOUT ROWID`,
  // part: the one in which the session begins. seq: the session's newest event in the export.
  `CREATE TABLE export_sessions (
     export TEXT NOT NULL, session TEXT NOT NULL, part INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (export, session)
   ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX export_sessions_by_session ON export_sessions (session)",
];

/** Imports of stored exports. */
export const IMPORT_TABLES: readonly string[] = [
  // source: the tenant whose bucket has the export. act, place: JSON. allowed: kinds, separated by spaces. state: running, done or failed.
  `CREATE TABLE imports (
     id TEXT PRIMARY KEY, source TEXT NOT NULL, export TEXT NOT NULL, state TEXT NOT NULL, mode TEXT NOT NULL, allowed TEXT NOT NULL,
     act TEXT NOT NULL, created_at INTEGER NOT NULL, finished_at INTEGER, expires_at INTEGER NOT NULL, due_at INTEGER NOT NULL,
     attempts INTEGER NOT NULL, bytes INTEGER NOT NULL, sessions INTEGER, place TEXT NOT NULL, restored INTEGER NOT NULL,
     fault_line INTEGER, fault TEXT
   ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX imports_by_due ON imports (due_at)",
  // line: of the file, where what the entry is about begins. entry: JSON.
  "CREATE TABLE import_entries (import TEXT NOT NULL, line INTEGER NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (import, line)) STRICT, WITHOUT ROWID",
];
