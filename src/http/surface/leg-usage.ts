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
  const page = { after: null, limit: MOST_CALLS, order: "desc" } as const;
  const rows = await calls.repeatable((api, caller) => api.usage(caller, page));
  if (!rows.ok) return turn.usage;
  const used = rows.value.data.filter(({ turn_id, source, at }) => turn_id === turn.id && source === "turn" && at >= since);
  return used.map(toCallUsage).reduce<CallUsage | null>(plusUsage, null);
}

function toCallUsage({ input, output, cached, reasoning, cache_write }: LedgerRow): CallUsage | null {
  if (input === null && output === null) return null;
  const known = { input: input ?? 0, output: output ?? 0, cached: cached ?? 0, reasoning: reasoning ?? 0 };
  return cache_write === null ? known : { ...known, cache_write };
}
