/** The session's append-only log, with snapshots of its fold. Everything here is synchronous and inside the caller's transaction. */
import { parseStoredEvent, type StoredRow, toStoredRow } from "../../domain/event-versions";
import type { Event, StoredEvent } from "../../domain/events";
import { fold } from "../../domain/evolve";
import { initialState, type SessionState, STATE_VERSION } from "../../domain/state";
import { chunksOf } from "./bodies";
import { hasSchema } from "./log-schema";
import type { Sql } from "./sql";

/** Folding costs about 1.4 µs an event: so many are folded at most on a wake (docs/platform-facts.md). */
export const SNAPSHOT_EVERY_EVENTS = 500;

/** The events after `after` in order of seq, at most `limit`. */
export function readEvents(sql: Sql, after: number, limit: number): StoredEvent[] {
  const query = "SELECT seq, at, type, version, data FROM events WHERE seq > ? ORDER BY seq LIMIT ?";
  return sql.all<StoredRow & Record<string, string | number>>(query, after, limit).map(parseStoredEvent);
}

/** The events before `before`, newest first, at most `limit`. */
export function readEventsBackwards(sql: Sql, before: number, limit: number): StoredEvent[] {
  const query = "SELECT seq, at, type, version, data FROM events WHERE seq < ? ORDER BY seq DESC LIMIT ?";
  return sql.all<StoredRow & Record<string, string | number>>(query, before, limit).map(parseStoredEvent);
}

export type CallEvent = Extract<StoredEvent, { type: "ModelCallFinished" }>;

/**
 * The model calls after (descending: before) a seq. There is no index by type: what lies between two calls is passed over in the
 * log's own order, which is a few events for each call.
 */
export function readCalls(
  sql: Sql,
  page: { readonly after: number | null; readonly limit: number; readonly order: "asc" | "desc" },
): CallEvent[] {
  const [compare, direction, start] = page.order === "asc" ? [">", "ASC", 0] : ["<", "DESC", Number.MAX_SAFE_INTEGER];
  const query = `SELECT seq, at, type, version, data FROM events
    WHERE type = 'ModelCallFinished' AND seq ${compare} ? ORDER BY seq ${direction} LIMIT ?`;
  const rows = sql.all<StoredRow & Record<string, string | number>>(query, page.after ?? start, page.limit);
  return rows.map(parseStoredEvent).filter((event) => event.type === "ModelCallFinished");
}

/** Calls read at once. */
const CALL_PAGE = 500;

/** The whole ledger, in order, a page of it in memory. */
export function* allCalls(sql: Sql): Iterable<CallEvent> {
  for (let after: number | null = null; ; ) {
    const page: readonly CallEvent[] = readCalls(sql, { after, limit: CALL_PAGE, order: "asc" });
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < CALL_PAGE) return;
    after = last.seq;
  }
}

export type EpochEvent = Extract<StoredEvent, { type: "EpochChanged" }>;

/** What changed the view after one seq and up to another, in order. */
export function readEpochChanges(sql: Sql, { after, to }: { readonly after: number; readonly to: number }): EpochEvent[] {
  const query = `SELECT seq, at, type, version, data FROM events
    WHERE type = 'EpochChanged' AND seq > ? AND seq <= ? ORDER BY seq`;
  const rows = sql.all<StoredRow & Record<string, string | number>>(query, after, to);
  return rows.map(parseStoredEvent).filter((event) => event.type === "EpochChanged");
}

/** Appends at `state.seq + 1` on; the database refuses any other place. */
export function appendEvents(sql: Sql, events: readonly Event[], from: { readonly seq: number; readonly at: number }): StoredEvent[] {
  return events.map((event, index) => {
    const row = toStoredRow(event, from.seq + 1 + index, from.at);
    sql.all("INSERT INTO events (seq, at, type, version, data) VALUES (?, ?, ?, ?, ?)", row.seq, row.at, row.type, row.version, row.data);
    return { ...event, seq: row.seq, at: row.at };
  });
}

/** The newest snapshot of this build's state version, and the events since. */
export function loadState(sql: Sql): SessionState {
  if (!hasSchema(sql)) return initialState;
  const parts = sql.all<{ seq: number; text: string }>("SELECT seq, text FROM snapshots WHERE version = ? ORDER BY part", STATE_VERSION);
  const start = parts.length > 0 ? (JSON.parse(parts.map((part) => part.text).join("")) as SessionState) : initialState;
  return fold(readEvents(sql, start.seq, Number.MAX_SAFE_INTEGER), start);
}

export function writeSnapshot(sql: Sql, state: SessionState): void {
  sql.all("DELETE FROM snapshots");
  for (const [part, text] of chunksOf(JSON.stringify(state)).entries()) {
    sql.all("INSERT INTO snapshots (part, version, seq, text) VALUES (?, ?, ?, ?)", part, STATE_VERSION, state.seq, text);
  }
}
