/** The tables of the deployment's object, as steps that never change after their release. */
import { AUDIT_TABLES } from "../audit/audit-tables";
import { applySchemaSteps, type SchemaSteps } from "../lib/schema-steps";
import type { SyncSql } from "../lib/sync-sql";

const STEPS: SchemaSteps = [
  [
    // A page of the list is one range of the table itself. folded: the name as parts of it are compared. deleted_at: null, if the tenant was not
    // deleted. status, placed_in: copies of what each tenant's own object says.
    `CREATE TABLE tenants (
       created_at INTEGER NOT NULL,
       id TEXT NOT NULL UNIQUE,
       name TEXT NOT NULL,
       folded TEXT NOT NULL,
       deleted_at INTEGER,
       status TEXT NOT NULL DEFAULT 'active',
       placed_in TEXT NOT NULL DEFAULT 'DB',
       PRIMARY KEY (created_at, id)
     ) STRICT, WITHOUT ROWID`,
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
    // limits, budgets: JSON. version: of the newest change, counted over all plans and assignments together (revisions). act: JSON, who made the
    // newest change, for the tenants' audit logs.
    `CREATE TABLE plans (
       name TEXT PRIMARY KEY,
       limits TEXT NOT NULL,
       budgets TEXT NOT NULL,
       version INTEGER NOT NULL,
       created_at INTEGER NOT NULL,
       updated_at INTEGER NOT NULL,
       act TEXT
     ) STRICT, WITHOUT ROWID`,
    "CREATE TABLE revisions (one INTEGER PRIMARY KEY CHECK (one = 1), newest INTEGER NOT NULL) STRICT",
    "INSERT INTO revisions (one, newest) VALUES (1, 0)",
    // limits, budgets: JSON, the tenant's own. pushes: the tenants that have not confirmed what they may use.
    `CREATE TABLE assignments (
       tenant TEXT PRIMARY KEY,
       plan TEXT,
       limits TEXT NOT NULL,
       budgets TEXT NOT NULL,
       revision INTEGER NOT NULL,
       act TEXT
     ) STRICT, WITHOUT ROWID`,
    "CREATE INDEX assignments_by_plan ON assignments (plan) WHERE plan IS NOT NULL",
    "CREATE TABLE pushes (tenant TEXT PRIMARY KEY, due_at INTEGER NOT NULL, attempts INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE INDEX pushes_by_due ON pushes (due_at)",
    ...AUDIT_TABLES,
    // id: to which the chain of the audit log belongs, so that the log of one deployment is not taken for that of another.
    "CREATE TABLE deployment (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL) STRICT",
    "INSERT INTO deployment (one, id) VALUES (1, 'deployment_' || lower(hex(randomblob(16))))",
  ],
];

/** Brings the tables to this build's version. Call it inside a transaction. */
export const migrateDeployment = (sql: SyncSql): void => applySchemaSteps(sql, STEPS);
