/** The rows of a session as an export takes them, and as a restoration brings them back. */
import type { BodyRow, ExportPlace } from "../../app/transfer-api";
import { parseStoredEvent, type StoredRow } from "../../domain/event-versions";
import { evolve } from "../../domain/evolve";
import { findLogFault } from "../../domain/log-check";
import type { SessionState } from "../../domain/state";
import { toErrorName } from "../../lib/error-name";
import { isStorageFull } from "../../lib/sync-sql";
import { isCheckpointDue, writeCheckpoint } from "./checkpoints";
import { isRestoring, RESTORING_KEY, readMeta } from "./log-schema";
import { applyToTables, readItems } from "./log-tables";
import { readSnapshot, readSnapshotSeq, writeSnapshot } from "./snapshots";
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

/** A part of the fold ends where it has folded so many events and items. */
const FOLDED_AT_ONCE = 1_000;

/** A fold of the staged log, as far as it came. */
interface Fold {
  readonly state: SessionState;
  /** When its last rows came. */
  readonly staged: string | null;
  /** All of the log is folded, and the restoration has ended. */
  readonly isWhole: boolean;
}

/** The staged log stops being one at this event. `detail` names no content. */
export class LogFault extends Error {
  override readonly name = "LogFault";
  readonly seq: number;
  readonly detail: string;

  constructor(seq: number, detail: string) {
    super(`event ${seq}: ${detail}`);
    this.seq = seq;
    this.detail = detail;
  }
}

/** The engine's and the fold's own words are not repeated, because they may quote content. */
function applyStaged(sql: Sql, row: StoredRow, before: SessionState): SessionState {
  try {
    const event = parseStoredEvent(row);
    const fault = findLogFault(before, event, { findItem: (position) => readItems(sql, at(position))[0]?.id ?? null });
    if (fault !== null) throw new LogFault(row.seq, fault);
    const state = evolve(before, event);
    applyToTables(sql, event, before);
    if (isCheckpointDue(before, state)) writeCheckpoint(sql, state);
    return state;
  } catch (error) {
    if (isStorageFull(error) || error instanceof LogFault) throw error;
    throw new LogFault(row.seq, `is not one that this version can have written (${toErrorName(error)})`);
  }
}

const at = (position: number) => ({ from: position, to: position, limit: 1, order: "asc" }) as const;

/**
 * Folds a part of the staged log, as each event was folded when it was new, and keeps how far it came. It goes on from `last`, or from what
 * another call or life has kept. The session counts as nothing until the last part. Null: the end is not accepted. Call it in a transaction.
 * Throws where the log is not one that commands could have made.
 */
export function foldStaged(sql: Sql, last: Fold | null, accept: (state: SessionState) => boolean): Fold | null {
  if (!isRestoring(sql)) return null;
  const staged = readMeta(sql, RESTORING_KEY);
  const isKept = last !== null && last.staged === staged && last.state.seq === readSnapshotSeq(sql);
  let { state } = isKept ? last : readSnapshot(sql);
  const most = state.seq + state.next_position + FOLDED_AT_ONCE;
  for (let rows = readRows(sql, state.seq); rows.length > 0; rows = readRows(sql, state.seq)) {
    for (const row of rows) {
      state = applyStaged(sql, row, state);
      if (state.seq + state.next_position < most) continue;
      writeSnapshot(sql, state);
      return { state, staged, isWhole: false };
    }
  }
  if (!accept(state)) return null;
  writeSnapshot(sql, state);
  sql.all("DELETE FROM meta WHERE key = ?", RESTORING_KEY);
  return { state, staged, isWhole: true };
}
