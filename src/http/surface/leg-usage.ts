/** What the model calls of one leg used. A turn's report tells the usage of all of its legs together. */
import type { DisplayItem } from "../../contract/item";
import type { LedgerRow } from "../../contract/model-call";
import type { TurnReport } from "../../contract/turn";
import { type CallUsage, plusUsage } from "../../domain/model-call";
import type { SessionCalls } from "../session-calls";

/** The newest model calls of a session that are read. */
const MOST_CALLS = 1_000;

interface LegSpan {
  /** The position that the leg follows. */
  readonly after: number;
  /** When the next leg of the turn began. Null: the leg is the turn's last. */
  readonly until: number | null;
}

/** Only a leg that is not its whole turn asks the session for more. */
export async function readLegUsage(calls: SessionCalls, turn: TurnReport, { after, until }: LegSpan): Promise<CallUsage | null> {
  const before = turn.items.find(({ position }) => position === after) ?? (await readLeftOut(calls, turn, after));
  if (!before && until === null) return turn.usage;
  const rows = await listReplyCalls(calls, turn);
  if (!rows) return turn.usage;
  // A reply that was told before has its own call, which ends as the reply is recorded.
  const isBehind = (at: number): boolean => !before || (before.role === "assistant" ? at > before.recorded_at : at >= before.recorded_at);
  return sumCallUsage(rows.filter(({ at }) => isBehind(at) && (until === null || at < until)));
}

/** The turn's message at `position`, which its report may leave out. */
async function readLeftOut(calls: SessionCalls, turn: TurnReport, position: number): Promise<DisplayItem | undefined> {
  if (!turn.items_truncated) return undefined;
  const page = await calls.repeatable((api, caller) => api.items(caller, { after: position - 1, limit: 1, order: "asc" }));
  return page.ok ? page.value.data.find((item) => item.position === position && item.turn_id === turn.id) : undefined;
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
