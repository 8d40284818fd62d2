/** The tenant's exports as rows: what was asked for, which parts are stored, and which sessions they hold. */

import type { ExportState, ExportSubject, StoredPart } from "../../app/export-api";
import { EXPORT_START, type ExportCursor } from "../../app/transfer/build-part";
import { SETTING_KINDS, type SettingKind } from "../../domain/export-format";
import { type ExportId, parseId, type SessionId } from "../../domain/ids";
import { toFiller } from "../../lib/scrub/filler";
import type { SyncSql } from "../../lib/sync-sql";
import { toSessionId } from "../shared/directory";

/** How long an export is kept. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1_000;
/** A string that sorts after every export's id. */
const AFTER_EVERY_ID = "~";

type State = "running" | "ready" | "failed" | "removed";

interface ExportRow {
  readonly [column: string]: string | number | null;
  readonly id: string;
  readonly subject_kind: string;
  readonly subject: string;
  readonly state: State;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly expires_at: number;
  readonly attempts: number;
  readonly sessions_total: number;
  readonly upload: string | null;
  readonly cursor: string;
  readonly bytes: number;
  readonly revision: number;
  readonly settings: string;
}

/** An export for which there is something to do. */
export interface DueExport extends Pick<ExportRow, "state" | "created_at" | "attempts" | "upload" | "revision" | "expires_at"> {
  readonly id: ExportId;
  readonly subject: ExportSubject;
  readonly settings: readonly SettingKind[];
  readonly cursor: ExportCursor;
  /** How many parts are stored, and the digest of the last. */
  readonly parts: number;
  readonly previous: string;
}

interface NewPart {
  readonly part: StoredPart;
  readonly sha256: string;
  readonly bytes: number;
  readonly cursor: ExportCursor;
  readonly begun: readonly { readonly session: SessionId; readonly seq: number }[];
}

function toExportId(text: string): ExportId {
  const id = parseId("exp", text);
  if (!id) throw new Error("A stored export id is malformed");
  return id;
}

/** A cursor is written by this file alone. */
const parseCursor = (text: string): ExportCursor => JSON.parse(text) as ExportCursor;

function toSubject({ subject_kind, subject }: ExportRow): ExportSubject {
  if (subject_kind === "session") return { of: "session", session_id: toSessionId(subject) };
  return subject_kind === "end_user" ? { of: "end_user", end_user: subject } : { of: "tenant" };
}

const toKinds = ({ settings }: ExportRow): readonly SettingKind[] => SETTING_KINDS.filter((kind) => settings.split(" ").includes(kind));

function toState(row: ExportRow): ExportState {
  const subject = toSubject(row);
  return {
    id: toExportId(row.id),
    of: subject.of,
    session_id: subject.of === "session" ? subject.session_id : null,
    end_user: subject.of === "end_user" ? subject.end_user : null,
    settings: toKinds(row),
    status: row.state === "removed" ? "failed" : row.state,
    sessions_done: parseCursor(row.cursor).looked,
    sessions_total: row.sessions_total,
    bytes: row.bytes,
    created_at: row.created_at,
    finished_at: row.finished_at,
    expires_at: row.expires_at,
  };
}

const toSubjectText = (subject: ExportSubject): string =>
  subject.of === "session" ? subject.session_id : subject.of === "end_user" ? subject.end_user : "";

/** Methods that change rows are called inside a transaction. */
export type ExportRows = ReturnType<typeof createExportRows>;

export function createExportRows(sql: SyncSql) {
  const findRow = (id: string): ExportRow | null =>
    sql.rows<ExportRow>("SELECT * FROM exports WHERE id = ? AND state <> 'removed'", id)[0] ?? null;
  const find = (id: ExportId): ExportState | null => {
    const row = findRow(id);
    return row && toState(row);
  };
  const parts = (id: string): readonly StoredPart[] =>
    sql.rows<{ number: number; etag: string }>("SELECT number, etag FROM export_parts WHERE export = ? ORDER BY number", id);
  const setState = (id: string, state: State, due: number): void =>
    void sql.rows("UPDATE exports SET state = ?, due_at = ?, attempts = 0, revision = revision + 1 WHERE id = ?", state, due, id);
  /** Goes back to where part `number` begins. */
  const rewind = (id: string, number: number, at: number): void => {
    const [part] = sql.rows<{ cursor: string }>("SELECT cursor FROM export_parts WHERE export = ? AND number = ?", id, number);
    if (part) sql.rows("UPDATE exports SET cursor = ? WHERE id = ?", part.cursor, id);
    sql.rows("DELETE FROM export_parts WHERE export = ? AND number >= ?", id, number);
    sql.rows("DELETE FROM export_sessions WHERE export = ? AND part >= ?", id, number);
    sql.rows(
      `UPDATE exports SET bytes = (SELECT coalesce(sum(bytes), 0) FROM export_parts WHERE export = id), due_at = ?, revision = revision + 1 WHERE id = ?`,
      at,
      id,
    );
  };
  return {
    find,
    parts,
    setState,
    rewind,
    count: (): number => sql.rows<{ n: number }>("SELECT count(*) AS n FROM exports WHERE state <> 'removed'")[0]?.n ?? 0,
    insert: ({
      id,
      subject,
      settings,
      total,
      at,
    }: {
      readonly id: ExportId;
      readonly subject: ExportSubject;
      readonly settings: readonly SettingKind[];
      readonly total: number;
      readonly at: number;
    }) => {
      sql.rows(
        `INSERT INTO exports (id, subject_kind, subject, state, created_at, expires_at, due_at, attempts, sessions_total, cursor, bytes, revision, settings)
         VALUES (?, ?, ?, 'running', ?, ?, ?, 0, ?, ?, 0, 0, ?)`,
        id,
        subject.of,
        toSubjectText(subject),
        at,
        at + KEPT_MS,
        at,
        total,
        JSON.stringify(EXPORT_START),
        settings.join(" "),
      );
    },
    list: ({ after, limit }: { readonly after: ExportId | null; readonly limit: number }) => {
      const rows = sql.rows<ExportRow>(
        "SELECT * FROM exports WHERE state <> 'removed' AND id < ? ORDER BY id DESC LIMIT ?",
        after ?? AFTER_EVERY_ID,
        limit + 1,
      );
      return { data: rows.slice(0, limit).map(toState), has_more: rows.length > limit };
    },
    /** The export that has been due for the longest. */
    takeDue: (at: number): DueExport | null => {
      const [row] = sql.rows<ExportRow>("SELECT * FROM exports WHERE due_at <= ? ORDER BY due_at, id LIMIT 1", at);
      if (!row) return null;
      const [last] = sql.rows<{ number: number; sha256: string }>(
        "SELECT number, sha256 FROM export_parts WHERE export = ? ORDER BY number DESC LIMIT 1",
        row.id,
      );
      const { state, created_at, attempts, upload, revision, expires_at } = row;
      const facts = { id: toExportId(row.id), state, created_at, attempts, upload, revision, expires_at };
      return {
        ...facts,
        subject: toSubject(row),
        settings: toKinds(row),
        cursor: parseCursor(row.cursor),
        parts: last?.number ?? 0,
        previous: last?.sha256 ?? "",
      };
    },
    /** True while nothing was taken back since the revision was read. */
    isCurrent: (id: ExportId, revision: number): boolean =>
      sql.rows("SELECT 1 FROM exports WHERE id = ? AND revision = ? AND state = 'running'", id, revision).length > 0,
    noteUpload: (id: ExportId, upload: string | null) => void sql.rows("UPDATE exports SET upload = ? WHERE id = ?", upload, id),
    addPart: (id: ExportId, { part, sha256, bytes, cursor, begun }: NewPart, before: ExportCursor) => {
      sql.rows(
        "INSERT INTO export_parts (export, number, etag, cursor, sha256, bytes) VALUES (?, ?, ?, ?, ?, ?)",
        id,
        part.number,
        part.etag,
        JSON.stringify(before),
        sha256,
        bytes,
      );
      for (const { session, seq } of begun)
        sql.rows("INSERT OR REPLACE INTO export_sessions (export, session, part, seq) VALUES (?, ?, ?, ?)", id, session, part.number, seq);
      sql.rows("UPDATE exports SET cursor = ?, bytes = bytes + ?, attempts = 0 WHERE id = ?", JSON.stringify(cursor), bytes, id);
    },
    end: (id: ExportId, at: number, expires: number) =>
      void sql.rows(
        "UPDATE exports SET state = 'ready', finished_at = ?, due_at = ?, attempts = 0, upload = NULL WHERE id = ?",
        at,
        expires,
        id,
      ),
    postpone: (id: ExportId, due: number) => void sql.rows("UPDATE exports SET attempts = attempts + 1, due_at = ? WHERE id = ?", due, id),
    upload: (id: ExportId) => sql.rows<{ upload: string | null }>("SELECT upload FROM exports WHERE id = ?", id)[0]?.upload ?? null,
    exists: (id: ExportId): boolean => sql.rows("SELECT 1 FROM exports WHERE id = ?", id).length > 0,
    listAll: (): readonly ExportId[] => sql.rows<{ id: string }>("SELECT id FROM exports ORDER BY id").map((row) => toExportId(row.id)),
    /** The exports of the end user, in any state. */
    listOfEndUser: (endUser: string): readonly ExportId[] =>
      sql
        .rows<{ id: string }>("SELECT id FROM exports WHERE subject_kind = 'end_user' AND subject = ?", endUser)
        .map((row) => toExportId(row.id)),
    /** The exports that hold settings of this kind, in any state. */
    listWith: (kind: SettingKind): readonly ExportId[] =>
      sql
        .rows<{ id: string }>("SELECT id FROM exports WHERE ' ' || settings || ' ' LIKE ?", `% ${kind} %`)
        .map((row) => toExportId(row.id)),
    /** The exports that held the session, and whose bytes are not known to be gone. */
    listRemovedFor: (session: SessionId): readonly ExportId[] =>
      sql
        .rows<{ id: string }>(
          "SELECT exports.id FROM export_sessions JOIN exports ON exports.id = export WHERE session = ? AND state = 'removed' ORDER BY exports.id",
          session,
        )
        .map((row) => toExportId(row.id)),
    forget: (id: ExportId) => {
      sql.rows(`UPDATE exports SET subject = ${toFiller("subject")} WHERE id = ?`, id);
      for (const table of ["export_parts", "export_sessions"]) sql.rows(`DELETE FROM ${table} WHERE export = ?`, id);
      sql.rows("DELETE FROM exports WHERE id = ?", id);
    },
    /** The exports that hold the session as it was before `seq`. Null: in any state of it. */
    holding: (session: SessionId, seq: number | null) =>
      sql.rows<{ id: string; state: State; part: number }>(
        `SELECT exports.id, state, part FROM export_sessions JOIN exports ON exports.id = export
         WHERE session = ? AND state <> 'removed' AND seq < ?`,
        session,
        seq ?? Number.MAX_SAFE_INTEGER,
      ),
    nextDue: (): number | null => sql.rows<{ due: number | null }>("SELECT min(due_at) AS due FROM exports")[0]?.due ?? null,
  };
}
