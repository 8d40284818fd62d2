/**
 * Sums up the model calls of one tenant in groups, including those of erased sessions. A query over a range reads two
 * rows for each call in it (the index, then the call), whatever the page. A query for one session reads each of its
 * calls, one row each.
 */
import { and, eq, type SQL, sql } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import type { ReadError, UsageGroup, UsageInput, UsageList, UsagePage } from "../app/read-api";
import { toSums } from "../app/usage-sums";
import type { UsageRow } from "../contract/usage";
import { FINISHED_OUTCOMES, roundCost } from "../domain/call-totals";
import { NO_SESSION } from "../domain/erased-usage";
import { parseId } from "../domain/ids";
import { CALL_PURPOSES, usageSource } from "../domain/model-call";
import { err, ok, type Result } from "../lib/result";
import { databaseFor, type ReadModelEnv } from "./database-for";
import { erasedUsage, usage } from "./schema";

/** A day is a number; the other keys are strings as they are stored. */
type GroupKey = number | string;

export function toUsageCursor(keys: readonly GroupKey[]): string {
  const bytes = new TextEncoder().encode(JSON.stringify(keys));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Null when the text is no cursor of a list with these groups. */
export function parseUsageCursor(text: string, groups: readonly UsageGroup[]): readonly GroupKey[] | null {
  const keys = decode(text);
  if (!Array.isArray(keys) || keys.length !== groups.length || groups.length === 0) return null;
  const fits = groups.every((group, index) => (group === "day" ? Number.isSafeInteger(keys[index]) : typeof keys[index] === "string"));
  return fits ? keys : null;
}

function decode(text: string): unknown {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return null;
  }
}

export function createUsageList(env: ReadModelEnv): UsageList {
  return {
    sumUsage: async (input) => sumUsage(await databaseFor(env, input.tenant), input),
    countOldUsage: async (input) => countOldUsage(await databaseFor(env, input.tenant), input),
  };
}

const DAY_MS = 24 * 60 * 60 * 1_000;

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
type Count = keyof typeof CALL;

/** The counts of erased sessions, which are stored as sums. */
const ERASED: Readonly<Record<Count, SQL<number>>> = {
  calls: sql`${erasedUsage.calls}`,
  failed: sql`${erasedUsage.failed}`,
  input: sql`${erasedUsage.input}`,
  uncached: sql`${erasedUsage.uncached}`,
  cached: sql`${erasedUsage.cached}`,
  cache_write: sql`${erasedUsage.cacheWrite}`,
  output: sql`${erasedUsage.output}`,
  reasoning: sql`${erasedUsage.reasoning}`,
  cost: sql`${erasedUsage.cost}`,
  unpriced: sql`${erasedUsage.unpriced}`,
};

type Ledger = typeof usage | typeof erasedUsage;

/** The sums of requests without a session are one group, whatever the day. */
const SESSION_IF_ANY = sql`CASE WHEN ${erasedUsage.sessionId} LIKE ${sql.raw(`'%${NO_SESSION}'`)} THEN '' ELSE ${erasedUsage.sessionId} END`;

/** Days are numbers here, so that they sort and compare correctly. */
const buildKeys = (ledger: Ledger): Readonly<Record<UsageGroup, SQL>> => ({
  day: sql`${ledger.at} / ${sql.raw(String(DAY_MS))}`,
  session: ledger === erasedUsage ? SESSION_IF_ANY : sql`${ledger.sessionId}`,
  model: sql`${ledger.model}`,
  purpose: sql`${ledger.purpose}`,
  key: sql`coalesce(${ledger.keyId}, '')`,
  end_user: sql`coalesce(${ledger.endUser}, '')`,
});

/** When rows are ordered by day, a later page skips the days that earlier pages have read. */
function findStart({ from, groupBy }: UsageInput, after: readonly GroupKey[] | null): number {
  const [first] = after ?? [];
  return groupBy[0] === "day" && typeof first === "number" ? Math.max(from, first * DAY_MS) : from;
}

/** Asks for one row more than the limit, which tells whether there is more. Null when the cursor is not one of this list. */
export function buildUsageQuery(input: UsageInput): SQL | null {
  const { groupBy, limit } = input;
  const after = input.after === null ? null : parseUsageCursor(input.after, groupBy);
  if (input.after !== null && !after) return null;
  const asked = { ...input, from: findStart(input, after) };
  const names = joinSql(groupBy.map((group) => sql.raw(`by_${group}`)));
  const sums = joinSql(Object.keys(CALL).map((count) => sql.raw(`coalesce(sum(${count}), 0) AS ${count}`)));
  const calls = sql`${selectCounts(usage, CALL, asked)} UNION ALL ${selectCounts(erasedUsage, ERASED, asked)}`;
  if (groupBy.length === 0) return sql`SELECT ${sums} FROM (${calls}) LIMIT ${limit + 1}`;
  const behind = after ? sql`WHERE (${names}) > (${joinSql(after.map((key) => sql`${key}`))})` : sql``;
  return sql`SELECT ${names}, ${sums} FROM (${calls}) ${behind} GROUP BY ${names} ORDER BY ${names} LIMIT ${limit + 1}`;
}

const joinSql = (parts: readonly SQL[]): SQL => sql.join([...parts], sql`, `);

function selectCounts(ledger: Ledger, counts: Readonly<Record<string, SQL<number>>>, input: UsageInput): SQL {
  const keys = buildKeys(ledger);
  const grouped = input.groupBy.map((group) => sql`${keys[group]} AS ${sql.raw(`by_${group}`)}`);
  const counted = Object.entries(counts).map(([name, count]) => sql`${count} AS ${sql.raw(name)}`);
  return sql`SELECT ${joinSql([...grouped, ...counted])} FROM ${ledger} WHERE ${isAsked(ledger, input)}`;
}

async function sumUsage(db: D1Database, input: UsageInput): Promise<Result<UsagePage, ReadError>> {
  const { groupBy, limit } = input;
  const query = buildUsageQuery(input);
  if (!query) return err({ code: "invalid_cursor" });
  const { sql: text, params } = new SQLiteSyncDialect().sqlToQuery(query);
  // One transaction: the sums are complete from exactly this bound on.
  const [summed, bounds] = await db.batch<unknown>([
    db.prepare(text).bind(...params),
    db.prepare("SELECT complete_from FROM usage_bounds WHERE tenant_id = ?").bind(input.tenant),
  ]);
  const found = (summed?.results ?? []) as Found[];
  const [bound] = (bounds?.results ?? []) as { readonly complete_from: number }[];
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  const next_cursor = last ? toUsageCursor(groupBy.map((group) => last[`by_${group}`] ?? "")) : null;
  return ok({ data: rows.map(toRow), has_more: last !== undefined, next_cursor, complete_from: bound?.complete_from ?? null });
}

/** The rows by month that a bound would remove. */
async function countOldUsage(
  db: D1Database,
  { tenant, before }: Parameters<UsageList["countOldUsage"]>[0],
): Promise<readonly { readonly month: string; readonly rows: number }[]> {
  const old = (table: string) => `SELECT strftime('%Y-%m', at / 1000, 'unixepoch') AS month FROM ${table} WHERE tenant_id = ?1 AND at < ?2`;
  const counted = await db
    .prepare(`SELECT month, count(*) AS rows FROM (${old("usage")} UNION ALL ${old("erased_usage")}) GROUP BY month ORDER BY month`)
    .bind(tenant, before)
    .all<{ month: string; rows: number }>();
  return counted.results;
}

type Found = Readonly<Record<Count, number>> & {
  readonly [G in UsageGroup as `by_${G}`]?: GroupKey;
};

function isAsked(ledger: Ledger, { tenant, from, to, session, model, purpose, key, endUser }: UsageInput): SQL | undefined {
  // The plus sign keeps SQLite from using the index by time: a session's rows lie together by the primary key.
  const at = session === null ? sql`${ledger.at}` : sql`+${ledger.at}`;
  return and(
    eq(ledger.tenantId, tenant),
    sql`${at} >= max(${from}, coalesce((SELECT complete_from FROM usage_bounds WHERE tenant_id = ${tenant}), 0))`,
    sql`${at} < ${to}`,
    session === null ? undefined : eq(ledger.sessionId, session),
    model === null ? undefined : eq(ledger.model, model),
    purpose === null ? undefined : eq(ledger.purpose, purpose),
    key === null ? undefined : eq(ledger.keyId, key),
    endUser === null ? undefined : eq(ledger.endUser, endUser),
  );
}

function toRow({
  by_day: day,
  by_session: session,
  by_model: model,
  by_purpose: kind,
  by_key: key,
  by_end_user: user,
  ...sums
}: Found): UsageRow {
  const purpose = CALL_PURPOSES.find((known) => known === kind) ?? null;
  return {
    day: typeof day === "number" ? new Date(day * DAY_MS).toISOString().slice(0, 10) : null,
    session_id: typeof session === "string" ? parseId("ses", session) : null,
    model: typeof model === "string" ? model : null,
    purpose,
    source: purpose && usageSource(purpose),
    key_id: typeof key === "string" ? parseId("key", key) : null,
    // The empty text stands for none.
    end_user: typeof user === "string" && user !== "" ? user : null,
    ...toSums({ ...sums, cost: roundCost(sums.cost) }),
  };
}
