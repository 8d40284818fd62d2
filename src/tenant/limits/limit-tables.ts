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
