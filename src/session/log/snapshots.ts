/** Keeps the newest state, so that a wake folds only the events after it. There is one snapshot; each replaces the one before. */
import { fold } from "../../domain/evolve";
import { initialState, type SessionState, STATE_VERSION } from "../../domain/state";
import { splitBody } from "./bodies";
import { readEvents } from "./event-log";
import { hasSchema, isRestoring } from "./log-schema";
import { packState, unpackState } from "./packed-state";
import type { Sql } from "./sql";

/** Folding costs about 1.4 µs an event (docs/platform-facts.md). A wake that finds a small snapshot folds at most this many events. */
export const SNAPSHOT_EVERY_EVENTS = 500;
/**
 * A snapshot is due one event later for each of this many UTF-16 units in the newest one, so a large snapshot is
 * written less often. The snapshots of a session then grow with its log in total, and what a wake folds stays in
 * proportion to what it reads.
 */
const UNITS_AN_EVENT = 100;

/** Position and size of the newest snapshot, which decide when the next one is due. */
interface SnapshotMark {
  readonly seq: number;
  readonly units: number;
}

export const NO_SNAPSHOT: SnapshotMark = { seq: 0, units: 0 };

interface Loaded {
  readonly state: SessionState;
  readonly snapshot: SnapshotMark;
}

/** Loads the newest snapshot of this build's state version, and folds the events since. */
export function loadState(sql: Sql): Loaded {
  if (!hasSchema(sql) || isRestoring(sql)) return { state: initialState, snapshot: NO_SNAPSHOT };
  const parts = sql.all<{ text: string }>("SELECT text FROM snapshots WHERE version = ? ORDER BY part", STATE_VERSION);
  const text = parts.map((part) => part.text).join("");
  const start = text === "" ? initialState : unpackState(sql, text);
  const state = fold(readEvents(sql, start.seq, Number.MAX_SAFE_INTEGER), start);
  return { state, snapshot: { seq: start.seq, units: text.length } };
}

export const isSnapshotDue = ({ seq }: SessionState, newest: SnapshotMark): boolean =>
  seq - newest.seq >= Math.max(SNAPSHOT_EVERY_EVENTS, newest.units / UNITS_AN_EVENT);

export function writeSnapshot(sql: Sql, state: SessionState): SnapshotMark {
  const text = packState(state);
  sql.all("DELETE FROM snapshots");
  for (const [part, chunk] of splitBody(text).entries()) {
    sql.all("INSERT INTO snapshots (part, version, seq, text) VALUES (?, ?, ?, ?)", part, STATE_VERSION, state.seq, chunk);
  }
  return { seq: state.seq, units: text.length };
}
