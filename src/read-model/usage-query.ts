/**
 * Sums up the model calls of one tenant in groups, including those of erased sessions. A query over a range reads three
 * rows for each call in it (the index twice, then the call), in parts: D1 does one thing at a time, so a statement over all calls of a large tenant
 * would hold up every other tenant of the database, and end after 30 seconds. A page of groups that begin with the day reads no more days than it
 * needs, and one of groups that begin with the session or the end user no more names. A query for one session reads each of its calls, one row each.
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
  PART_ROWS,
  prepareSql,
  type SelectedNames,
  SUMS,
  selectCalls,
  selectDays,
} from "./usage-counts";
import { findSettled, findUnstored, type StoredDay, storeDays } from "./usage-days";
import { type FoundNames, findNames, type NameKind, type NamePlace } from "./usage-names";

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
  const asked = { db, input: { ...input, from: findStart(input, after) }, now };
  const kind = findNameKind(input);
  const { found, complete_from } = await (kind ? finishFirst(sumNames(asked, kind), sumParts(asked)) : finish(sumParts(asked)));
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  const next_cursor = last ? toUsageCursor(toKeys(last, groupBy)) : null;
  return ok({ data: rows.map(toRow), has_more: last !== undefined, next_cursor, complete_from });
}

const toKeys = (row: Found, groupBy: readonly UsageGroup[]): readonly GroupKey[] => groupBy.map((group) => row[`by_${group}`] ?? "");

interface Asked {
  readonly db: D1Database;
  readonly input: UsageInput;
  readonly now: number;
}

interface Summed {
  /** One more than the limit, where there are more. */
  readonly found: readonly Found[];
  readonly complete_from: number | null;
}

const NOTHING: Summed = { found: [], complete_from: null };

/** Null: the sums are complete from exactly one bound on, and a removal that raised it meanwhile begins them again. */
function join(before: Summed | null, { found, complete_from }: Summed, input: UsageInput): Summed | null {
  if (before && before.complete_from !== complete_from) return null;
  return { complete_from, found: mergeGroups([...(before?.found ?? []), ...found], input) };
}

/** Work that may be left after any step. Each yields the rows that it read in vain. */
type Steps = AsyncGenerator<number, Summed>;

async function finish(steps: Steps): Promise<Summed> {
  for (;;) {
    const step = await steps.next();
    if (step.done) return step.value;
  }
}

/** Rows that a part of a range reads. */
const ROWS_OF_PART = 3 * PART_ROWS;

/**
 * Goes from name to name, and through a part of the range each time the names have read as much in vain: a range with few calls among many names
 * is read sooner. So names read in vain at most a part more than the whole range has.
 */
async function finishFirst(names: Steps, parts: Steps): Promise<Summed> {
  for (let vain = 0; ; ) {
    const step = await names.next();
    if (step.done) return step.value;
    for (vain += step.value; vain >= ROWS_OF_PART; vain -= ROWS_OF_PART) {
      const part = await parts.next();
      if (part.done) return part.value;
    }
  }
}

/** The names in whose order a list's groups are. Null: its groups begin with something else, or it is of one name. */
function findNameKind({ groupBy: [first], session, endUser }: UsageInput): "session" | "end_user" | null {
  const isOfOne = session !== null || endUser !== null;
  return !isOfOne && (first === "session" || first === "end_user") ? first : null;
}

/** Where the names of a page begin. `isFirst`: in front of them are the groups without a name. */
function findNamePlace({ groupBy, after }: UsageInput, kind: NameKind): { readonly place: NamePlace; readonly isFirst: boolean } {
  const keys = (after === null ? null : parseUsageCursor(after, groupBy)) ?? [];
  const index = kind === "no_session" ? -1 : groupBy.indexOf(kind);
  const name = String(keys[index] ?? "");
  // The page before has all groups of its last name.
  const isOver = keys.length > 0 && index === groupBy.length - 1;
  return { place: { name, beyond: name === "" || isOver ? ">" : ">=" }, isFirst: name === "" && !isOver };
}

/** Sums up the calls of one name after the other, until the page is full. */
async function* sumNames(asked: Asked, kind: NameKind): Steps {
  const { db, input } = asked;
  const { place: first, isFirst } = findNamePlace(input, kind);
  // Each id of no session has a part of the same groups.
  const isFilled = (summed: Summed | null): boolean => kind !== "no_session" && (summed?.found.length ?? 0) > input.limit;
  if (isFirst && kind === "end_user" && (await isSmall(asked))) return yield* sumParts(asked);
  let before = isFirst ? yield* sumUnnamed(asked, kind) : null;
  let place = isFilled(before) ? null : first;
  for (let times = 1; place; times *= 4) {
    // A name may have no group of the page. The cursor's own may have more groups.
    const missing = input.limit + (place.beyond === ">" ? 1 : 2) - (before?.found.length ?? 0);
    const step = await findNames(db, input, { kind, place, most: missing * times });
    const summed = await sumFound(asked, kind, step);
    before = join(before, summed, input);
    if (!before) return yield* sumNames(asked, kind);
    place = isFilled(before) ? null : step.next;
    if (place) yield Math.max(0, step.read - summed.found.reduce((calls, row) => calls + row.calls, 0));
  }
  return before ?? NOTHING;
}

function sumFound(asked: Asked, kind: NameKind, { names, isLarge }: FoundNames): Promise<Summed> {
  const { db, input } = asked;
  const [endUser = null] = names;
  if (kind === "end_user" && isLarge) return finish(sumParts({ ...asked, input: { ...input, endUser } }));
  return sumPart(db, input, { only: { of: kind === "end_user" ? kind : "session", names } });
}

/** The groups that come first: of calls without a session, or without an end user. */
async function* sumUnnamed(asked: Asked, kind: NameKind): AsyncGenerator<number, Summed | null> {
  if (kind === "no_session") return null;
  if (kind === "session") return yield* sumNames(asked, "no_session");
  const unnamed = { ...asked, input: { ...asked.input, endUser: "" } };
  return asked.input.groupBy[1] === "session" ? yield* sumNames(unnamed, "session") : finish(sumParts(unnamed));
}

/** The range is one part, and no day of it is stored: to find the calls without an end user would read as much as all groups do. */
const isSmall = async ({ db, input }: Asked): Promise<boolean> => (await findPartEndUnlessStored(db, input).first<number>("at")) === null;

/** The first groups behind the cursor are among the first ones of each part, so that each part gives no more than a page. */
async function* sumParts(asked: Asked): Steps {
  const { db, input, now } = asked;
  const { tenant, endUser, from, to } = input;
  const stored = await sumDays(db, input, now);
  const left = [...(stored?.left ?? [{ tenant, from, to }])];
  let before: Summed | null = stored;
  let end = stored?.end;
  for (let part = left.shift(); part && !isFull(before, part.from, input); part = left.shift()) {
    const until = toPartEnd(part, end === undefined ? await findFirstEnd(db, part, input) : end);
    if (until < part.to) left.unshift({ ...part, from: until });
    const [next] = left;
    const summed = await sumPart(db, { ...input, ...part, to: until }, { next: next ? findPartEnd(db, next, endUser) : null });
    before = join(before, summed, input);
    if (!before) return yield* sumParts(asked);
    end = summed.next;
    if (next) yield ROWS_OF_PART;
  }
  return before ?? NOTHING;
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
  { next = null, only }: { readonly next?: D1PreparedStatement | null; readonly only?: SelectedNames },
): Promise<Summed & { readonly next: number | null }> {
  const [summed, bounds, ends] = await db.batch<unknown>([
    prepareSums(db, input, (asked) => selectCalls({ ...asked, ...(only && { only }) })),
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
  const isStored = (group: UsageGroup): boolean => group in DAY_GROUPS || (group === "end_user" && endUser === "");
  if (session !== null || (endUser !== null && endUser !== "") || !groupBy.every(isStored)) return null;
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
