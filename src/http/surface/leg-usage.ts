/** What the model calls of one leg used. A turn's report tells the usage of all of its legs together. */
import type { LedgerRow } from "../../contract/model-call";
import type { TurnReport } from "../../contract/turn";
import { type CallUsage, plusUsage } from "../../domain/model-call";
import type { SessionCalls } from "../session-calls";

/** The newest model calls of a session that are read. */
const MOST_CALLS = 1_000;

/** `after`: the position that the leg follows. Only a leg that follows results of calls asks the session for more. */
export async function readLegUsage(calls: SessionCalls, turn: TurnReport, after: number): Promise<CallUsage | null> {
  const since = turn.items.find(({ position }) => position === after)?.recorded_at;
  if (since === undefined) return turn.usage;
  const rows = await listReplyCalls(calls, turn);
  return rows ? sumCallUsage(rows.filter(({ at }) => at >= since)) : turn.usage;
}

/** The model calls of the turn's replies, oldest first. Null: they cannot be read now. */
export async function listReplyCalls(calls: SessionCalls, turn: TurnReport): Promise<readonly LedgerRow[] | null> {
  const page = await calls.repeatable((api, caller) => api.usage(caller, { after: null, limit: MOST_CALLS, order: "desc" }));
  return page.ok ? page.value.data.filter(({ turn_id, source }) => turn_id === turn.id && source === "turn").toReversed() : null;
}

/** Null: the provider of none of the calls told its usage. */
export const sumCallUsage = (rows: readonly LedgerRow[]): CallUsage | null =>
  rows.map(toCallUsage).reduce<CallUsage | null>(plusUsage, null);

function toCallUsage({ input, output, cached, reasoning, cache_write }: LedgerRow): CallUsage | null {
  if (input === null && output === null) return null;
  const known = { input: input ?? 0, output: output ?? 0, cached: cached ?? 0, reasoning: reasoning ?? 0 };
  return cache_write === null ? known : { ...known, cache_write };
}
