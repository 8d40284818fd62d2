/** What the tenant may use, and what limits are counted by. */
export const LIMIT_TABLES: readonly string[] = [
  // limits, budgets: JSON, those of the plan included. plan: its name. revision: of the deployment's changes of what tenants may use.
  `CREATE TABLE tenant_limits (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     limits TEXT NOT NULL,
     revision INTEGER NOT NULL,
     plan TEXT,
     budgets TEXT NOT NULL DEFAULT '[]'
   ) STRICT`,
  // What was granted of a rate in the window that ends then.
  `CREATE TABLE rate_windows (
     subject TEXT NOT NULL,
     ends_at INTEGER NOT NULL,
     granted INTEGER NOT NULL,
     PRIMARY KEY (subject, ends_at)
   ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX rate_windows_by_end ON rate_windows (ends_at)",
  // subject: of `SlotSubject`, with a digest in place of an end user's name.
  "CREATE TABLE slot_leases (lease TEXT PRIMARY KEY, subject TEXT NOT NULL, slots INTEGER NOT NULL, ends_at INTEGER NOT NULL) STRICT, WITHOUT ROWID",
  "CREATE INDEX slot_leases_by_subject ON slot_leases (subject)",
];

export const LIMIT_SHARES: readonly string[] = [
  // Units of the window that its holders reported as used.
  "ALTER TABLE rate_windows ADD COLUMN used INTEGER NOT NULL DEFAULT 0",
  // One lease of an isolate. Those of the build before end by themselves. number: of the isolate's newest ask. spare: slots that it may have unused.
  "DROP TABLE slot_leases",
  `CREATE TABLE slot_leases (
     subject TEXT NOT NULL,
     isolate TEXT NOT NULL,
     number INTEGER NOT NULL,
     slots INTEGER NOT NULL,
     spare INTEGER NOT NULL,
     ends_at INTEGER NOT NULL,
     PRIMARY KEY (subject, isolate)
   ) STRICT, WITHOUT ROWID`,
];
