/**
 * The session's wallet in its database: what it was granted of each counter, what it has spent, and one reservation for each model call under
 * way. All amounts are in counted units. Call what writes in a transaction.
 */

import { type CounterRef, counterKey, toPeriodEnd } from "../../app/budget-counters";
import { type Bounds, type EndedCall, toCharge, toReserve } from "../../app/call-charge";
import type { Budget } from "../../contract/limits";
import type { Sql } from "../log/sql";

/**
 * seq: of the newest report. revision: of the budgets for which the grants are. owes: 1 while a grant may have been lost on its way. used_at:
 * of the last call. reported: what the tenant's object has confirmed of `spent`. free: granted, and neither spent nor reserved. incarnation:
 * the life of the object in which the call is made; null for a worker of the queue.
 */
export const WALLET_TABLES = `
  CREATE TABLE wallet (
    one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, revision INTEGER NOT NULL, owes INTEGER NOT NULL, used_at INTEGER NOT NULL,
    next_reservation INTEGER NOT NULL
  );
  CREATE TABLE wallet_counters (
    counter TEXT PRIMARY KEY, ref TEXT NOT NULL, spent INTEGER NOT NULL, reported INTEGER NOT NULL, free INTEGER NOT NULL,
    ahead INTEGER NOT NULL, tight INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE wallet_reservations (
    id INTEGER PRIMARY KEY, incarnation TEXT, expires_at INTEGER NOT NULL, bounds TEXT NOT NULL, amounts TEXT NOT NULL
  );
`;

type WalletRow = { readonly seq: number; readonly revision: number; readonly owes: number; readonly used_at: number };
type CounterRow = {
  readonly counter: string;
  readonly ref: string;
  readonly spent: number;
  readonly reported: number;
  readonly free: number;
  readonly ahead: number;
};
type ReservationRow = { readonly id: number; readonly bounds: string; readonly amounts: string };

interface Amount {
  readonly counter: string;
  readonly unit: Budget["unit"];
  readonly amount: number;
}

export const readWallet = (sql: Sql): WalletRow | null => sql.all<WalletRow>("SELECT seq, revision, owes, used_at FROM wallet")[0] ?? null;

function makeWallet(sql: Sql, now: number): void {
  sql.all(
    "INSERT INTO wallet (one, seq, revision, owes, used_at, next_reservation) VALUES (1, 0, -1, 0, ?, 1) ON CONFLICT (one) DO NOTHING",
    now,
  );
}

const toAmounts = (refs: readonly CounterRef[], bounds: Bounds): readonly Amount[] =>
  refs.map((ref) => ({ counter: counterKey(ref), unit: ref.unit, amount: toReserve(bounds, ref.unit) }));

/** Whether what was granted and is free suffices for the call in each counter. */
function isCovered(sql: Sql, amounts: readonly Amount[], revision: number): boolean {
  if (readWallet(sql)?.revision !== revision) return false;
  return amounts.every(({ counter, amount }) => {
    const [row] = sql.all<{ free: number }>("SELECT free FROM wallet_counters WHERE counter = ?", counter);
    return row !== undefined && row.free >= amount;
  });
}

interface Paying {
  readonly refs: readonly CounterRef[];
  readonly bounds: Bounds;
  readonly revision: number;
}

export const covers = (sql: Sql, { refs, bounds, revision }: Paying): boolean => isCovered(sql, toAmounts(refs, bounds), revision);

interface Reserving extends Paying {
  readonly incarnation: string | null;
  readonly expiresAt: number;
  readonly now: number;
}

/** The id of the reservation. Null: what is free does not suffice, and nothing was changed. */
export function reserve(sql: Sql, { refs, bounds, revision, incarnation, expiresAt, now }: Reserving): number | null {
  const amounts = toAmounts(refs, bounds);
  if (!isCovered(sql, amounts, revision)) return null;
  const [next] = sql.all<{ id: number }>(
    "UPDATE wallet SET next_reservation = next_reservation + 1, used_at = ? RETURNING next_reservation - 1 AS id",
    now,
  );
  if (!next) return null;
  for (const { counter, amount } of amounts) sql.all("UPDATE wallet_counters SET free = free - ? WHERE counter = ?", amount, counter);
  sql.all(
    "INSERT INTO wallet_reservations (id, incarnation, expires_at, bounds, amounts) VALUES (?, ?, ?, ?, ?)",
    next.id,
    incarnation,
    expiresAt,
    JSON.stringify(bounds),
    JSON.stringify(amounts),
  );
  return next.id;
}

/** Ends a reservation. `charge`: what is spent of it, in each unit. */
function end(sql: Sql, row: ReservationRow, charge: (bounds: Bounds, amount: Amount) => number): void {
  const bounds = JSON.parse(row.bounds) as Bounds;
  for (const amount of JSON.parse(row.amounts) as readonly Amount[]) {
    const spent = charge(bounds, amount);
    const query = "UPDATE wallet_counters SET spent = spent + ?, free = free + ? WHERE counter = ?";
    sql.all(query, spent, amount.amount - spent, amount.counter);
  }
  sql.all("DELETE FROM wallet_reservations WHERE id = ?", row.id);
}

const findReservation = (sql: Sql, id: number): ReservationRow | undefined =>
  sql.all<ReservationRow>("SELECT id, bounds, amounts FROM wallet_reservations WHERE id = ?", id)[0];

/** Charges a call that was recorded. One whose reservation has expired was charged then. */
export function settle(sql: Sql, call: EndedCall, now: number): void {
  const row = call.reservation && findReservation(sql, call.reservation.id);
  if (!row) return;
  end(sql, row, (bounds, { unit }) => toCharge(call, bounds, unit));
  sql.all("UPDATE wallet SET used_at = ?", now);
}

/** Gives back what was reserved for a call that was not made. */
export function release(sql: Sql, id: number): void {
  const row = findReservation(sql, id);
  if (row) end(sql, row, () => 0);
}

const chargeWhole = (sql: Sql, rows: readonly ReservationRow[]): number => {
  for (const row of rows) end(sql, row, (_, { amount }) => amount);
  return rows.length;
};

/** Charges calls that no one will report any more with all that was reserved. Returns how many. */
export const chargeExpired = (sql: Sql, now: number): number =>
  chargeWhole(sql, sql.all<ReservationRow>("SELECT id, bounds, amounts FROM wallet_reservations WHERE expires_at <= ?", now));

/** As `chargeExpired`, for calls of lives of the object that are over. */
export const chargeDead = (sql: Sql, incarnation: string): number =>
  chargeWhole(sql, sql.all<ReservationRow>("SELECT id, bounds, amounts FROM wallet_reservations WHERE incarnation <> ?", incarnation));

export const nextExpiry = (sql: Sql): number | null =>
  sql.all<{ due: number | null }>("SELECT min(expires_at) AS due FROM wallet_reservations")[0]?.due ?? null;

/** Whether the tenant's object has to be told something: spending, or what is granted and not reserved. */
export const isOwing = (sql: Sql): boolean =>
  readWallet(sql)?.owes === 1 || sql.all("SELECT 1 AS one FROM wallet_counters WHERE spent <> reported OR free <> 0 LIMIT 1").length > 0;

/** Whether little is left of a counter of which something is free. */
export const hasTightCounter = (sql: Sql): boolean =>
  sql.all("SELECT 1 AS one FROM wallet_counters WHERE tight = 1 AND free > 0 LIMIT 1").length > 0;

/** What is reserved of each counter. */
function readHeld(sql: Sql): ReadonlyMap<string, number> {
  const held = new Map<string, number>();
  for (const { amounts } of sql.all<{ amounts: string }>("SELECT amounts FROM wallet_reservations"))
    for (const { counter, amount } of JSON.parse(amounts) as readonly Amount[]) held.set(counter, (held.get(counter) ?? 0) + amount);
  return held;
}

/** One counter as a report has it. */
export interface ReportedCounter {
  readonly counter: string;
  readonly ref: CounterRef;
  readonly spent: number;
  readonly held: number;
  readonly ahead: number;
}

function readReported(sql: Sql): readonly ReportedCounter[] {
  const held = readHeld(sql);
  return sql.all<CounterRow>("SELECT counter, ref, spent, reported, free, ahead FROM wallet_counters").map((row) => ({
    counter: row.counter,
    ref: JSON.parse(row.ref) as CounterRef,
    spent: row.spent,
    held: held.get(row.counter) ?? 0,
    ahead: row.ahead,
  }));
}

interface Report {
  readonly seq: number;
  readonly rows: readonly ReportedCounter[];
}

/** A report in which all that is reserved is spent. Null: the tenant's object has nothing to be told. Writes nothing. */
export function readLastReport(sql: Sql, now: number): Report | null {
  const wallet = readWallet(sql);
  const rows = readReported(sql).map((row) => ({ ...row, spent: row.spent + row.held, held: 0 }));
  return wallet && (isOwing(sql) || nextExpiry(sql) !== null) ? { seq: Math.max(wallet.seq + 1, now), rows } : null;
}

/**
 * Begins a report: gives up what is not reserved, and numbers the report. Numbers never go back to one that an earlier wallet of the session
 * had, because they are not below the time.
 */
export function beginReport(sql: Sql, refs: readonly CounterRef[], now: number): Report {
  makeWallet(sql, now);
  for (const ref of refs)
    sql.all(
      "INSERT INTO wallet_counters (counter, ref, spent, reported, free, ahead, tight) VALUES (?, ?, 0, 0, 0, 1, 0) ON CONFLICT (counter) DO NOTHING",
      counterKey(ref),
      JSON.stringify(ref),
    );
  sql.all("UPDATE wallet_counters SET free = 0 WHERE free <> 0");
  const [wallet] = sql.all<{ seq: number }>("UPDATE wallet SET seq = max(seq + 1, ?), owes = 1 RETURNING seq", now);
  return { seq: wallet?.seq ?? now, rows: readReported(sql) };
}

interface Confirmed {
  readonly seq: number;
  readonly revision: number;
  readonly rows: readonly ReportedCounter[];
  readonly grants: readonly { readonly counter: string; readonly granted: number; readonly tight: boolean }[];
}

/** Takes the answer to the newest report. False: it answers an older one, and changes nothing. */
export function confirm(sql: Sql, { seq, revision, rows, grants }: Confirmed): boolean {
  if (readWallet(sql)?.seq !== seq) return false;
  sql.all("UPDATE wallet SET owes = 0, revision = ?", revision);
  for (const { counter, spent } of rows) sql.all("UPDATE wallet_counters SET reported = ? WHERE counter = ?", spent, counter);
  for (const { counter, granted, tight } of grants) {
    const query = "UPDATE wallet_counters SET free = free + ?, tight = ?, ahead = min(2 * ahead, 8) WHERE counter = ?";
    sql.all(query, granted, tight ? 1 : 0, counter);
  }
  return true;
}

/** The tenant's object has a later report than the newest one here. */
export const raiseSeq = (sql: Sql, seq: number): void => void sql.all("UPDATE wallet SET seq = max(seq, ?)", seq);

/** After a while without calls: the next block is small again, and counters of past periods are forgotten. */
export function rest(sql: Sql, now: number): void {
  sql.all("UPDATE wallet_counters SET ahead = 1 WHERE ahead <> 1");
  const held = readHeld(sql);
  for (const row of sql.all<CounterRow>("SELECT counter, ref, spent, reported, free, ahead FROM wallet_counters")) {
    const isDone = row.spent === row.reported && row.free === 0 && !held.has(row.counter);
    if (isDone && toPeriodEnd(JSON.parse(row.ref) as CounterRef) <= now)
      sql.all("DELETE FROM wallet_counters WHERE counter = ?", row.counter);
  }
}
