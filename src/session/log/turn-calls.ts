/** The model calls of one turn, and the state from which each request was built. */
import { parseStoredEvent, type StoredRow } from "../../domain/event-versions";
import { evolve } from "../../domain/evolve";
import type { TurnId } from "../../domain/ids";
import { initialState, type SessionState } from "../../domain/state";
import { readCheckpoint, stateAt } from "./checkpoints";
import { type ModelCallEvent, readEvents } from "./event-log";
import type { Sql } from "./sql";

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
