/**
 * States along the log, so that the state at any seq needs only a short fold. They are small (`packed-state`), and only
 * save time: all can be missing, and `stateAt` writes the missing ones that it folds past.
 */
import type { ViewBefore } from "../../context/revert-reset";
import { evolve, fold } from "../../domain/evolve";
import { initialState, type SessionState, STATE_VERSION } from "../../domain/state";
import { readEvents } from "./event-log";
import { packState, unpackState } from "./packed-state";
import type { Sql } from "./sql";
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

/** The view when `position` was the newest, folded from the log. */
export function viewWhenNewest(sql: Sql, position: number): ViewBefore {
  let state = readCheckpointBefore(sql, position) ?? initialState;
  while (state.next_position <= position) {
    const page = readEvents(sql, state.seq, CHECKPOINT_EVERY_EVENTS);
    if (page.length === 0) break;
    for (const event of page) {
      if (state.next_position > position) break;
      state = evolve(state, event);
    }
  }
  return toViewBefore(state);
}

/** Folds the log up to `seq`. Call it in a transaction: it may write checkpoints. */
export function stateAt(sql: Sql, seq: number): SessionState {
  let state = readCheckpoint(sql, seq) ?? initialState;
  while (state.seq < seq) {
    const events = readEvents(sql, state.seq, Math.min(CHECKPOINT_EVERY_EVENTS, seq - state.seq));
    if (events.length === 0) break;
    state = fold(events, state);
    if (events.length === CHECKPOINT_EVERY_EVENTS && !sql.isFull()) writeCheckpoint(sql, state);
  }
  return state;
}
