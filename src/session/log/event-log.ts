/** The session's append-only log. All functions are synchronous and run inside the caller's transaction. */
import { parseStoredEvent, type StoredRow, toStoredRow } from "../../domain/event-versions";
import type { Event, StoredEvent } from "../../domain/events";
import type { BodyId } from "../../domain/ids";
import type { ErasureCause } from "../../domain/retention-actions";
import type { Sql } from "./sql";

/** The events after `after`, in order of seq, at most `limit`. */
export function readEvents(sql: Sql, after: number, limit: number): StoredEvent[] {
  const query = "SELECT seq, at, type, version, data FROM events WHERE seq > ? ORDER BY seq LIMIT ?";
  return sql.all<StoredRow & Record<string, string | number>>(query, after, limit).map(parseStoredEvent);
}

/** What one statement of a fold reads: a row has up to 2 MB, and an object 128 MB of memory (docs/platform-facts.md). */
const FOLD_PAGE = { events: 500, units: 1_000_000 } as const;

/** Reads rows until they have that many UTF-16 units, and one row at least. */
const FOLD_QUERY = `SELECT seq, at, type, version, data FROM events WHERE seq > ?1 AND seq <= (
    SELECT max(seq) FROM (
      SELECT seq, sum(units) OVER (ORDER BY seq) - units AS before
      FROM (SELECT seq, length(data) AS units FROM events WHERE seq > ?1 ORDER BY seq LIMIT ?2) AS page
    ) AS page WHERE before < ?3
  ) ORDER BY seq`;

/** The log after `after` in order, with one page of it in memory. */
export function* eventsAfter(sql: Sql, after: number): Iterable<StoredEvent> {
  for (let seq = after; ; ) {
    const rows = sql.all<StoredRow & Record<string, string | number>>(FOLD_QUERY, seq, FOLD_PAGE.events, FOLD_PAGE.units);
    for (const row of rows) yield parseStoredEvent(row);
    const last = rows.at(-1);
    if (!last) return;
    seq = last.seq;
  }
}

/** The events before `before`, newest first, at most `limit`. */
export function readEventsBackwards(sql: Sql, before: number, limit: number): StoredEvent[] {
  const query = "SELECT seq, at, type, version, data FROM events WHERE seq < ? ORDER BY seq DESC LIMIT ?";
  return sql.all<StoredRow & Record<string, string | number>>(query, before, limit).map(parseStoredEvent);
}

export type ModelCallEvent = Extract<StoredEvent, { type: "ModelCallFinished" }>;

/**
 * The model calls after a seq (descending: before it). There is no index by type: the query reads the log in order, and
 * skips a few events for each call.
 */
export function readCalls(
  sql: Sql,
  page: { readonly after: number | null; readonly limit: number; readonly order: "asc" | "desc" },
): ModelCallEvent[] {
  const [compare, direction, start] = page.order === "asc" ? [">", "ASC", 0] : ["<", "DESC", Number.MAX_SAFE_INTEGER];
  const query = `SELECT seq, at, type, version, data FROM events
    WHERE type = 'ModelCallFinished' AND seq ${compare} ? ORDER BY seq ${direction} LIMIT ?`;
  const rows = sql.all<StoredRow & Record<string, string | number>>(query, page.after ?? start, page.limit);
  return rows.map(parseStoredEvent).filter((event) => event.type === "ModelCallFinished");
}

/** The number of calls that one query reads. */
const CALL_PAGE = 500;

/** The whole ledger in order, with one page of it in memory. */
export function* allCalls(sql: Sql): Iterable<ModelCallEvent> {
  for (let after: number | null = null; ; ) {
    const page: readonly ModelCallEvent[] = readCalls(sql, { after, limit: CALL_PAGE, order: "asc" });
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < CALL_PAGE) return;
    after = last.seq;
  }
}

type EpochEvent = Extract<StoredEvent, { type: "EpochChanged" }>;

/** The events that changed the view after one seq and up to another, in order. */
export function readEpochChanges(sql: Sql, { after, to }: { readonly after: number; readonly to: number }): EpochEvent[] {
  const query = `SELECT seq, at, type, version, data FROM events
    WHERE type = 'EpochChanged' AND seq > ? AND seq <= ? ORDER BY seq`;
  const rows = sql.all<StoredRow & Record<string, string | number>>(query, after, to);
  return rows.map(parseStoredEvent).filter((event) => event.type === "EpochChanged");
}

/** The seq of the newest redaction. Null: there was none. */
export function readNewestRedaction(sql: Sql): number | null {
  const query = "SELECT seq FROM events WHERE type = 'MessageRedacted' ORDER BY seq DESC LIMIT 1";
  return sql.all<{ seq: number }>(query)[0]?.seq ?? null;
}

/** What was redacted by request after a seq: the positions, and the summaries that went with them. */
export const readRedactedSince = (sql: Sql, seq: number): readonly Pick<RedactedEvent, "position" | "texts">[] => {
  const query = `SELECT data FROM events
    WHERE type = 'MessageRedacted' AND seq > ? AND json_extract(data, '$.cause') IS NULL ORDER BY seq`;
  return sql.all<{ data: string }>(query, seq).map(({ data }) => JSON.parse(data) as RedactedEvent);
};

type RedactedEvent = Extract<StoredEvent, { type: "MessageRedacted" }>;

type RunEvent = Extract<StoredEvent, { type: "ScheduleRan" }>;

/** The first run of a schedule behind a seq that started a turn. Null: there is none. Like `readCalls`, it reads the log from there on. */
export function findStartedRun(sql: Sql, after: number): RunEvent | null {
  const query = `SELECT seq, at, type, version, data FROM events
    WHERE type = 'ScheduleRan' AND seq > ? AND json_extract(data, '$.turn') IS NOT NULL ORDER BY seq LIMIT 1`;
  const [row] = sql.all<StoredRow & Record<string, string | number>>(query, after);
  const event = row && parseStoredEvent(row);
  return event?.type === "ScheduleRan" ? event : null;
}

/** Why the session was erased. Null: it was not. */
export function readErasureCause(sql: Sql): ErasureCause | null {
  const query = "SELECT json_extract(data, '$.cause') AS cause FROM events WHERE type = 'SessionErased' ORDER BY seq DESC LIMIT 1";
  const [row] = sql.all<{ cause: string | null }>(query);
  if (!row) return null;
  return row.cause === "retention" ? row.cause : "request";
}

/** Appends events from `from.seq + 1` on. The database refuses any other seq. */
export function appendEvents(sql: Sql, events: readonly Event[], from: { readonly seq: number; readonly at: number }): StoredEvent[] {
  return events.map((event, index) => {
    const row = toStoredRow(event, from.seq + 1 + index, from.at);
    sql.all("INSERT INTO events (seq, at, type, version, data) VALUES (?, ?, ?, ?, ?)", row.seq, row.at, row.type, row.version, row.data);
    return { ...event, seq: row.seq, at: row.at };
  });
}

const OWNER = "json_extract(data, '$.end_user')";
const OWNED = `FROM events WHERE type = 'ModelCallFinished' AND ${OWNER} IS NOT NULL`;

/** The bodies with the end users that calls are counted for, whether they exist or were deleted. */
export const listOwnerBodies = (sql: Sql): readonly BodyId[] =>
  sql.all<{ body: BodyId }>(`SELECT DISTINCT ${OWNER} AS body ${OWNED}`).map(({ body }) => body);

/** The positions of calls whose end user was forgotten. */
export const listNamelessCalls = (sql: Sql): readonly number[] =>
  sql.all<{ seq: number }>(`SELECT seq ${OWNED} AND ${OWNER} NOT IN (SELECT id FROM bodies) ORDER BY seq`).map(({ seq }) => seq);
