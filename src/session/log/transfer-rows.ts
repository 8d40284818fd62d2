/** The rows of a session as an export takes them, and as a restoration brings them back. */
import type { BodyRow, ExportPlace } from "../../app/transfer-api";
import { parseStoredEvent, type StoredRow } from "../../domain/event-versions";
import { evolve } from "../../domain/evolve";
import { initialState, type SessionState } from "../../domain/state";
import { isCheckpointDue, writeCheckpoint } from "./checkpoints";
import { isRestoring, RESTORING_KEY } from "./log-schema";
import { applyToTables } from "./log-tables";
import { writeSnapshot } from "./snapshots";
import type { Sql } from "./sql";

/** UTF-16 units of a page, apart from its last row. */
const PAGE_UNITS = 1_000_000;
/** Rows that one statement reads: a body's row has up to 500,000 units. */
const ROWS_AT_ONCE = 16;
const EVENTS_AT_ONCE = 200;

type RowOf<T> = T & Record<string, string | number>;
interface PlacedLine {
  readonly text: string;
  readonly place: ExportPlace;
}

const readRows = (sql: Sql, after: number): readonly RowOf<StoredRow>[] =>
  sql.all<RowOf<StoredRow>>("SELECT seq, at, type, version, data FROM events WHERE seq > ? ORDER BY seq LIMIT ?", after, EVENTS_AT_ONCE);

/** The event's data is put in as it is stored, so that it comes back byte for byte. */
const toEventLine = ({ seq, at, type, version, data }: StoredRow): string =>
  `{"type":"event","seq":${seq},"at":${at},"event":${JSON.stringify(type)},"version":${version},"data":${data}}`;

function* eventLines(sql: Sql, after: number): Iterable<PlacedLine> {
  for (let seq = after; ; ) {
    const rows = readRows(sql, seq);
    for (const row of rows) yield { text: toEventLine(row), place: { kind: "event", seq: row.seq } };
    const last = rows.at(-1);
    if (!last) return;
    seq = last.seq;
  }
}

function* bodyLines(sql: Sql, after: { readonly id: string; readonly part: number }): Iterable<PlacedLine> {
  for (let place = after; ; ) {
    const rows = sql.all<RowOf<BodyRow>>(
      "SELECT id, part, text FROM bodies WHERE (id, part) > (?, ?) ORDER BY id, part LIMIT ?",
      place.id,
      place.part,
      ROWS_AT_ONCE,
    );
    for (const { id, part, text } of rows)
      yield { text: JSON.stringify({ type: "body", id, part, text }), place: { kind: "body", id, part } };
    const last = rows.at(-1);
    if (!last) return;
    place = last;
  }
}

function* linesAfter(sql: Sql, place: ExportPlace): Iterable<PlacedLine> {
  if (place.kind === "file") return;
  if (place.kind === "event") yield* eventLines(sql, place.seq);
  yield* bodyLines(sql, place.kind === "body" ? place : { id: "", part: -1 });
}

/** The lines after `place`, events first. `done`: there are no more. */
export function readLines(sql: Sql, place: ExportPlace): { readonly lines: readonly PlacedLine[]; readonly done: boolean } {
  const lines: PlacedLine[] = [];
  let units = 0;
  for (const line of linesAfter(sql, place)) {
    if (units >= PAGE_UNITS) return { lines, done: false };
    lines.push(line);
    units += line.text.length;
  }
  return { lines, done: true };
}

export function stageRows(
  sql: Sql,
  { events, bodies }: { readonly events: readonly StoredRow[]; readonly bodies: readonly BodyRow[] },
): void {
  for (const { seq, at, type, version, data } of events)
    sql.all("INSERT INTO events (seq, at, type, version, data) VALUES (?, ?, ?, ?, ?)", seq, at, type, version, data);
  for (const { id, part, text } of bodies) sql.all("INSERT INTO bodies (id, part, text) VALUES (?, ?, ?)", id, part, text);
}

/**
 * Folds the staged log as each event was folded when it was new, and ends the restoration. Call it in a transaction: the
 * session is there as a whole or not at all. Throws where the log is not one that commands could have made.
 */
export function foldStaged(sql: Sql, accept: (state: SessionState) => boolean): SessionState | null {
  if (!isRestoring(sql)) return null;
  let state: SessionState = initialState;
  for (let rows = readRows(sql, 0); rows.length > 0; rows = readRows(sql, state.seq)) {
    for (const row of rows) {
      const event = parseStoredEvent(row);
      const before = state;
      state = evolve(before, event);
      applyToTables(sql, event, before);
      if (isCheckpointDue(before, state)) writeCheckpoint(sql, state);
    }
  }
  if (!accept(state)) return null;
  writeSnapshot(sql, state);
  sql.all("DELETE FROM meta WHERE key = ?", RESTORING_KEY);
  return state;
}
