/** What one isolate has of one subject's slots: its lease, and who holds the slots. */
import { BEAT_MS, HOLD_MS, LEASE_MS, type SlotGrant } from "./slot-grants";

/** What holds slots. `life`: one life of it in memory. A later life takes over what an earlier one held. */
export interface SlotHolder {
  readonly id: string;
  readonly life: string;
}

export interface Pool {
  /** Slots of the lease that this isolate may use. */
  slots: number;
  /** How many of them may be unused. */
  spare: number;
  /** When the lease ends, by this isolate's clock. */
  endsAt: number;
  readonly holds: Map<string, { readonly life: string; readonly heardAt: number }>;
  /** Requests that wait for a slot. */
  waiting: number;
  /** The ask that is under way. */
  asking: Promise<void> | null;
  /** Until when the tenant's object is not asked: it had no slot left. */
  fullUntil: number;
  /** Until when this isolate goes on as if it were the only one: the tenant's object was out of reach. */
  aloneUntil: number;
  renewAt: number;
}

export const newPool = (): Pool => ({
  slots: 0,
  spare: 0,
  endsAt: 0,
  holds: new Map(),
  waiting: 0,
  asking: null,
  fullUntil: 0,
  aloneUntil: 0,
  renewAt: 0,
});

/** Slots that are leased and not held. Below 0: more is held. */
export const countFree = ({ slots, endsAt, holds }: Pool, now: number): number => (endsAt > now ? slots : 0) - holds.size;

/** True when more slots are unused than may be. */
export const hasSurplus = (pool: Pool, now: number): boolean => countFree(pool, now) > pool.spare;

/** Takes a slot if there is one, or if the holder has one already. */
export function tryHold(pool: Pool, { id, life }: SlotHolder, { limit, now }: { readonly limit: number; readonly now: number }): boolean {
  const isThere = (): boolean => pool.holds.size < limit && (pool.aloneUntil > now || countFree(pool, now) > 0);
  if (!pool.holds.has(id) && !isThere()) {
    forgetLost(pool, now);
    if (!isThere()) return false;
  }
  hold(pool, { id, life }, now);
  return true;
}

/**
 * Forgets holders that are not heard of. What is lost here may run in another isolate, which has leased a slot for it beyond the limit. So its
 * slot is given back, and the tenant's object says whether it is free.
 */
function forgetLost(pool: Pool, now: number): void {
  const before = pool.holds.size;
  for (const [id, { heardAt }] of pool.holds) if (heardAt + HOLD_MS <= now) pool.holds.delete(id);
  if (pool.holds.size < before) pool.slots = Math.min(pool.slots, pool.holds.size);
}

/** Takes a slot, whether or not there is one. */
export const hold = (pool: Pool, { id, life }: SlotHolder, now: number): void => void pool.holds.set(id, { life, heardAt: now });

/** True when the holder had a slot. That of a later life stays. */
export const unhold = (pool: Pool, { id, life }: SlotHolder): boolean => pool.holds.get(id)?.life === life && pool.holds.delete(id);

/** True once the lease is so old that it should be renewed. */
export const isRenewalDue = (pool: Pool, now: number): boolean =>
  pool.renewAt <= now && pool.slots > 0 && pool.endsAt - now <= LEASE_MS - BEAT_MS;

/** Begins an ask: what it does not keep is given back from now on, whether or not the tenant's object hears of it. */
export function giveUp(pool: Pool, keep: number): void {
  pool.slots = Math.min(pool.slots, pool.holds.size + keep);
}

/** Applies what the tenant's object answered to an ask. */
export function applyLease(pool: Pool, { slots, spare }: SlotGrant, sentAt: number): void {
  pool.slots = slots;
  pool.spare = spare;
  pool.endsAt = sentAt + LEASE_MS;
}
