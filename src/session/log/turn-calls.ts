/** The model calls of one turn, the state from which each request was built, and the state with which the turn started. */
import { parseStoredEvent, type StoredRow } from "../../domain/event-versions";
import { evolve } from "../../domain/evolve";
import type { TurnId } from "../../domain/ids";
import { initialState, type SessionState } from "../../domain/state";
import { CHECKPOINT_EVERY_EVENTS, readCheckpoint, readCheckpointBefore, stateAt } from "./checkpoints";
import { type ModelCallEvent, readEvents } from "./event-log";
import type { Sql } from "./sql";
import type { TurnRow } from "./turn-rows";

/** Above the number of calls that a turn's rounds, retries and lives can add up to. */
const MAX_CALLS = 1_000;

/** The turn's requests in the order in which they ended, without calls for summaries and titles. */
export function readTurnCalls(sql: Sql, turn: TurnId): ModelCallEvent[] {
  const query = `SELECT seq, at, type, version, data FROM events
    WHERE type = 'ModelCallFinished' AND json_extract(data, '$.turn') = ? ORDER BY seq LIMIT ?`;
  const rows = sql.all<StoredRow & Record<string, string | number>>(query, turn, MAX_CALLS);
  return rows.map(parseStoredEvent).flatMap((event) => (event.type === "ModelCallFinished" && event.purpose === "turn" ? [event] : []));
}

/** The state from which the call's request was built. Call it in a transaction. Null when the log has no such state. */
export function stateOfCall(sql: Sql, call: ModelCallEvent): SessionState | null {
  return call.asked ? stateAt(sql, call.asked.seq) : findState(sql, call);
}

/**
 * A call of an older build names only its epoch and the last position that it sent. This finds the last state before
 * the call's end that has both, while its turn was open. Events in between changed nothing that is sent.
 */
function findState(sql: Sql, call: ModelCallEvent): SessionState | null {
  const isOfCall = ({ view, next_position, turn }: SessionState): boolean =>
    view.epoch === call.epoch && next_position - 1 === call.up_to && turn?.id === call.turn;
  stateAt(sql, call.seq - 1);
  for (let last = call.seq - 1; last > 0; ) {
    let state = readCheckpoint(sql, last) ?? initialState;
    const from = state.seq;
    let found = isOfCall(state) ? state : null;
    for (const event of readEvents(sql, from, last - from)) {
      state = evolve(state, event);
      if (isOfCall(state)) found = state;
    }
    if (found) return found;
    last = from - 1;
  }
  return null;
}

/** The state with which the turn first started. Null when it has not, or its row is older than `from`. */
export function stateAtStart(sql: Sql, { id, from }: Pick<TurnRow, "id" | "from">): SessionState | null {
  if (from === 0) return null;
  // Whatever the turn answers was recorded before its first position.
  let state = readCheckpointBefore(sql, from - 1) ?? initialState;
  for (;;) {
    const events = readEvents(sql, state.seq, CHECKPOINT_EVERY_EVENTS);
    if (events.length === 0) return null;
    for (const event of events) {
      state = evolve(state, event);
      if (event.type === "TurnStarted" && event.turn === id) return state;
    }
  }
}
