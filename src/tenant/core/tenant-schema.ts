/** The tables of a tenant's object, as steps that never change after their release. */
import { AUDIT_TABLES } from "../../audit/audit-tables";
import { applySchemaSteps, type SchemaSteps } from "../../lib/schema-steps";
import type { SyncSql } from "../../lib/sync-sql";
import { CHANNEL_TABLES } from "../channels/channel-tables";
import { SESSION_CHAT_TABLES } from "../erasure/session-chats";
import { BUDGET_TABLES } from "../limits/budget-tables";
import { LIMIT_SHARES, LIMIT_TABLES } from "../limits/limit-tables";
import { PLACEMENT_TABLES } from "../shared/placement-store";
import { EXPORT_TABLES, IMPORT_TABLES } from "../transfer/export-tables";
import { ERASED_USAGE_TABLES, UNSENT_SINCE } from "../usage/erased-usage-tables";
import { USAGE_BOUND_TABLES, USAGE_CLEARED } from "../usage/usage-bound";
import { WEBHOOK_LOG_INDEX, WEBHOOK_TABLES } from "../webhooks/webhook-tables";
import { ADMIN_ACT_TABLES } from "./admin-acts";
import {
  ERASURE_INDEXES,
  ERASURE_TABLES,
  FILE_HOLDS,
  FILE_TABLES,
  KEY_CLIENTS,
  SESSION_COUNT,
  SETTING_TABLES,
  TENANT_TABLES,
} from "./tenant-tables";

const STEPS: SchemaSteps = [
  [
    ...TENANT_TABLES,
    ...SETTING_TABLES,
    ...FILE_TABLES,
    ...ERASURE_TABLES,
    ...ERASED_USAGE_TABLES,
    ...USAGE_BOUND_TABLES,
    ...EXPORT_TABLES,
    ...IMPORT_TABLES,
    ...AUDIT_TABLES,
    ...ADMIN_ACT_TABLES,
    ...PLACEMENT_TABLES,
    ...LIMIT_TABLES,
    ...BUDGET_TABLES,
    ...WEBHOOK_TABLES,
    ...CHANNEL_TABLES,
    ...SESSION_CHAT_TABLES,
  ],
  KEY_CLIENTS,
  LIMIT_SHARES,
  [...ERASURE_INDEXES, ...WEBHOOK_LOG_INDEX, ...UNSENT_SINCE],
  [...SESSION_COUNT, ...FILE_HOLDS],
  USAGE_CLEARED,
];

/** Reads without creating anything: clients can address an object by a made-up name, and that object must stay empty. */
export function isCreated(sql: SyncSql): boolean {
  return sql.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'").length > 0;
}

/** Brings the tables to this build's version. Call it inside a transaction. */
export const migrateTenant = (sql: SyncSql): void => applySchemaSteps(sql, STEPS);
