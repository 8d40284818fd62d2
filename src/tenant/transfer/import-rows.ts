/** The tenant's imports of stored exports as rows: what was asked for, how far each is, and what became of each part of its file. */
import type { Act } from "../../app/audit-chain";
import type { NewImport } from "../../app/export-api";
import { IMPORT_START, type ImportPlace } from "../../app/transfer/import-file";
import type { ImportEntry, ImportView } from "../../contract/export";
import { SETTING_KINDS, SETTINGS_MODES } from "../../domain/export-format";
import { type ImportId, parseId } from "../../domain/ids";
import type { SyncSql } from "../../lib/sync-sql";

/** How long the report of an import is kept. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1_000;
/** A string that sorts after every import's id. */
const AFTER_EVERY_ID = "~";

type State = ImportView["status"];

interface ImportRow {
  readonly [column: string]: string | number | null;
  readonly id: string;
  readonly source: string;
  readonly export: string;
  readonly state: State;
  readonly mode: string;
  readonly allowed: string;
  readonly act: string;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly expires_at: number;
  readonly attempts: number;
  readonly bytes: number;
  readonly sessions: number | null;
  readonly place: string;
  readonly restored: number;
  readonly fault_line: number | null;
  readonly fault: string | null;
}

/** An import for which there is something to do. */
export interface DueImport extends Omit<NewImport, "sessions"> {
  readonly state: State;
  readonly attempts: number;
  readonly act: Act;
  readonly place: ImportPlace;
}

/** `line`: null, the fault is not the file's. */
interface Fault {
  readonly line: number | null;
  readonly detail: string;
}

function must<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error("A stored import is malformed");
  return value;
}

/** A place and an act are written by this file alone. */
const parsePlace = ({ place }: ImportRow): ImportPlace => JSON.parse(place) as ImportPlace;
const toMode = ({ mode }: ImportRow) => must(SETTINGS_MODES.find((each) => each === mode));

function toView(row: ImportRow): ImportView {
  const { start, sessions } = parsePlace(row);
  const { state: status, created_at, finished_at, expires_at, fault } = row;
  return {
    id: must(parseId("imp", row.id)),
    export_id: must(parseId("exp", row.export)),
    settings: toMode(row),
    status,
    bytes_read: status === "done" ? row.bytes : start.offset,
    bytes_total: row.bytes,
    sessions_done: sessions,
    sessions_restored: row.restored,
    sessions_total: row.sessions,
    error: fault === null ? null : { line: row.fault_line, detail: fault },
    created_at,
    finished_at,
    expires_at,
  };
}

function toDue(row: ImportRow): DueImport {
  return {
    id: must(parseId("imp", row.id)),
    source: { tenant: must(parseId("ten", row.source)), export: must(parseId("exp", row.export)) },
    bytes: row.bytes,
    mode: toMode(row),
    allowed: SETTING_KINDS.filter((kind) => row.allowed.split(" ").includes(kind)),
    state: row.state,
    attempts: row.attempts,
    act: JSON.parse(row.act) as Act,
    place: parsePlace(row),
  };
}

/** Methods that change rows are called inside a transaction. */
export type ImportRows = ReturnType<typeof createImportRows>;

export function createImportRows(sql: SyncSql) {
  const findRow = (id: ImportId): ImportRow | undefined => sql.rows<ImportRow>("SELECT * FROM imports WHERE id = ?", id)[0];
  return {
    find: (id: ImportId): ImportView | null => {
      const row = findRow(id);
      return row ? toView(row) : null;
    },
    count: (): number => sql.rows<{ n: number }>("SELECT count(*) AS n FROM imports")[0]?.n ?? 0,
    insert: ({ id, source, bytes, sessions, mode, allowed }: NewImport, act: Act, at: number): void => {
      sql.rows(
        `INSERT INTO imports (id, source, export, state, mode, allowed, act, created_at, expires_at, due_at, attempts, bytes, sessions, place, restored)
         VALUES (?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, 0)`,
        id,
        source.tenant,
        source.export,
        mode,
        allowed.join(" "),
        JSON.stringify(act),
        at,
        at + KEPT_MS,
        at,
        bytes,
        sessions,
        JSON.stringify(IMPORT_START),
      );
    },
    list: ({ after, limit }: { readonly after: ImportId | null; readonly limit: number }) => {
      const page = sql.rows<ImportRow>("SELECT * FROM imports WHERE id < ? ORDER BY id DESC LIMIT ?", after ?? AFTER_EVERY_ID, limit + 1);
      return { data: page.slice(0, limit).map(toView), has_more: page.length > limit };
    },
    report: (id: ImportId, { after, limit }: { readonly after: number; readonly limit: number }) => {
      const select = "SELECT entry FROM import_entries WHERE import = ? AND line > ? ORDER BY line LIMIT ?";
      const page = sql.rows<{ entry: string }>(select, id, after, limit + 1);
      return { data: page.slice(0, limit).map(({ entry }): ImportEntry => JSON.parse(entry)), has_more: page.length > limit };
    },
    isRunning: (id: ImportId): boolean => findRow(id)?.state === "running",
    /** The oldest import that is due: what was read of it is in memory, so that it goes on before another begins. */
    takeDue: (at: number): DueImport | null => {
      const [row] = sql.rows<ImportRow>("SELECT * FROM imports WHERE due_at <= ? ORDER BY id LIMIT 1", at);
      return row ? toDue(row) : null;
    },
    /** Notes how far an import is, with the entries of what was done since. */
    advance: (id: ImportId, { place, entries }: { readonly place: ImportPlace; readonly entries: readonly ImportEntry[] }): void => {
      const restored = entries.filter(({ status }) => status === "restored").length;
      sql.rows("UPDATE imports SET place = ?, restored = restored + ?, attempts = 0 WHERE id = ?", JSON.stringify(place), restored, id);
      for (const entry of entries)
        sql.rows("INSERT OR REPLACE INTO import_entries (import, line, entry) VALUES (?, ?, ?)", id, entry.line, JSON.stringify(entry));
    },
    /** Ends an import. Its report is kept until it expires. */
    end: (id: ImportId, at: number, fault: Fault | null): void =>
      void sql.rows(
        "UPDATE imports SET state = ?, finished_at = ?, due_at = expires_at, fault_line = ?, fault = ? WHERE id = ?",
        fault ? "failed" : "done",
        at,
        fault?.line ?? null,
        fault?.detail ?? null,
        id,
      ),
    setDue: (id: ImportId, due: number, failures: number): void =>
      void sql.rows("UPDATE imports SET due_at = ?, attempts = attempts + ? WHERE id = ?", due, failures, id),
    forget: (id: ImportId): void => {
      sql.rows("DELETE FROM import_entries WHERE import = ?", id);
      sql.rows("DELETE FROM imports WHERE id = ?", id);
    },
    nextDue: (): number | null => sql.rows<{ due: number | null }>("SELECT min(due_at) AS due FROM imports")[0]?.due ?? null,
  };
}
