/**
 * The tables of a tenant's object and their migrations. A migration is a list of statements that never changes after
 * its release. It adds columns and loosens constraints, so that an older build can still read the data of a newer one.
 */

import { AUDIT_NONCES, AUDIT_TABLES } from "../../audit/audit-tables";
import type { SyncSql } from "../../lib/sync-sql";
import { CHANNEL_LOG_PEOPLE, CHANNEL_TABLES } from "../channels/channel-tables";
import { RETENTION_TABLES } from "../erasure/retention-tables";
import { LEFT_CHAT_TABLES, SESSION_CHAT_TABLES } from "../erasure/session-chats";
import { SCRUB_TIMES } from "../erasure/tenant-scrub";
import { BUDGET_TABLES } from "../limits/budget-tables";
import { LIMIT_TABLES } from "../limits/limit-tables";
import { PLACEMENT_TABLES } from "../shared/placement-store";
import { EXPORT_TABLES, EXPORTED_SETTINGS, IMPORT_TABLES } from "../transfer/export-tables";
import { USAGE_BOUND_TABLES } from "../usage/usage-bound";
import { USAGE_NAMES, USAGE_OWNER_TABLES } from "../usage/usage-owner-tables";
import { WEBHOOK_TABLES } from "../webhooks/webhook-tables";
import { ADMIN_ACT_TABLES } from "./admin-acts";
import { FIRST_STEPS } from "./tenant-first-steps";

const migrations: readonly (readonly string[])[] = [
  ...FIRST_STEPS,
  // When the tenant was deleted. Null: it was not.
  ["ALTER TABLE tenant ADD COLUMN deleted_at INTEGER"],
  EXPORT_TABLES,
  AUDIT_TABLES,
  // status: TENANT_STATUSES.
  [
    "ALTER TABLE tenant ADD COLUMN status TEXT NOT NULL DEFAULT 'active'",
    "ALTER TABLE tenant ADD COLUMN suspended_at INTEGER",
    "ALTER TABLE tenant ADD COLUMN suspend_reason TEXT",
  ],
  // plan: its name. budgets: JSON, those of the plan.
  ["ALTER TABLE tenant_limits ADD COLUMN plan TEXT", "ALTER TABLE tenant_limits ADD COLUMN budgets TEXT NOT NULL DEFAULT '[]'"],
  PLACEMENT_TABLES,
  RETENTION_TABLES,
  USAGE_OWNER_TABLES,
  AUDIT_NONCES,
  // restriction: JSON. Null: none.
  ["ALTER TABLE keys ADD COLUMN restriction TEXT"],
  // When what was deleted is to be overwritten in the object's files. noted: counts the deletions that it is for.
  [
    "CREATE TABLE scrub_due (one INTEGER PRIMARY KEY CHECK (one = 1), due_at INTEGER NOT NULL, noted INTEGER NOT NULL) STRICT",
    ...USAGE_NAMES,
  ],
  EXPORTED_SETTINGS,
  ADMIN_ACT_TABLES,
  USAGE_BOUND_TABLES,
  IMPORT_TABLES,
  LIMIT_TABLES,
  BUDGET_TABLES,
  WEBHOOK_TABLES,
  CHANNEL_TABLES,
  SESSION_CHAT_TABLES,
  LEFT_CHAT_TABLES,
  CHANNEL_LOG_PEOPLE,
  SCRUB_TIMES,
];

/** Reads without creating anything: clients can address an object by a made-up name, and that object must stay empty. */
export function isCreated(sql: SyncSql): boolean {
  return sql.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'").length > 0;
}

/** Migrates the tables to this build's version. Call it inside a transaction. */
export function migrateTenant(sql: SyncSql): void {
  sql.rows("CREATE TABLE IF NOT EXISTS schema_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL) STRICT");
  sql.rows("INSERT INTO schema_version (one, version) VALUES (1, 0) ON CONFLICT (one) DO NOTHING");
  const version = sql.rows<{ version: number }>("SELECT version FROM schema_version")[0]?.version ?? 0;
  if (version >= migrations.length) return;
  for (const statement of migrations.slice(version).flat()) sql.rows(statement);
  sql.rows("UPDATE schema_version SET version = ?", migrations.length);
}
