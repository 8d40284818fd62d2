/** The tables of budgets and of the tenant's events. */
export const BUDGET_TABLES: readonly string[] = [
  // counter: names budget, subject and period. amount: of the budget, when it was last seen. All amounts are in counted units. held: by all
  // sessions. crossed: the highest threshold that was announced. reached: 1 when it was announced that the budget is used up.
  `CREATE TABLE budget_counters (
     counter TEXT PRIMARY KEY,
     ends_at INTEGER NOT NULL,
     amount INTEGER NOT NULL,
     spent INTEGER NOT NULL,
     held INTEGER NOT NULL,
     holders INTEGER NOT NULL,
     crossed INTEGER NOT NULL,
     reached INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX budget_counters_by_end ON budget_counters (ends_at)",
  // What each session reported last, and what it may still spend of that.
  `CREATE TABLE budget_holders (
     counter TEXT NOT NULL,
     session TEXT NOT NULL,
     spent INTEGER NOT NULL,
     held INTEGER NOT NULL,
     PRIMARY KEY (counter, session)
   ) STRICT, WITHOUT ROWID`,
  // The newest report of each session.
  "CREATE TABLE budget_reports (session TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID",
  "CREATE INDEX budget_reports_by_seq ON budget_reports (seq)",
  "CREATE TABLE tenant_events (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL) STRICT",
];
