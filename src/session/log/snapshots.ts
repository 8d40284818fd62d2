/** Keeps the newest state, so that a wake folds only the events after it. There is one snapshot; each replaces the one before. */
import { initialState, type SessionState, STATE_VERSION } from "../../domain/state";
import { splitBody } from "./bodies";
import { statesAfter } from "./checkpoints";
import { hasSchema, isRestoring } from "./log-schema";
import { packState, unpackState } from "./packed-state";
import { keepIfRoom, type Sql } from "./sql";

/** Folding costs about 1.4 µs an event (docs/platform-facts.md). A wake that finds a small snapshot folds at most this many events. */
export const SNAPSHOT_EVERY_EVENTS = 500;
/**
 * A snapshot is due one event later for each of this many UTF-16 units in the newest one, so a large snapshot is
 * written less often. The snapshots of a session then grow with its log in total, and what a wake folds stays in
 * proportion to what it reads.
 */
const UNITS_AN_EVENT = 100;
/** A build with another state version folds the whole log. It keeps what it has folded each time that it has folded this many events. */
const FOLDED_AT_ONCE = 20_000;

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
  for (;;) {
    const loaded = loadPart(sql);
    if (loaded) return loaded;
  }
}

/** Folds a bounded part of the log, if what was folded can be kept. Null: it was kept, and more of the log follows. */
export function loadPart(sql: Sql): Loaded | null {
  if (!hasSchema(sql) || isRestoring(sql)) return { state: initialState, snapshot: NO_SNAPSHOT };
  const { state: start, snapshot } = readSnapshot(sql);
  const keep = (state: SessionState) => keepIfRoom(sql, () => writeSnapshot(sql, state));
  let last = start;
  for (const { state } of statesAfter(sql, start)) {
    last = state;
    if ((state.seq - start.seq) % FOLDED_AT_ONCE === 0 && keep(state)) return null;
  }
  const kept = isSnapshotDue(last, snapshot) ? keep(last) : null;
  return { state: last, snapshot: kept ?? snapshot };
}

/** The newest event in the newest snapshot of this build's state version. 0: there is none. */
export const readSnapshotSeq = (sql: Sql): number =>
  sql.all<{ seq: number }>("SELECT seq FROM snapshots WHERE version = ? LIMIT 1", STATE_VERSION)[0]?.seq ?? 0;

export function readSnapshot(sql: Sql): Loaded {
  const parts = sql.all<{ text: string }>("SELECT text FROM snapshots WHERE version = ? ORDER BY part", STATE_VERSION);
  const text = parts.map((part) => part.text).join("");
  const state = text === "" ? initialState : unpackState(sql, text);
  return { state, snapshot: { seq: state.seq, units: text.length } };
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
