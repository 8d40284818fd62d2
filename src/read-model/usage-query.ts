/**
 * Sums up the model calls of one tenant in groups, including those of erased sessions. A query over a range reads three
 * rows for each call in it (the index twice, then the call), in parts: D1 does one thing at a time, so a statement over all calls of a large tenant
 * would hold up every other tenant of the database, and end after 30 seconds. A page of groups that begin with the day reads no more days than it
 * needs. A query for one session reads each of its calls, one row each.
 */
import { type SQL, sql } from "drizzle-orm";
import type { ReadError, UsageGroup, UsageInput, UsageList, UsagePage } from "../app/read-api";
import { toSums } from "../app/usage-sums";
import type { UsageRow } from "../contract/usage";
import { roundCost } from "../domain/call-totals";
import { USAGE_SLOT_MS } from "../domain/erased-usage";
import { parseId } from "../domain/ids";
import { CALL_PURPOSES, usageSource } from "../domain/model-call";
import { err, ok, type Result } from "../lib/result";
import { databaseFor, type ReadModelEnv } from "./database-for";
import {
  type CallRange,
  COUNTS,
  type Count,
  DAY_GROUPS,
  DAY_MS,
  findPartEnd,
  findPartEndUnlessStored,
  joinSql,
  listDays,
  listNames,
  prepareSql,
  SUMS,
  selectCalls,
  selectDays,
} from "./usage-counts";
import { findSettled, findUnstored, type StoredDay, storeDays } from "./usage-days";

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
    sumUsage: async (input) => sumUsage(await databaseFor(env, input.tenant), input, (env.now ?? Date.now)()),
    countOldUsage: async (input) => countOldUsage(await databaseFor(env, input.tenant), input),
  };
}

/** When rows are ordered by day, a later page skips the days that earlier pages have read. */
function findStart({ from, groupBy }: UsageInput, after: readonly GroupKey[] | null): number {
  const [first] = after ?? [];
  return groupBy[0] === "day" && typeof first === "number" ? Math.max(from, first * DAY_MS) : from;
}

/** Asks for one row more than the limit, which tells whether there is more. Null when the cursor is not one of this list. */
export function buildUsageQuery(input: UsageInput, select: (asked: UsageInput) => SQL = selectCalls): SQL | null {
  const { groupBy, limit } = input;
  const after = input.after === null ? null : parseUsageCursor(input.after, groupBy);
  if (input.after !== null && !after) return null;
  const names = listNames(groupBy);
  const counted = select({ ...input, from: findStart(input, after) });
  if (groupBy.length === 0) return sql`SELECT ${SUMS} FROM (${counted}) LIMIT ${limit + 1}`;
  const behind = after ? sql`WHERE (${names}) > (${joinSql(after.map((key) => sql`${key}`))})` : sql``;
  return sql`SELECT ${names}, ${SUMS} FROM (${counted}) ${behind} GROUP BY ${names} ORDER BY ${names} LIMIT ${limit + 1}`;
}

async function sumUsage(db: D1Database, input: UsageInput, now: number): Promise<Result<UsagePage, ReadError>> {
  const { groupBy, limit } = input;
  const after = input.after === null ? null : parseUsageCursor(input.after, groupBy);
  if (input.after !== null && !after) return err({ code: "invalid_cursor" });
  const { found, complete_from } = await sumParts(db, { ...input, from: findStart(input, after) }, now);
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  const next_cursor = last ? toUsageCursor(toKeys(last, groupBy)) : null;
  return ok({ data: rows.map(toRow), has_more: last !== undefined, next_cursor, complete_from });
}

const toKeys = (row: Found, groupBy: readonly UsageGroup[]): readonly GroupKey[] => groupBy.map((group) => row[`by_${group}`] ?? "");

interface Summed {
  /** One more than the limit, where there are more. */
  readonly found: readonly Found[];
  readonly complete_from: number | null;
}

/** The first groups behind the cursor are among the first ones of each part, so that each part gives no more than a page. */
async function sumParts(db: D1Database, input: UsageInput, now: number): Promise<Summed> {
  const { tenant, endUser, from, to } = input;
  const stored = await sumDays(db, input, now);
  const left = [...(stored?.left ?? [{ tenant, from, to }])];
  let before: Summed | null = stored;
  let end = stored?.end;
  for (let part = left.shift(); part && !isFull(before, part.from, input); part = left.shift()) {
    const until = toPartEnd(part, end === undefined ? await findFirstEnd(db, part, input) : end);
    if (until < part.to) left.unshift({ ...part, from: until });
    const [next] = left;
    const summed = await sumPart(db, { ...input, ...part, to: until }, next ? findPartEnd(db, next, endUser) : null);
    // The sums are complete from exactly one bound on. A removal that raised it meanwhile begins them again.
    if (before && before.complete_from !== summed.complete_from) return sumParts(db, input, now);
    before = { ...summed, found: mergeGroups([...(before?.found ?? []), ...summed.found], input) };
    end = summed.next;
  }
  return before ?? { found: [], complete_from: null };
}

/** The days before `from` are more than a page. */
function isFull(before: Summed | null, from: number, { groupBy, limit }: UsageInput): boolean {
  const day = Math.floor(from / DAY_MS);
  return before !== null && groupBy[0] === "day" && before.found.filter(({ by_day }) => Number(by_day) < day).length > limit;
}

/** A session's rows lie together, and are as many as its calls. */
const findFirstEnd = async (db: D1Database, part: CallRange, { session, endUser }: UsageInput): Promise<number | null> =>
  session === null ? findPartEnd(db, part, endUser).first<number>("at") : null;

/** A part ends where a slot of erased usage does, so that a call that is erased meanwhile stays in its part. Null: the range is one part. */
function toPartEnd({ from, to }: CallRange, end: number | null): number {
  if (end === null) return to;
  const slot = Math.floor(end / USAGE_SLOT_MS) * USAGE_SLOT_MS;
  return slot > from ? slot : Math.max(end, from + 1);
}

const BOUND = "SELECT complete_from FROM usage_bounds WHERE tenant_id = ?";

/** In one transaction with the bound, and with the end of the next part. */
async function sumPart(
  db: D1Database,
  input: UsageInput,
  next: D1PreparedStatement | null,
): Promise<Summed & { readonly next: number | null }> {
  const [summed, bounds, ends] = await db.batch<unknown>([
    prepareSums(db, input, selectCalls),
    db.prepare(BOUND).bind(input.tenant),
    ...(next ? [next] : []),
  ]);
  const [end] = (ends?.results ?? []) as { readonly at: number | null }[];
  return { found: (summed?.results ?? []) as Found[], complete_from: toBound(bounds), next: end?.at ?? null };
}

function prepareSums(db: D1Database, input: UsageInput, select: (asked: UsageInput) => SQL): D1PreparedStatement {
  const query = buildUsageQuery(input, select);
  if (!query) throw new TypeError("the cursor was read before");
  return prepareSql(db, query);
}

function toBound(bounds: D1Result | undefined): number | null {
  const [bound] = (bounds?.results ?? []) as { readonly complete_from: number }[];
  return bound?.complete_from ?? null;
}

interface StoredSums extends Summed {
  /** The parts of the range that no stored day has, in order. */
  readonly left: readonly CallRange[];
  /** Where the first part of `left` ends, if that is known. Null: it is one part. */
  readonly end: number | null | undefined;
}

/**
 * The sums of the range's stored days. Those of a range that is more than one part, or of which a day is stored, are stored first. Null: no
 * stored day can be of use.
 */
async function sumDays(db: D1Database, input: UsageInput, now: number): Promise<StoredSums | null> {
  const { session, endUser, groupBy } = input;
  if (session !== null || endUser !== null || !groupBy.every((group) => group in DAY_GROUPS)) return null;
  const settled = findSettled(input, now);
  if (!settled) return null;
  const found = await readDays(db, input);
  if (found.days.length === 0 && found.end === null) return found;
  const from = Math.max(settled.from, Math.ceil((found.complete_from ?? 0) / DAY_MS) * DAY_MS);
  // A page that begins with the day has no more days than groups.
  const to = groupBy[0] === "day" ? Math.min(settled.to, from + (input.limit + 1) * DAY_MS) : settled.to;
  const unstored = findUnstored({ ...settled, from, to }, found.days);
  if (unstored.length === 0) return found;
  try {
    await storeDays(db, unstored);
  } catch {
    // A database that is full or takes no writes can be read.
  }
  return readDays(db, input);
}

/** What is stored, and its sums, in one transaction. */
async function readDays(db: D1Database, input: UsageInput): Promise<StoredSums & { readonly days: readonly StoredDay[] }> {
  const { tenant, from, to } = input;
  const [heads, sums, bounds, ends] = await db.batch<unknown>([
    prepareSql(db, listDays(input)),
    prepareSums(db, input, selectDays),
    db.prepare(BOUND).bind(tenant),
    findPartEndUnlessStored(db, input),
  ]);
  const days = (heads?.results ?? []) as (StoredDay & { readonly is_whole: number })[];
  const whole = days.filter(({ is_whole }) => is_whole === 1);
  const [end] = (ends?.results ?? []) as { readonly at: number | null }[];
  return {
    days,
    found: (sums?.results ?? []) as Found[],
    complete_from: toBound(bounds),
    left: findUnstored({ tenant, from, to }, whole),
    end: days.length === 0 ? (end?.at ?? null) : undefined,
  };
}

/** Adds up groups that are in several parts, in the order in which SQLite has them. */
function mergeGroups(rows: readonly Found[], { groupBy, limit }: UsageInput): readonly Found[] {
  const merged = new Map<string, Found>();
  for (const row of rows) {
    const key = JSON.stringify(toKeys(row, groupBy));
    const before = merged.get(key);
    const sums = COUNTS.map((count) => [count, row[count] + (before?.[count] ?? 0)]);
    merged.set(key, { ...row, ...Object.fromEntries(sums) });
  }
  const placed = [...merged.values()].map((row) => ({ row, keys: toKeys(row, groupBy) }));
  return placed
    .sort((one, other) => compareKeys(one.keys, other.keys))
    .slice(0, limit + 1)
    .map(({ row }) => row);
}

/** Texts are in the order of their bytes in UTF-8, which is not that of their UTF-16 units. */
function compareKeys(one: readonly GroupKey[], other: readonly GroupKey[]): number {
  for (const [index, key] of one.entries()) {
    const second = other[index] ?? "";
    if (key === second) continue;
    if (typeof key === "number" && typeof second === "number") return key - second;
    return compareBytes(new TextEncoder().encode(String(key)), new TextEncoder().encode(String(second)));
  }
  return 0;
}

function compareBytes(one: Uint8Array, other: Uint8Array): number {
  const index = one.findIndex((byte, place) => byte !== other[place]);
  return index < 0 ? one.length - other.length : (one[index] ?? 0) - (other[index] ?? -1);
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
