/** The tables of webhooks in a tenant's object. */

/**
 * `events`: JSON, null for all. `secrets`: JSON, sealed, the newest first. `quick`: 1 after an answer
 * that was 2xx and came soon. `log`:
 * JSON, the last tries. `session`: empty for events of the tenant. `n` is the order of the outbox.
 */
export const WEBHOOK_TABLES: readonly string[] = [
  `CREATE TABLE webhook_endpoints (
     id TEXT PRIMARY KEY,
     url TEXT NOT NULL,
     events TEXT,
     description TEXT,
     metadata TEXT NOT NULL,
     secrets TEXT NOT NULL,
     disabled_reason TEXT,
     disabled_at INTEGER,
     failing_since INTEGER,
     quick INTEGER NOT NULL DEFAULT 0,
     created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL
   ) STRICT`,
  `CREATE TABLE webhook_deliveries (
     n INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     endpoint TEXT NOT NULL,
     event TEXT NOT NULL,
     type TEXT NOT NULL,
     session TEXT NOT NULL,
     body TEXT NOT NULL,
     state TEXT NOT NULL,
     tries INTEGER NOT NULL,
     step INTEGER NOT NULL,
     due_at INTEGER,
     created_at INTEGER NOT NULL,
     finished_at INTEGER,
     log TEXT NOT NULL,
     UNIQUE (endpoint, event)
   ) STRICT`,
  "CREATE INDEX webhook_due ON webhook_deliveries (endpoint, due_at) WHERE state = 'pending'",
  "CREATE INDEX webhook_first ON webhook_deliveries (endpoint, session, n) WHERE state = 'pending' AND tries = 0",
  "CREATE INDEX webhook_by_session ON webhook_deliveries (session, endpoint)",
  "CREATE INDEX webhook_by_endpoint ON webhook_deliveries (endpoint, n)",
];

/** What is kept as a log is found past whatever waits. */
export const WEBHOOK_LOG_INDEX: readonly string[] = [
  "CREATE INDEX webhook_ended ON webhook_deliveries (endpoint, n) WHERE state <> 'pending'",
];
