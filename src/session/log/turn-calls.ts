/** The model calls of one turn, and the state with which it started. */
import { parseStoredEvent, type StoredRow } from "../../domain/event-versions";
import type { StoredEvent } from "../../domain/events";
import type { TurnId } from "../../domain/ids";
import type { AskedFor } from "../../domain/model-call";
import { initialState, type SessionState } from "../../domain/state";
import { readCheckpointBefore, statesAfter } from "./checkpoints";
import type { ModelCallEvent } from "./event-log";
import type { Sql } from "./sql";
import type { TurnRow } from "./turn-rows";

/** Above the number of calls that a turn's rounds, retries and lives can add up to. */
const MAX_CALLS = 1_000;

/** A turn's request, which says what it was built from. */
export type TurnCallEvent = ModelCallEvent & { readonly asked: AskedFor };

const isTurnCall = (event: StoredEvent): event is TurnCallEvent =>
  event.type === "ModelCallFinished" && event.purpose === "turn" && event.asked !== undefined;

/** The turn's requests in the order in which they ended, without calls for summaries and titles. */
export function readTurnCalls(sql: Sql, turn: TurnId): TurnCallEvent[] {
  const query = `SELECT seq, at, type, version, data FROM events
    WHERE type = 'ModelCallFinished' AND json_extract(data, '$.turn') = ? ORDER BY seq LIMIT ?`;
  const rows = sql.all<StoredRow & Record<string, string | number>>(query, turn, MAX_CALLS);
  return rows.map(parseStoredEvent).filter(isTurnCall);
}

/** The state with which the turn first started. Null when it has not, or its row is older than `from`. */
export function stateAtStart(sql: Sql, { id, from }: Pick<TurnRow, "id" | "from">): SessionState | null {
  if (from === 0) return null;
  // Whatever the turn answers was recorded before its first position.
  for (const { event, state } of statesAfter(sql, readCheckpointBefore(sql, from - 1) ?? initialState)) {
    if (event.type === "TurnStarted" && event.turn === id) return state;
  }
  return null;
}
