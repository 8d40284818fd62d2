/**
 * What remains of a session's ledger after its erasure: sums of its calls, without turn ids and without text. Invoices
 * must outlive the conversation.
 */
import { addToTotals, type CallTotals, type CountedCall, NO_CALLS } from "./call-totals";
import { type BodyId, type KeyId, parseId, type SessionId } from "./ids";
import type { CallPurpose } from "./model-call";

/** Length of a slot: 15 minutes. Every time zone's days begin at a multiple of it, so each slot belongs to one day in each zone. */
export const USAGE_SLOT_MS = 15 * 60_000;

/** The calls of one model, for one purpose, key and end user, that ended in the slot that starts at `at` (epoch milliseconds). */
export interface ErasedUsage extends CallTotals {
  readonly at: number;
  readonly model: string;
  readonly purpose: CallPurpose;
  /** Empty: none is known. */
  readonly key_id: string;
  /** Empty: the session had none, or the name was forgotten. */
  readonly end_user: string;
  /** How often names were forgotten in the session's sums. Absent: never. */
  readonly revision?: number;
}

const DAY_MS = 24 * 60 * 60_000;
/** Crockford's base32, the alphabet of ULIDs. */
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_LENGTH = 10;
/** The random part of a ULID that no session has. */
export const NO_SESSION = "0".repeat(16);

/**
 * The id under which the usage of throwaway sessions is kept, all those of a day (UTC) together. They are as many as there are requests, so that
 * none of them has sums of its own. It sorts among the sessions' ids, and names no session.
 */
export function toDaySession(at: number): SessionId {
  let rest = Math.max(0, Math.floor(at / DAY_MS) * DAY_MS);
  let time = "";
  for (let digit = 0; digit < TIME_LENGTH; digit++) {
    time = DIGITS.charAt(rest % DIGITS.length) + time;
    rest = Math.floor(rest / DIGITS.length);
  }
  const id = parseId("ses", `ses_${time}${NO_SESSION}`);
  if (!id) throw new TypeError("a day formed no id");
  return id;
}

interface LedgerCall extends CountedCall {
  readonly at: number;
  readonly model: string;
  readonly purpose: CallPurpose;
  readonly key?: KeyId;
  readonly end_user?: BodyId;
}

/** The name in a body. Null: the body was deleted. */
type ReadName = (body: BodyId) => string | null;

/** Sums per slot, model, purpose, key and end user, in the order of each group's first call. */
export function sumForErasure(calls: Iterable<LedgerCall>, readName: ReadName): readonly ErasedUsage[] {
  const sums = new Map<string, ErasedUsage>();
  for (const call of calls) {
    const { model, purpose, key: key_id = "" } = call;
    const end_user = (call.end_user && readName(call.end_user)) ?? "";
    const at = Math.floor(call.at / USAGE_SLOT_MS) * USAGE_SLOT_MS;
    const key = JSON.stringify([at, model, purpose, key_id, end_user]);
    const before = sums.get(key) ?? { at, model, purpose, key_id, end_user, ...NO_CALLS };
    sums.set(key, { ...before, ...addToTotals(before, call) });
  }
  return [...sums.values()];
}
