/**
 * What the calls of one tenant come to, in groups. A query reads the index of the range and then each call's row: two rows read for
 * each call in it, whatever the page; of one session, all of its calls, one row each.
 */
import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { ReadError, UsageGroup, UsageInput, UsageList, UsagePage, UsageRow } from "../app/read-api";
import { toSums } from "../app/usage-sums";
import { FINISHED_OUTCOMES, roundCost } from "../domain/call-totals";
import { parseId } from "../domain/ids";
import { CALL_PURPOSES, sourceOf } from "../domain/model-call";
import { err, ok, type Result } from "../lib/result";
import { databaseFor } from "./database-for";
import { usage } from "./schema";
import { type GroupKey, parseUsageCursor, toUsageCursor } from "./usage-cursor";

export function createUsageList(env: { readonly DB: D1Database }): UsageList {
  return { sumUsage: (input) => sumUsage(databaseFor(env, input.tenant), input) };
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Days are numbers here, so that a whole one sorts and compares as it should. */
const KEYS: { readonly [G in UsageGroup]: SQL } = {
  day: sql`(${usage.at} / ${sql.raw(String(DAY_MS))})`,
  session: sql`${usage.sessionId}`,
  model: sql`${usage.model}`,
  purpose: sql`${usage.purpose}`,
};

const FINISHED = sql.raw(FINISHED_OUTCOMES.map((outcome) => `'${outcome}'`).join(", "));
const sum = (of: SQL): SQL<number> => sql<number>`coalesce(sum(${of}), 0)`;

/** The sums of `domain/call-totals`, in SQL. */
const SUMS = {
  calls: sql<number>`count(*)`,
  failed: sum(sql`${usage.outcome} NOT IN (${FINISHED})`),
  input: sum(sql`${usage.input}`),
  uncached: sum(sql`max(0, ${usage.input} - ${usage.cached} - coalesce(${usage.cacheWrite}, 0))`),
  cached: sum(sql`${usage.cached}`),
  cache_write: sum(sql`${usage.cacheWrite}`),
  output: sum(sql`CASE WHEN ${usage.reasoning} <= ${usage.output} THEN ${usage.output} ELSE ${usage.output} + ${usage.reasoning} END`),
  reasoning: sum(sql`${usage.reasoning}`),
  cost: sum(sql`${usage.cost}`),
  unpriced: sum(sql`${usage.cost} IS NULL`),
};

/** Rows in order of days need no day again that an earlier page went through. */
function startOf({ from, groupBy }: UsageInput, after: readonly GroupKey[] | null): number {
  const [first] = after ?? [];
  return groupBy[0] === "day" && typeof first === "number" ? Math.max(from, first * DAY_MS) : from;
}

/** One row more than asked for tells whether there is more. Null: the cursor is none of this list. */
export function buildUsageQuery(db: D1Database, input: UsageInput) {
  const { groupBy, limit } = input;
  const after = input.after === null ? null : parseUsageCursor(input.after, groupBy);
  if (input.after !== null && !after) return null;
  const keys = groupBy.map((group) => KEYS[group]);
  const fields = { ...SUMS, ...Object.fromEntries(groupBy.map((group) => [`by_${group}`, sql<GroupKey>`${KEYS[group]}`])) };
  const rows = drizzle(db)
    .select(fields)
    .from(usage)
    .where(and(isAsked({ ...input, from: startOf(input, after) }), after ? isBehind(keys, after) : undefined))
    .limit(limit + 1)
    .$dynamic();
  return keys.length === 0 ? rows : rows.groupBy(...keys).orderBy(...keys.map((key) => asc(key)));
}

async function sumUsage(db: D1Database, input: UsageInput): Promise<Result<UsagePage, ReadError>> {
  const { groupBy, limit } = input;
  const query = buildUsageQuery(db, input);
  if (!query) return err({ code: "invalid_cursor" });
  const found: readonly Found[] = await query;
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  const next_cursor = last ? toUsageCursor(groupBy.map((group) => last[`by_${group}`] ?? "")) : null;
  return ok({ data: rows.map(toRow), has_more: last !== undefined, next_cursor });
}

type Found = { readonly [K in keyof typeof SUMS]: number } & {
  readonly [G in UsageGroup as `by_${G}`]?: GroupKey;
};

function isAsked({ tenant, from, to, session, model, purpose }: UsageInput): SQL | undefined {
  // With the plus sign the index by time is no way to a session's rows, which lie together by their key.
  const at = session === null ? sql`${usage.at}` : sql`+${usage.at}`;
  return and(
    eq(usage.tenantId, tenant),
    sql`${at} >= ${from}`,
    sql`${at} < ${to}`,
    session === null ? undefined : eq(usage.sessionId, session),
    model === null ? undefined : eq(usage.model, model),
    purpose === null ? undefined : eq(usage.purpose, purpose),
  );
}

const isBehind = (keys: readonly SQL[], after: readonly GroupKey[]): SQL =>
  sql`(${sql.join([...keys], sql`, `)}) > (${sql.join(
    after.map((key) => sql`${key}`),
    sql`, `,
  )})`;

function toRow({ by_day: day, by_session: session, by_model: model, by_purpose: kind, ...sums }: Found): UsageRow {
  const purpose = CALL_PURPOSES.find((known) => known === kind) ?? null;
  return {
    day: typeof day === "number" ? new Date(day * DAY_MS).toISOString().slice(0, 10) : null,
    session_id: typeof session === "string" ? parseId("ses", session) : null,
    model: typeof model === "string" ? model : null,
    purpose,
    source: purpose && sourceOf(purpose),
    ...toSums({ ...sums, cost: roundCost(sums.cost) }),
  };
}
