/** Keeps in the tenant's object which slots are leased to isolates. They are on disk, because the object may restart while a lease lasts. */
import { LEASE_MARGIN_MS, LEASE_MS, planLease, type SlotAsk, type SlotCall, type SlotGrant, type SlotSubject } from "../../app/slot-grants";
import type { SyncSql } from "../../lib/sync-sql";

export interface SlotLeases {
  /** Call it inside a transaction. A repeated or late call changes nothing. One grant for each ask. */
  take(call: SlotCall, now: number): readonly SlotGrant[];
  /** Slots that are leased. */
  readLeased(subject: SlotSubject, now: number): number;
}

/** How often leases that have ended are removed. They count for nothing. */
const SWEEP_MS = 60_000;
const NONE: SlotGrant = { slots: 0, spare: 0 };

/** `hideEndUser`: the table has a digest in place of an end user's name. */
export function createSlotLeases(sql: SyncSql, hideEndUser: (name: string) => string): SlotLeases {
  let sweptAt = Number.NEGATIVE_INFINITY;
  const toText = ({ what, of, id }: SlotSubject): string => `${what} ${of} ${of === "end_user" ? hideEndUser(id) : id}`;
  const sum = (subject: string, isolate: string, now: number): SlotGrant =>
    sql.rows<{ slots: number; spare: number }>(
      `SELECT coalesce(sum(slots), 0) AS slots, coalesce(sum(spare), 0) AS spare FROM slot_leases
       WHERE subject = ? AND isolate <> ? AND ends_at > ?`,
      subject,
      isolate,
      now,
    )[0] ?? NONE;

  function grant(ask: SlotAsk, isolate: string, now: number): SlotGrant {
    const subject = toText(ask);
    const [own] = sql.rows<{ number: number; slots: number; spare: number; ends_at: number }>(
      "SELECT number, slots, spare, ends_at FROM slot_leases WHERE subject = ? AND isolate = ?",
      subject,
      isolate,
    );
    if (own && own.number >= ask.number) return { slots: own.slots, spare: own.spare };
    const { slots, spare } = planLease(ask, own && own.ends_at > now ? own : NONE, sum(subject, isolate, now));
    if (slots === 0) sql.rows("DELETE FROM slot_leases WHERE subject = ? AND isolate = ?", subject, isolate);
    else
      sql.rows(
        `INSERT INTO slot_leases (subject, isolate, number, slots, spare, ends_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (subject, isolate) DO UPDATE SET number = ?3, slots = ?4, spare = ?5, ends_at = ?6`,
        subject,
        isolate,
        ask.number,
        slots,
        spare,
        now + LEASE_MS + LEASE_MARGIN_MS,
      );
    return { slots, spare };
  }

  return {
    readLeased: (subject, now) => sum(toText(subject), "", now).slots,
    take: ({ isolate, asks }, now) => {
      if (sweptAt + SWEEP_MS <= now) sql.rows("DELETE FROM slot_leases WHERE ends_at <= ?", now);
      if (sweptAt + SWEEP_MS <= now) sweptAt = now;
      return asks.map((ask) => grant(ask, isolate, now));
    },
  };
}
