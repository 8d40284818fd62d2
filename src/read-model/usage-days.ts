/**
 * Stores the sums of a tenant's finished days. A day is summed up in parts: each adds its calls only where the earlier ones ended, so that two
 * requests at once count no call twice. A call that changes meanwhile takes the day away (the triggers in `migrations`), and later parts of
 * that day add nothing.
 */
import { type SQL, sql } from "drizzle-orm";
import { usageDaySums, usageDays } from "./schema";
import {
  type CallRange,
  COUNTS,
  DAY_MS,
  findPartEnd,
  joinSql,
  listNames,
  prepareSql,
  type StoredGroup,
  SUMS,
  selectCalls,
} from "./usage-counts";

/** A day of which at least a part is stored. */
export interface StoredDay {
  readonly day: number;
  readonly up_to: number;
}

/** Late calls of a day come mostly within a day, and each would remove the stored day again. */
const SETTLED_MS = DAY_MS;

/** Parts that one request stores, up to 50,000 calls each. The calls of other days are summed up without being stored. */
const STORED_PARTS = 100;

/** The whole days in the range that have settled: their beginning, and their end. Null: there are none. */
export function findSettled({ tenant, from, to }: CallRange, now: number): CallRange | null {
  const first = Math.ceil(from / DAY_MS);
  const end = Math.min(Math.floor(to / DAY_MS), Math.floor((now - SETTLED_MS) / DAY_MS));
  return first < end ? { tenant, from: first * DAY_MS, to: end * DAY_MS } : null;
}

/** The parts of whole days that are not stored. `stored`: the days in the range, in order. */
export function findUnstored(range: CallRange, stored: readonly StoredDay[]): readonly CallRange[] {
  const { tenant } = range;
  const unstored: CallRange[] = [];
  let from = range.from;
  for (const { day, up_to } of stored) {
    const start = day * DAY_MS;
    if (start < from || start >= range.to) continue;
    if (from < start) unstored.push({ tenant, from, to: start });
    from = up_to;
  }
  if (from < range.to) unstored.push({ tenant, from, to: range.to });
  return unstored;
}

/** Stores the days of the ranges, which begin where a day does or where the stored part of one ends. */
export async function storeDays(db: D1Database, ranges: readonly CallRange[]): Promise<void> {
  let parts = 0;
  for (const range of ranges) {
    let next: number | null = (await findPartEnd(db, range, null).first<number>("at")) ?? null;
    for (let { from } = range; from < range.to; parts++) {
      if (parts >= STORED_PARTS) return;
      const to = next === null ? range.to : Math.max(next, from + 1);
      const part = { ...range, from, to };
      const [, days, end] = await db.batch<{ at: number | null }>([
        prepareSql(db, addSums(part)),
        prepareSql(db, raiseDays(part)),
        findPartEnd(db, { ...range, from: to }, null),
      ]);
      // Another request stores the same days, or a call has changed.
      if (days?.meta.changes === 0) return;
      next = end?.results[0]?.at ?? null;
      from = to;
    }
  }
}

const DAY = sql.raw(String(DAY_MS));
const GROUPS: readonly StoredGroup[] = ["day", "model", "purpose", "key", "has_user"];
const ANY = { session: null, model: null, purpose: null, key: null, endUser: null };

/** The day is stored up to where the part begins in it, which may be the day's beginning. */
const continues = ({ tenant, from }: CallRange, day: SQL): SQL =>
  sql`coalesce((SELECT stored.up_to FROM ${usageDays} stored WHERE stored.tenant_id = ${tenant} AND stored.day = ${day}), ${day} * ${DAY}) = max(${from}, ${day} * ${DAY})`;

function addSums(part: CallRange): SQL {
  const names = listNames(GROUPS);
  const counts = joinSql(COUNTS.map((count) => sql.raw(count)));
  const added = joinSql(COUNTS.map((count) => sql.raw(`${count} = ${count} + excluded.${count}`)));
  return sql`INSERT INTO ${usageDaySums} (tenant_id, day, model, purpose, key_id, has_user, ${counts})
    SELECT ${part.tenant}, ${names}, ${SUMS} FROM (${selectCalls({ ...part, ...ANY, groupBy: GROUPS })}) WHERE true
    GROUP BY ${names} HAVING ${continues(part, sql.raw("by_day"))}
    ON CONFLICT (tenant_id, day, model, purpose, key_id, has_user) DO UPDATE SET ${added}`;
}

/** Runs behind `addSums` in one transaction. */
function raiseDays(part: CallRange): SQL {
  const { tenant, from, to } = part;
  return sql`INSERT INTO ${usageDays} (tenant_id, day, up_to)
    WITH RECURSIVE days (day) AS (
      SELECT CAST(${Math.floor(from / DAY_MS)} AS INTEGER) UNION ALL SELECT day + 1 FROM days WHERE day + 1 < ${Math.ceil(to / DAY_MS)})
    SELECT ${tenant}, day, min(${to}, (day + 1) * ${DAY}) FROM days WHERE ${continues(part, sql.raw("days.day"))}
    ON CONFLICT (tenant_id, day) DO UPDATE SET up_to = excluded.up_to`;
}
