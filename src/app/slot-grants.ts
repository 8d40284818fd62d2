/**
 * Turns and streams that are under way take slots, of which a tenant, a key and an end user have a number. The tenant's object grants slots
 * to isolates in leases: each lease is granted once, can be renewed and made smaller, and ends by itself when its isolate does not renew it.
 * So calls that are lost, late or repeated never make the slots of all leases more than the limit.
 */
import type { LimitSet } from "../contract/limits";

/** How long an isolate uses a lease, from when it asked. */
export const LEASE_MS = 60_000;
/** How often what holds slots reports that it runs. A lease outlives two reports that are lost. */
export const BEAT_MS = 15_000;
/** What is not heard of for so long has lost its slots. */
export const HOLD_MS = 60_000;
/** How much longer the tenant's object keeps it, from when it answered. */
export const LEASE_MARGIN_MS = 10_000;

/** What is counted, and for whom. `id`: of the key or the end user; empty for the tenant itself. */
export interface SlotSubject {
  readonly what: "turns" | "streams";
  readonly of: keyof LimitSet;
  readonly id: string;
}

export interface SlotAsk extends SlotSubject {
  /** The id of the new lease. An ask that is repeated has the same. */
  readonly lease: string;
  /** The most slots of all leases. */
  readonly limit: number;
  /** Slots that are used at once. */
  readonly need: number;
  /** Slots to have, so that others need not be asked for. At least `need`. */
  readonly want: number;
  /** What needs the slots runs already: they are granted beyond the limit, too. */
  readonly isRunning: boolean;
}

/** Slots of a lease that its isolate still uses. 0: none, and the lease ends. */
export interface SlotKeep {
  readonly lease: string;
  readonly slots: number;
}

/** One call of an isolate: first what it keeps of its leases, then what it asks for. */
export interface SlotCall {
  readonly keeps: readonly SlotKeep[];
  readonly asks: readonly SlotAsk[];
}

export interface SlotGrant extends SlotKeep {
  /** Slots that no lease has. */
  readonly left: number;
}

export interface SlotAnswer {
  /** The entries of `keeps` whose lease has not ended. */
  readonly kept: readonly SlotKeep[];
  /** In the order of `asks`. */
  readonly grants: readonly SlotGrant[];
}

/** Under a limit below this number, an isolate leases only the slots that it uses. */
const SMALL_LIMIT = 20;

/** True when so few slots are left, less than a quarter, that an isolate should have no more than it uses. */
export const isTight = (limit: number, left: number): boolean => limit < SMALL_LIMIT || left * 4 < limit;

/** Plans a lease: what is needed, and where many slots are left at most half of them beside it. `granted`: slots of all other leases. */
export function planLease(
  { limit, need, want, isRunning }: Omit<SlotAsk, keyof SlotSubject | "lease">,
  granted: number,
): Pick<SlotGrant, "slots" | "left"> {
  const free = Math.max(0, limit - granted);
  const needed = isRunning ? need : Math.min(need, free);
  const left = Math.max(0, free - needed);
  const beside = isTight(limit, left) ? 0 : Math.min(Math.max(0, want - need), Math.floor(left / 2));
  return { slots: needed + beside, left: left - beside };
}
