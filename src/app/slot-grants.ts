/**
 * Turns and streams that are under way take slots, of which a tenant, a key and an end user have a number. The tenant's object leases slots to
 * isolates: each isolate has one lease of a subject, which its next ask replaces, and which ends by itself when its isolate does not renew it. Asks are
 * numbered, and an older one changes nothing. So calls that are lost, late or repeated never make the slots of all leases more than the limit.
 *
 * What an isolate has beyond what it uses it gives back at once, but for its spare slots. All spare slots together are at most a tenth of the
 * limit, however many isolates there are: so no turn is refused while less than nine tenths of the limit run.
 */
import type { LimitSet } from "../contract/limits";
import { countBeside } from "./rate-grants";

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
  /** Counts the asks of the isolate. A repeated ask has its number again. */
  readonly number: number;
  /** The most slots of all leases. */
  readonly limit: number;
  /** Slots that are used already. They are leased beyond the limit, too. */
  readonly use: number;
  /** Slots of the lease that are not used, and that the isolate goes on with while it asks. All others it gives back. */
  readonly keep: number;
  /** Slots that would be used at once. */
  readonly need: number;
  /** How many spare slots the isolate would have. */
  readonly spare: number;
}

/** One call of an isolate. */
export interface SlotCall {
  /** The isolate's id. */
  readonly isolate: string;
  readonly asks: readonly SlotAsk[];
}

/** The isolate's lease of a subject from now on. */
export interface SlotGrant {
  readonly slots: number;
  /** How many of the slots the isolate may have unused. */
  readonly spare: number;
}

/** Plans a lease. `own`: the lease until now. `others`: the sums of all other leases. */
export function planLease(ask: Pick<SlotAsk, "limit" | "use" | "keep" | "need" | "spare">, own: SlotGrant, others: SlotGrant): SlotGrant {
  const free = Math.max(0, ask.limit - others.slots - ask.use);
  const kept = Math.min(ask.keep, own.spare, free);
  const granted = Math.min(ask.need, free - kept);
  const spare = Math.max(kept, Math.min(ask.spare, countBeside(ask.limit, others.spare)));
  // Half of the spare slots are leased now, so that more and fewer can be used without a call.
  const beside = Math.min(Math.max(0, Math.floor(spare / 2) - kept), free - kept - granted);
  const slots = ask.use + kept + granted + beside;
  return { slots, spare: Math.min(spare, slots, Math.max(0, ask.limit - others.slots)) };
}
