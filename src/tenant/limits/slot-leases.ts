/** Keeps in the tenant's object which slots are leased to isolates. They are on disk, because the object may restart while a lease lasts. */
import {
  LEASE_MARGIN_MS,
  LEASE_MS,
  planLease,
  type SlotAnswer,
  type SlotAsk,
  type SlotCall,
  type SlotGrant,
  type SlotKeep,
  type SlotSubject,
} from "../../app/slot-grants";
import type { SyncSql } from "../../lib/sync-sql";

export interface SlotLeases {
  /** Call it inside a transaction. A repeated or late call changes nothing but when leases end. */
  take(call: SlotCall, now: number): SlotAnswer;
  /** Slots that are leased. */
  readLeased(subject: SlotSubject, now: number): number;
}

/** `hideEndUser`: the table has a digest in place of an end user's name. */
export function createSlotLeases(sql: SyncSql, hideEndUser: (name: string) => string): SlotLeases {
  const toText = ({ what, of, id }: SlotSubject): string => `${what} ${of} ${of === "end_user" ? hideEndUser(id) : id}`;
  const sum = (subject: string, now: number): number =>
    sql.rows<{ slots: number }>(
      "SELECT coalesce(sum(slots), 0) AS slots FROM slot_leases WHERE subject = ? AND ends_at > ?",
      subject,
      now,
    )[0]?.slots ?? 0;
  const find = (lease: string): number | null =>
    sql.rows<{ slots: number }>("SELECT slots FROM slot_leases WHERE lease = ?", lease)[0]?.slots ?? null;

  function keep({ lease, slots }: SlotKeep, now: number): readonly SlotKeep[] {
    if (slots === 0) sql.rows("DELETE FROM slot_leases WHERE lease = ?", lease);
    else sql.rows("UPDATE slot_leases SET slots = min(slots, ?), ends_at = ? WHERE lease = ?", slots, toEnd(now), lease);
    const kept = find(lease);
    return kept === null ? [] : [{ lease, slots: kept }];
  }

  function grant(ask: SlotAsk, now: number): SlotGrant {
    const subject = toText(ask);
    const granted = sum(subject, now);
    const known = find(ask.lease);
    if (known !== null) return { lease: ask.lease, slots: known, left: Math.max(0, ask.limit - granted) };
    const planned = planLease(ask, granted);
    const row = [ask.lease, subject, planned.slots, toEnd(now)] as const;
    if (planned.slots > 0) sql.rows("INSERT INTO slot_leases (lease, subject, slots, ends_at) VALUES (?, ?, ?, ?)", ...row);
    return { lease: ask.lease, ...planned };
  }

  return {
    readLeased: (subject, now) => sum(toText(subject), now),
    take: ({ keeps, asks }, now) => {
      sql.rows("DELETE FROM slot_leases WHERE ends_at <= ?", now);
      const kept = keeps.flatMap((one) => keep(one, now));
      return { kept, grants: asks.map((ask) => grant(ask, now)) };
    },
  };
}

const toEnd = (now: number): number => now + LEASE_MS + LEASE_MARGIN_MS;
