/** SQL that counts model calls: those of the sessions' ledgers and of erased sessions, and the stored sums of finished days. */
import { and, eq, type SQL, sql } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import type { UsageGroup, UsageInput } from "../app/read-api";
import { FINISHED_OUTCOMES } from "../domain/call-totals";
import { NO_SESSION } from "../domain/erased-usage";
import { erasedUsage, usage, usageDaySums, usageDays } from "./schema";

export const DAY_MS = 24 * 60 * 60 * 1_000;
const DAY = sql.raw(String(DAY_MS));

const FINISHED = sql.raw(FINISHED_OUTCOMES.map((outcome) => `'${outcome}'`).join(", "));

/** A call's counts, added as in `domain/call-totals`. */
const CALL = {
  calls: sql<number>`1`,
  failed: sql<number>`${usage.outcome} NOT IN (${FINISHED})`,
  input: sql<number>`${usage.input}`,
  uncached: sql<number>`max(0, ${usage.input} - ${usage.cached} - coalesce(${usage.cacheWrite}, 0))`,
  cached: sql<number>`${usage.cached}`,
  cache_write: sql<number>`${usage.cacheWrite}`,
  output: sql<number>`CASE WHEN ${usage.reasoning} <= ${usage.output} THEN ${usage.output} ELSE ${usage.output} + ${usage.reasoning} END`,
  reasoning: sql<number>`${usage.reasoning}`,
  cost: sql<number>`${usage.cost}`,
  unpriced: sql<number>`${usage.cost} IS NULL`,
};
export type Count = keyof typeof CALL;
export const COUNTS = Object.keys(CALL) as readonly Count[];

/** The counts of a table that stores sums. */
const toStored = (table: typeof erasedUsage | typeof usageDaySums): Readonly<Record<Count, SQL>> => ({
  calls: sql`${table.calls}`,
  failed: sql`${table.failed}`,
  input: sql`${table.input}`,
  uncached: sql`${table.uncached}`,
  cached: sql`${table.cached}`,
  cache_write: sql`${table.cacheWrite}`,
  output: sql`${table.output}`,
  reasoning: sql`${table.reasoning}`,
  cost: sql`${table.cost}`,
  unpriced: sql`${table.unpriced}`,
});

type Ledger = typeof usage | typeof erasedUsage;

/** `has_user` is a group of stored sums only. */
export type StoredGroup = UsageGroup | "has_user";

/** The sums of requests without a session are one group, whatever the day. */
const SESSION_IF_ANY = sql`CASE WHEN ${erasedUsage.sessionId} LIKE ${sql.raw(`'%${NO_SESSION}'`)} THEN '' ELSE ${erasedUsage.sessionId} END`;

/**
 * Days are numbers here, so that they sort and compare correctly. The plus sign keeps SQLite from finding the sessions behind a cursor by the
 * primary key: each part of a range would read all calls of those sessions.
 */
const buildKeys = (ledger: Ledger): Readonly<Record<StoredGroup, SQL>> => ({
  day: sql`${ledger.at} / ${DAY}`,
  session: ledger === erasedUsage ? SESSION_IF_ANY : sql`+${ledger.sessionId}`,
  model: sql`${ledger.model}`,
  purpose: sql`${ledger.purpose}`,
  key: sql`coalesce(${ledger.keyId}, '')`,
  end_user: sql`coalesce(${ledger.endUser}, '')`,
  has_user: sql`coalesce(${ledger.endUser}, '') <> ''`,
});

/** The groups that the stored sums of days have. */
export const DAY_GROUPS = {
  day: usageDaySums.day,
  model: usageDaySums.model,
  purpose: usageDaySums.purpose,
  key: usageDaySums.keyId,
} as const;

export type CallRange = Pick<UsageInput, "tenant" | "from" | "to">;
/** `endUser`: empty for the calls of which no end user is known. */
type Filters = Pick<UsageInput, "session" | "model" | "purpose" | "key" | "endUser">;
/** The only sessions or end users whose calls are counted. */
export interface SelectedNames {
  readonly of: "session" | "end_user";
  readonly names: readonly string[];
}
type Selected = CallRange & Filters & { readonly groupBy: readonly StoredGroup[]; readonly only?: SelectedNames };

export const joinSql = (parts: readonly SQL[]): SQL => sql.join([...parts], sql`, `);
export const listNames = (groupBy: readonly StoredGroup[]): SQL => joinSql(groupBy.map((group) => sql.raw(`by_${group}`)));
export const SUMS = joinSql(COUNTS.map((count) => sql.raw(`coalesce(sum(${count}), 0) AS ${count}`)));

const select = (keys: readonly (readonly [StoredGroup, SQL])[], counts: Readonly<Record<Count, SQL>>): SQL =>
  sql`SELECT ${joinSql([
    ...keys.map(([group, key]) => sql`${key} AS ${sql.raw(`by_${group}`)}`),
    ...COUNTS.map((name) => sql`${counts[name]} AS ${sql.raw(name)}`),
  ])}`;

/** SQLite would choose the primary key, and go through all calls of the tenant. */
const readByUser = (ledger: Ledger): SQL =>
  sql`${ledger} INDEXED BY ${sql.raw(ledger === usage ? "usage_of_user" : "erased_usage_of_user")}`;

function selectLedger(ledger: Ledger, counts: Readonly<Record<Count, SQL>>, selected: Selected): SQL {
  const keys = buildKeys(ledger);
  return sql`${select(
    selected.groupBy.map((group) => [group, keys[group]]),
    counts,
  )} FROM ${selected.only?.of === "end_user" ? readByUser(ledger) : ledger} WHERE ${isSelected(ledger, selected)}`;
}

/** A row for each call that is selected, and for each sum of an erased session's calls. */
export const selectCalls = (selected: Selected): SQL =>
  sql`${selectLedger(usage, CALL, selected)} UNION ALL ${selectLedger(erasedUsage, toStored(erasedUsage), selected)}`;

const toBound = (tenant: string): SQL => sql`coalesce((SELECT complete_from FROM usage_bounds WHERE tenant_id = ${tenant}), 0)`;

function isSelected(ledger: Ledger, { tenant, from, to, session, model, purpose, key, endUser, only }: Selected): SQL | undefined {
  // The plus sign keeps SQLite from using the index by time: a session's rows lie together by the primary key.
  const at = session === null && only?.of !== "session" ? sql`${ledger.at}` : sql`+${ledger.at}`;
  const name = only?.of === "session" ? ledger.sessionId : ledger.endUser;
  return and(
    eq(ledger.tenantId, tenant),
    sql`${at} >= max(${from}, ${toBound(tenant)})`,
    sql`${at} < ${to}`,
    session === null ? undefined : eq(ledger.sessionId, session),
    model === null ? undefined : eq(ledger.model, model),
    purpose === null ? undefined : eq(ledger.purpose, purpose),
    key === null ? undefined : eq(ledger.keyId, key),
    endUser === null ? undefined : endUser === "" ? sql`coalesce(${ledger.endUser}, '') = ''` : eq(ledger.endUser, endUser),
    only && sql`${name} IN (SELECT value FROM json_each(${JSON.stringify(only.names)}))`,
  );
}

/** The stored day may stand for its calls: it is complete, and all of it is in the range and behind the bound. */
const isWholeDay = ({ tenant, from, to }: CallRange): SQL =>
  sql`${usageDays.upTo} = (${usageDays.day} + 1) * ${DAY} AND ${usageDays.upTo} <= ${to} AND ${usageDays.day} * ${DAY} >= max(${from}, ${toBound(tenant)})`;

const isInRange = ({ tenant, from, to }: CallRange): SQL =>
  sql`${usageDays.tenantId} = ${tenant} AND ${usageDays.day} >= ${Math.floor(from / DAY_MS)} AND ${usageDays.day} < ${Math.ceil(to / DAY_MS)}`;

/** The days of a range that are stored, at least a part of each. */
export const listDays = (range: CallRange): SQL =>
  sql`SELECT ${usageDays.day}, ${usageDays.upTo}, ${isWholeDay(range)} AS is_whole FROM ${usageDays} WHERE ${isInRange(range)} ORDER BY ${usageDays.day}`;

/** The stored sums of the whole days in a range: of all calls, or of those without an end user. */
export function selectDays(range: Selected): SQL {
  const { groupBy, model, purpose, key, endUser } = range;
  const keys = groupBy.map(
    (group) => [group, group in DAY_GROUPS ? sql`${DAY_GROUPS[group as keyof typeof DAY_GROUPS]}` : sql`''`] as const,
  );
  const asked = and(
    isInRange(range),
    isWholeDay(range),
    model === null ? undefined : eq(usageDaySums.model, model),
    purpose === null ? undefined : eq(usageDaySums.purpose, purpose),
    key === null ? undefined : eq(usageDaySums.keyId, key),
    endUser === null ? undefined : eq(usageDaySums.hasUser, 0),
  );
  return sql`${select(keys, toStored(usageDaySums))} FROM ${usageDays} JOIN ${usageDaySums}
    ON ${usageDaySums.tenantId} = ${usageDays.tenantId} AND ${usageDaySums.day} = ${usageDays.day} WHERE ${asked}`;
}

const dialect = new SQLiteSyncDialect();

export function prepareSql(db: D1Database, query: SQL): D1PreparedStatement {
  const { sql: text, params } = dialect.sqlToQuery(query);
  return db.prepare(text).bind(...params);
}

/** Rows of each table that one statement sums up: some tenths of a second's work. */
export const PART_ROWS = 50_000;

/** Where the first part of a range ends. Null: the range is one part. `of`: a condition that an index has in front of the time. */
const buildPartEnd = (of: string): string =>
  `SELECT min(at) AS at FROM (${["usage", "erased_usage"]
    .map(
      (table) =>
        `SELECT (SELECT at FROM ${table} WHERE tenant_id = ?1 ${of} AND at >= ?2 AND at < ?3 ORDER BY at LIMIT 1 OFFSET ${PART_ROWS}) AS at`,
    )
    .join(" UNION ALL ")})`;
const PART_END = buildPartEnd("");
const PART_END_OF_USER = buildPartEnd("AND end_user = ?4");
const STORED = `SELECT 1 FROM usage_days WHERE tenant_id = ?1 AND day >= CAST(?2 / ${DAY_MS} AS INTEGER) AND day * ${DAY_MS} < ?3`;
const PART_END_UNLESS_STORED = `SELECT CASE WHEN EXISTS (${STORED}) THEN 0 ELSE (${PART_END}) END AS at`;

export const findPartEnd = (db: D1Database, { tenant, from, to }: CallRange, endUser: string | null): D1PreparedStatement =>
  endUser === null || endUser === ""
    ? db.prepare(PART_END).bind(tenant, from, to)
    : db.prepare(PART_END_OF_USER).bind(tenant, from, to, endUser);

/** Reads no call where a day of the range is stored, and gives 0 then. */
export const findPartEndUnlessStored = (db: D1Database, { tenant, from, to }: CallRange): D1PreparedStatement =>
  db.prepare(PART_END_UNLESS_STORED).bind(tenant, from, to);
