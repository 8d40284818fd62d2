/**
 * The tables of the deployment's object and their migrations. A migration is a list of statements that never changes after its release. It
 * adds columns and loosens constraints, so that an older build can still read the data of a newer one.
 */
import { AUDIT_NONCES, AUDIT_TABLES } from "../audit/audit-tables";
import type { SyncSql } from "../lib/sync-sql";

const migrations: readonly (readonly string[])[] = [
  [
    // A page of the list is one range of the table itself. folded: the name as parts of it are compared.
    `CREATE TABLE tenants (
       created_at INTEGER NOT NULL,
       id TEXT NOT NULL UNIQUE,
       name TEXT NOT NULL,
       folded TEXT NOT NULL,
       PRIMARY KEY (created_at, id)
     ) STRICT, WITHOUT ROWID`,
  ],
  [
    // hash: the keyed hash of the whole key. created_by, revoked_by: null for ADMIN_KEY. request, request_digest: of the request that made
    // the key, if it had an idempotency key.
    `CREATE TABLE admin_keys (
       id TEXT PRIMARY KEY,
       hash TEXT NOT NULL UNIQUE,
       name TEXT NOT NULL,
       role TEXT NOT NULL,
       created_at INTEGER NOT NULL,
       expires_at INTEGER,
       revoked_at INTEGER,
       created_by TEXT,
       revoked_by TEXT,
       rotated_from TEXT,
       rotated_to TEXT,
       last_used_at INTEGER,
       request TEXT,
       request_digest TEXT
     ) STRICT, WITHOUT ROWID`,
  ],
  [
    // limits, budgets: JSON. version: of the newest change, counted over all plans and assignments together (revisions).
    `CREATE TABLE plans (
       name TEXT PRIMARY KEY,
       limits TEXT NOT NULL,
       budgets TEXT NOT NULL,
       version INTEGER NOT NULL,
       created_at INTEGER NOT NULL,
       updated_at INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID`,
    "CREATE TABLE revisions (one INTEGER PRIMARY KEY CHECK (one = 1), newest INTEGER NOT NULL) STRICT",
    "INSERT INTO revisions (one, newest) VALUES (1, 0)",
  ],
  // Null: the tenant was not deleted.
  ["ALTER TABLE tenants ADD COLUMN deleted_at INTEGER"],
  // A copy of what each tenant's own object says.
  [
    "ALTER TABLE tenants ADD COLUMN status TEXT NOT NULL DEFAULT 'active'",
    "UPDATE tenants SET status = 'deleted' WHERE deleted_at IS NOT NULL",
  ],
  [
    // limits: JSON, the tenant's own. pushes: the tenants that have not confirmed what they may use.
    "CREATE TABLE assignments (tenant TEXT PRIMARY KEY, plan TEXT, limits TEXT NOT NULL, revision INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE INDEX assignments_by_plan ON assignments (plan) WHERE plan IS NOT NULL",
    "CREATE TABLE pushes (tenant TEXT PRIMARY KEY, due_at INTEGER NOT NULL, attempts INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE INDEX pushes_by_due ON pushes (due_at)",
  ],
  // A copy of what each tenant's own object says. Before it there was one database.
  ["ALTER TABLE tenants ADD COLUMN placed_in TEXT NOT NULL DEFAULT 'DB'"],
  [
    ...AUDIT_TABLES,
    ...AUDIT_NONCES,
    // id: to which the chain of the audit log belongs, so that the log of one deployment is not taken for that of another.
    "CREATE TABLE deployment (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL) STRICT",
    "INSERT INTO deployment (one, id) VALUES (1, 'deployment_' || lower(hex(randomblob(16))))",
    // act: JSON, who made the newest change, for the tenants' audit logs. Null: a build that did not keep it.
    "ALTER TABLE plans ADD COLUMN act TEXT",
    "ALTER TABLE assignments ADD COLUMN act TEXT",
  ],
];

/** Migrates the tables to this build's version. Call it inside a transaction. */
export function migrateDeployment(sql: SyncSql): void {
  sql.rows("CREATE TABLE IF NOT EXISTS schema_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL) STRICT");
  sql.rows("INSERT INTO schema_version (one, version) VALUES (1, 0) ON CONFLICT (one) DO NOTHING");
  const version = sql.rows<{ version: number }>("SELECT version FROM schema_version")[0]?.version ?? 0;
  if (version >= migrations.length) return;
  for (const statement of migrations.slice(version).flat()) sql.rows(statement);
  sql.rows("UPDATE schema_version SET version = ?", migrations.length);
}
