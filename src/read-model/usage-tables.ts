/**
 * The tables of model calls: those of the sessions' logs, the sums of erased sessions, the bound from which they are complete, and the stored
 * sums of finished days.
 */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The sums of a group of calls. Each table has columns of its own. */
const buildSums = () => ({
  calls: integer("calls").notNull(),
  failed: integer("failed").notNull(),
  input: integer("input").notNull(),
  uncached: integer("uncached").notNull(),
  cached: integer("cached").notNull(),
  cacheWrite: integer("cache_write").notNull(),
  output: integer("output").notNull(),
  reasoning: integer("reasoning").notNull(),
  cost: real("cost").notNull(),
  unpriced: integer("unpriced").notNull(),
});

/**
 * Token counts are null when the provider reported none. `cacheWrite` is null when none was reported. `cost` is in US
 * dollars; null: unknown. `keyId`, `endUser`: for whom the call is counted; null: none is known.
 */
export const usage = sqliteTable(
  "usage",
  {
    tenantId: text("tenant_id").notNull(),
    sessionId: text("session_id").notNull(),
    seq: integer("seq").notNull(),
    turnId: text("turn_id"),
    purpose: text("purpose").notNull(),
    model: text("model").notNull(),
    input: integer("input"),
    output: integer("output"),
    cached: integer("cached"),
    reasoning: integer("reasoning"),
    estimate: integer("estimate").notNull(),
    outcome: text("outcome").notNull(),
    ms: integer("ms").notNull(),
    at: integer("at").notNull(),
    cacheWrite: integer("cache_write"),
    cost: real("cost"),
    keyId: text("key_id"),
    endUser: text("end_user"),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.sessionId, table.seq] }),
    index("usage_by_time").on(table.tenantId, table.at),
    index("usage_of_user").on(table.tenantId, table.endUser, table.at).where(sql`${table.endUser} IS NOT NULL`),
  ],
);

/**
 * The usage of erased sessions, by quarter of an hour, model, purpose, key and end user. The tenant's object owns it. `cost`
 * sums up the calls whose cost is known. `keyId`, `endUser`: empty, where none is known. `revision`: how often names
 * were forgotten in the session's sums.
 */
export const erasedUsage = sqliteTable(
  "erased_usage",
  {
    tenantId: text("tenant_id").notNull(),
    sessionId: text("session_id").notNull(),
    at: integer("at").notNull(),
    model: text("model").notNull(),
    purpose: text("purpose").notNull(),
    ...buildSums(),
    keyId: text("key_id").notNull().default(""),
    endUser: text("end_user").notNull().default(""),
    revision: integer("revision").notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.sessionId, table.at, table.model, table.purpose, table.keyId, table.endUser] }),
    index("erased_usage_by_time").on(table.tenantId, table.at),
    index("erased_usage_of_user").on(table.tenantId, table.endUser, table.at),
    index("erased_usage_revised").on(table.tenantId, table.sessionId, table.revision).where(sql`${table.revision} > 0`),
  ],
);

/**
 * From when on a tenant's usage is complete. Its retention has removed older rows, and the bound only grows. Writers leave older rows out, and
 * comparisons and sums do not see them, so that they stay away at any moment of the removal. No row: nothing was removed.
 */
export const usageBounds = sqliteTable("usage_bounds", {
  tenantId: text("tenant_id").primaryKey().notNull(),
  completeFrom: integer("complete_from").notNull(),
});

/**
 * The days whose sums are stored, each up to a time: a day is complete when that is its end. A day goes with its sums by a trigger, when any of
 * its calls changes.
 */
export const usageDays = sqliteTable(
  "usage_days",
  {
    tenantId: text("tenant_id").notNull(),
    day: integer("day").notNull(),
    upTo: integer("up_to").notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.day] })],
);

/** `keyId`: empty, where none is known. `hasUser`: whether an end user is known. */
export const usageDaySums = sqliteTable(
  "usage_day_sums",
  {
    tenantId: text("tenant_id").notNull(),
    day: integer("day").notNull(),
    model: text("model").notNull(),
    purpose: text("purpose").notNull(),
    keyId: text("key_id").notNull(),
    hasUser: integer("has_user").notNull(),
    ...buildSums(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.day, table.model, table.purpose, table.keyId, table.hasUser] })],
);

/** SQL for the bound. `tenant`: SQL for the tenant's id, or for the name of its scratch rows. */
export const toUsageBound = (tenant: string): string =>
  `coalesce((SELECT complete_from FROM usage_bounds WHERE tenant_id = replace(${tenant}, 'scratch/', '')), 0)`;
