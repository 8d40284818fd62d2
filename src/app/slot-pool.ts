/** What one isolate has of one subject's slots: its leases, and who holds them. */
import { BEAT_MS, HOLD_MS, isTight, LEASE_MS, type SlotAnswer, type SlotGrant, type SlotKeep } from "./slot-grants";

/** What holds slots. `life`: one life of it in memory. A later life takes over what an earlier one held. */
export interface SlotHolder {
  readonly id: string;
  readonly life: string;
}

/** `ends_at`: by this isolate's clock. One that has ended may still be renewed, as long as the tenant's object has it. */
interface Lease {
  slots: number;
  endsAt: number;
}

export interface Pool {
  readonly leases: Map<string, Lease>;
  /** Leases that were given back, of which the tenant's object has not confirmed it. */
  readonly returned: Set<string>;
  readonly holds: Map<string, { readonly life: string; readonly heardAt: number }>;
  /** Few slots were left when the tenant's object was last asked. */
  isTight: boolean;
  /** The most that were held at one time since the leases were last renewed. */
  peak: number;
  /** Until when the tenant's object is not asked: it had no slot left. */
  fullUntil: number;
  /** Until when this isolate goes on as if it were the only one: the tenant's object was out of reach. */
  aloneUntil: number;
  /** Until when an ask is under way, or was lost. */
  askingUntil: number;
  renewAt: number;
}

export const newPool = (): Pool => ({
  leases: new Map(),
  returned: new Set(),
  holds: new Map(),
  isTight: false,
  peak: 0,
  fullUntil: 0,
  aloneUntil: 0,
  askingUntil: 0,
  renewAt: 0,
});

/** Slots that are leased and not held. Below 0: more is held. */
export function countFree({ leases, holds }: Pool, now: number): number {
  let slots = -holds.size;
  for (const lease of leases.values()) if (lease.endsAt > now) slots += lease.slots;
  return slots;
}

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
  if (pool.holds.size < before) shrinkTo(pool, pool.holds.size);
}

/** Takes a slot, whether or not there is one. */
export function hold(pool: Pool, { id, life }: SlotHolder, now: number): void {
  pool.holds.set(id, { life, heardAt: now });
  pool.peak = Math.max(pool.peak, pool.holds.size);
}

/** True when the holder had a slot. That of a later life stays. */
export const unhold = (pool: Pool, { id, life }: SlotHolder): boolean => pool.holds.get(id)?.life === life && pool.holds.delete(id);

/**
 * Gives back what is leased beyond these slots, first of the leases that end first, also those that have ended here and not in the tenant's
 * object. It takes effect here at once, and in the tenant's object with the next call.
 */
export function shrinkTo(pool: Pool, slots: number): void {
  const leases = [...pool.leases].sort(([, one], [, other]) => one.endsAt - other.endsAt);
  let surplus = leases.reduce((sum, [, lease]) => sum + lease.slots, 0) - slots;
  for (const [id, lease] of leases) {
    if (surplus <= 0) return;
    const taken = Math.min(surplus, lease.slots);
    surplus -= taken;
    lease.slots -= taken;
    if (lease.slots > 0) continue;
    pool.leases.delete(id);
    pool.returned.add(id);
  }
}

/** True once a lease is so old that it should be renewed. */
export const isRenewalDue = (pool: Pool, now: number): boolean =>
  pool.renewAt <= now && [...pool.leases.values()].some(({ endsAt }) => endsAt - now <= LEASE_MS - BEAT_MS);

export const listKeeps = ({ leases, returned }: Pool): SlotKeep[] => [
  ...[...leases].map(([lease, { slots }]) => ({ lease, slots })),
  ...[...returned].map((lease) => ({ lease, slots: 0 })),
];

/** Applies what the tenant's object answered to `sent`. A lease that it does not have any more has ended. */
export function applyKept(pool: Pool, sent: readonly SlotKeep[], { kept }: SlotAnswer, sentAt: number): void {
  const slots = new Map(kept.map((one) => [one.lease, one.slots]));
  for (const { lease: id, slots: asked } of sent) {
    if (asked === 0) pool.returned.delete(id);
    const lease = pool.leases.get(id);
    const known = slots.get(id);
    if (!lease) continue;
    if (known === undefined) pool.leases.delete(id);
    else pool.leases.set(id, { slots: Math.min(lease.slots, known), endsAt: Math.max(lease.endsAt, sentAt + LEASE_MS) });
  }
}

export function addLease(
  pool: Pool,
  { lease, slots, left }: SlotGrant,
  { limit, sentAt }: { readonly limit: number; readonly sentAt: number },
): void {
  if (slots > 0) pool.leases.set(lease, { slots, endsAt: sentAt + LEASE_MS });
  pool.isTight = isTight(limit, left);
}
