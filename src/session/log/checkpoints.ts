/**
 * States along the log, so that the state at any seq needs only a short fold. They are small (`packed-state`), and only
 * save time: all can be missing, and `stateAt` writes the missing ones that it folds past.
 */
import type { ViewBefore } from "../../context/revert-reset";
import type { StoredEvent } from "../../domain/events";
import { evolve } from "../../domain/evolve";
import { initialState, type SessionState, STATE_VERSION } from "../../domain/state";
import { eventsAfter } from "./event-log";
import { packState, unpackState } from "./packed-state";
import { keepIfRoom, type Sql } from "./sql";
import { toViewBefore } from "./views-before";

/** The most events between two checkpoints, apart from those that one transaction appends together. */
export const CHECKPOINT_EVERY_EVENTS = 250;
/** In UTF-16 units; below a row's 2 MB (docs/platform-facts.md). A larger state has thousands of calls waiting, and gets no checkpoint. */
const MAX_UNITS = 500_000;

export const isCheckpointDue = (before: SessionState, after: SessionState): boolean =>
  Math.floor(after.seq / CHECKPOINT_EVERY_EVENTS) > Math.floor(before.seq / CHECKPOINT_EVERY_EVENTS);

export function writeCheckpoint(sql: Sql, state: SessionState): void {
  const text = packState(state);
  if (text.length > MAX_UNITS) return;
  sql.all("DELETE FROM checkpoints WHERE version <> ?", STATE_VERSION);
  sql.all("INSERT OR REPLACE INTO checkpoints (seq, version, text) VALUES (?, ?, ?)", state.seq, STATE_VERSION, text);
}

/** The newest checkpoint of this build's state version at `seq` or before. Null when there is none. */
export function readCheckpoint(sql: Sql, seq: number): SessionState | null {
  return readNewestWhere(sql, "seq <= ?", seq);
}

/** The newest checkpoint from before `position` was given. Null when there is none. */
export const readCheckpointBefore = (sql: Sql, position: number): SessionState | null =>
  readNewestWhere(sql, "json_extract(text, '$.state.next_position') <= ?", position);

function readNewestWhere(sql: Sql, condition: string, param: number): SessionState | null {
  const query = `SELECT text FROM checkpoints WHERE ${condition} AND version = ? ORDER BY seq DESC LIMIT 1`;
  const row = sql.all<{ text: string }>(query, param, STATE_VERSION)[0];
  return row ? unpackState(sql, row.text) : null;
}

/** Each event after `start`, with the state that it led to. Writes the checkpoints that are missing on the way. */
export function* statesAfter(sql: Sql, start: SessionState): Iterable<{ readonly event: StoredEvent; readonly state: SessionState }> {
  let state = start;
  for (const event of eventsAfter(sql, start.seq)) {
    const [before, after] = [state, evolve(state, event)];
    state = after;
    if (isCheckpointDue(before, after) && !hasCheckpointFrom(sql, after.seq)) keepIfRoom(sql, () => writeCheckpoint(sql, after));
    yield { event, state: after };
  }
}

/** Whether the checkpoint is there that was due at `seq`: it was written at the end of its transaction. */
function hasCheckpointFrom(sql: Sql, seq: number): boolean {
  const query = "SELECT 1 AS one FROM checkpoints WHERE seq >= ? AND seq < ? AND version = ? LIMIT 1";
  return sql.all(query, seq, seq + CHECKPOINT_EVERY_EVENTS, STATE_VERSION).length > 0;
}

/** The view when `position` was the newest, folded from the log. */
export function viewWhenNewest(sql: Sql, position: number): ViewBefore {
  const start = readCheckpointBefore(sql, position) ?? initialState;
  return toViewBefore(foldUntil(sql, start, ({ next_position }) => next_position > position));
}

/** The state when `seq` was the newest event. */
export const stateAt = (sql: Sql, seq: number): SessionState =>
  foldUntil(sql, readCheckpoint(sql, seq) ?? initialState, (state) => state.seq >= seq);

/** Folds the log behind `start` until `isThere`, or to its end. */
function foldUntil(sql: Sql, start: SessionState, isThere: (state: SessionState) => boolean): SessionState {
  if (isThere(start)) return start;
  let last = start;
  for (const { state } of statesAfter(sql, start)) {
    last = state;
    if (isThere(state)) break;
  }
  return last;
}
