/** The model calls of one turn, and the state that each was built on. */
import { parseStoredEvent, type StoredRow } from "../../domain/event-versions";
import { evolve } from "../../domain/evolve";
import type { TurnId } from "../../domain/ids";
import { initialState, type SessionState } from "../../domain/state";
import { readCheckpoint, stateAt } from "./checkpoints";
import { type ModelCallEvent, readEvents } from "./event-log";
import type { Sql } from "./sql";

/** More than a turn's rounds, retries and lives come to. */
const MAX_CALLS = 1_000;

/** In the order in which they ended; calls for summaries and titles are no requests of a turn. */
export function readTurnCalls(sql: Sql, turn: TurnId): ModelCallEvent[] {
  const query = `SELECT seq, at, type, version, data FROM events
    WHERE type = 'ModelCallFinished' AND json_extract(data, '$.turn') = ? ORDER BY seq LIMIT ?`;
  const rows = sql.all<StoredRow & Record<string, string | number>>(query, turn, MAX_CALLS);
  return rows.map(parseStoredEvent).flatMap((event) => (event.type === "ModelCallFinished" && event.purpose === "turn" ? [event] : []));
}

/** What the call's request was read from. Call it in a transaction. Null: the log has no such state. */
export function stateOfCall(sql: Sql, call: ModelCallEvent): SessionState | null {
  return call.asked ? stateAt(sql, call.asked.seq) : findState(sql, call);
}

/**
 * An older build's call says only the epoch and the last position of what it sent: the last state before the call's end that shows both,
 * while its turn was open. What came in between has changed nothing that is sent.
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
