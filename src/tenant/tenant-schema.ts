/**
 * The tables of a tenant's object and their migrations. A migration is one list of statements, never changed once
 * it was released; it only adds, so that an older build can still read what a newer one left.
 */
import type { TenantSql } from "./tenant-sql";

const migrations: readonly (readonly string[])[] = [
  [
    `CREATE TABLE tenant (
       one INTEGER PRIMARY KEY CHECK (one = 1),
       id TEXT NOT NULL,
       name TEXT NOT NULL,
       default_model TEXT NOT NULL,
       default_policy TEXT NOT NULL,
       created_at INTEGER NOT NULL
     ) STRICT`,
    // hash: the keyed hash of the whole key. scopes: separated by spaces.
    `CREATE TABLE keys (
       id TEXT PRIMARY KEY,
       hash TEXT NOT NULL UNIQUE,
       name TEXT NOT NULL,
       scopes TEXT NOT NULL,
       created_at INTEGER NOT NULL,
       expires_at INTEGER,
       revoked_at INTEGER
     ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE models (
       id TEXT PRIMARY KEY,
       provider TEXT NOT NULL CHECK (provider IN ('embedded', 'openai-compatible')),
       upstream_id TEXT NOT NULL,
       base_url TEXT,
       context_window INTEGER,
       max_output INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID`,
    "CREATE TABLE sessions (id TEXT PRIMARY KEY, created_at INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    // session: the id of what the request made, which was a session when the column got its name.
    `CREATE TABLE idempotency (
       key TEXT PRIMARY KEY,
       digest TEXT NOT NULL,
       session TEXT NOT NULL,
       expires_at INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID`,
    "CREATE INDEX idempotency_by_expiry ON idempotency (expires_at)",
    // The read model lags while revision > projected. deployment: the deployment's models as last projected.
    `CREATE TABLE projection (
       one INTEGER PRIMARY KEY CHECK (one = 1),
       revision INTEGER NOT NULL,
       projected INTEGER NOT NULL,
       attempts INTEGER NOT NULL,
       deployment TEXT NOT NULL
     ) STRICT`,
    "INSERT INTO projection (one, revision, projected, attempts, deployment) VALUES (1, 0, 0, 0, '')",
  ],
];

/** Asks without creating anything: an object that anyone can address by a made-up name must stay empty. */
export function isCreated(sql: TenantSql): boolean {
  return sql.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'").length > 0;
}

/** Brings the tables to this build's version. Call it inside a transaction. */
export function migrate(sql: TenantSql): void {
  sql.rows("CREATE TABLE IF NOT EXISTS schema_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL) STRICT");
  sql.rows("INSERT INTO schema_version (one, version) VALUES (1, 0) ON CONFLICT (one) DO NOTHING");
  const version = sql.rows<{ version: number }>("SELECT version FROM schema_version")[0]?.version ?? 0;
  if (version >= migrations.length) return;
  for (const statement of migrations.slice(version).flat()) sql.rows(statement);
  sql.rows("UPDATE schema_version SET version = ?", migrations.length);
}
