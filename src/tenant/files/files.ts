/**
 * The tenant's registry of files: what is stored, which sessions refer to it, and what has to be removed. A row is
 * written before the first byte is stored and removed after the last one is gone, so that nothing is left in the store
 * that no row names. The bytes themselves are elsewhere (`FileStore`).
 */
import type { FileFacts, FilePage, FileQuery, FileReferences, FileUse, StoredFile } from "../../app/file-api";
import { runOnce } from "../../app/idempotency";
import type { Idempotency } from "../../app/session-api";
import type { TenantError, TenantOutcome } from "../../app/tenant-api";
import type { FileView } from "../../contract/file";
import { type FileId, parseId, type SessionId } from "../../domain/ids";
import { err, ok } from "../../lib/result";
import type { SyncSql } from "../../lib/sync-sql";
import { createRequests } from "../shared/requests";
import { toRetryWait } from "../shared/tenant-alarm";
import { type FileLimits, type HeldFiles, refuseFile } from "./file-limits";
import { forgetFileNames } from "./file-names";

/** An upload that has not ended by then was cut off. */
const UPLOAD_MS = 60 * 60 * 1_000;
/** How long a file stays that no message refers to. */
const UNUSED_MS = 24 * 60 * 60 * 1_000;
/** How long a message may be on its way to its session. */
const HOLD_MS = 60 * 60 * 1_000;
/** How long a throwaway session may refer to a file: longer than its request takes and the hour that it may be left over. */
const THROWAWAY_HOLD_MS = 3 * 60 * 60 * 1_000;
const FIRST_RETRY_MS = 15_000;
const COUNT = "SELECT count(*) AS files, coalesce(sum(bytes), 0) AS bytes FROM files";
const HOLD_OWN = "INSERT INTO file_refs (session, file, held_until, own) VALUES (?, ?, ?, 1)";
/** A string that sorts after every file id. */
const AFTER_EVERY_ID = "~";

interface FileRow {
  readonly [column: string]: string | number | null;
  readonly id: string;
  readonly name: string | null;
  readonly media_type: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly tokens: number;
  readonly created_at: number;
  readonly due_at: number | null;
  readonly sessions: number;
}

const SELECT = `SELECT id, name, media_type, bytes, sha256, tokens, created_at, due_at,
  (SELECT count(*) FROM file_refs WHERE file = id AND held_until IS NULL) AS sessions FROM files WHERE state = 'stored'`;

export interface Upload {
  readonly file: FileId;
  readonly name: string | null;
  readonly media_type: string;
  readonly bytes: number;
  /** The throwaway session that the file ends with. Absent: none. */
  readonly throwaway?: SessionId;
}

/** Methods that change rows are called inside a transaction. */
export interface Files {
  /** `most`: the tenant's own limits, where they are smaller than those of all tenants. */
  begin(upload: Upload, at: number, most?: FileLimits): TenantOutcome<null>;
  /** What the tenant stores, uploads that have begun among it. */
  count(): HeldFiles;
  finish(
    input: { readonly file: FileId; readonly stored: StoredFile; readonly idempotency: Idempotency | null },
    at: number,
  ): TenantOutcome<{ readonly file: FileView; readonly replayed: boolean }>;
  /** Marks an upload as removed that failed. A file that is stored stays. */
  abandon(file: FileId, at: number): void;
  find(file: FileId): FileView | null;
  list(page: FileQuery): FilePage;
  use(input: FileUse, at: number): TenantOutcome<readonly FileFacts[]>;
  /** Replaces the session's references. Returns the files that are to be removed because no session refers to them any more. */
  keep(input: Parameters<FileReferences["keep"]>[0], at: number): readonly FileId[];
  /** Ends all references of an erased session, and marks the files that were its own. */
  release(session: SessionId, at: number): void;
  /** The files that were removed with this session's last reference and whose bytes are not known to be gone. */
  listRemovedFor(session: SessionId): readonly FileId[];
  /** Marks the file as removed, if it is not yet. False when there is no such file, and no bytes of one that are still to be removed. */
  remove(file: FileId, at: number): boolean;
  /** Marks what is due as removed, and returns all files whose removal is due. */
  takeDue(at: number, limit: number): readonly FileId[];
  /** Notes when the bytes are to be removed again. Returns that time, by which the removal that begins now is known. */
  postpone(file: FileId, at: number): number;
  /** Forgets a file whose bytes are gone, unless another removal was noted since this one began. */
  forget(file: FileId, postponed: number): void;
  /** When the next file has to be looked at. Null: none. */
  nextDue(): number | null;
}

export function toFileId(text: string): FileId {
  const id = parseId("fil", text);
  if (!id) throw new Error("A stored file id is malformed");
  return id;
}

function toView({ id, name, media_type, bytes, sha256, created_at, due_at, sessions }: FileRow): FileView {
  return { id: toFileId(id), name, media_type, bytes, sha256, created_at, sessions, expires_at: due_at };
}

export function createFiles(sql: SyncSql): Files {
  const requests = createRequests(sql);
  const findRow = (file: string): FileRow | null => sql.rows<FileRow>(`${SELECT} AND id = ?`, file)[0] ?? null;
  const view = (file: string): FileView | null => {
    const row = findRow(file);
    return row && toView(row);
  };
  const mark = (file: string, at: number, session: SessionId | null = null): void => {
    sql.rows("DELETE FROM file_refs WHERE file = ?", file);
    forgetFileNames(sql, file);
    const set = "state = 'removed', removed_for = ?, due_at = ?, attempts = 0";
    sql.rows(`UPDATE files SET ${set} WHERE id = ? AND state != 'removed'`, session, at, file);
  };
  /** The bytes of an upload arrived that was given up before: they are removed, whether or not its row is there still. */
  const removeLate = (file: string, at: number): void => {
    sql.rows(
      `INSERT INTO files (id, name, media_type, bytes, sha256, tokens, created_at, state, due_at, attempts)
       VALUES (?, NULL, '', 0, '', 0, ?, 'removed', ?, 0)
       ON CONFLICT (id) DO UPDATE SET state = 'removed', due_at = excluded.due_at, attempts = 0, name = NULL`,
      file,
      at,
      at,
    );
  };
  const count = () => sql.rows<HeldFiles>(COUNT)[0] ?? { files: 0, bytes: 0 };
  const isUnused = (file: string): boolean => sql.rows("SELECT 1 FROM file_refs WHERE file = ? LIMIT 1", file).length === 0;
  const isReferred = (session: SessionId, file: string): boolean =>
    sql.rows("SELECT 1 FROM file_refs WHERE session = ? AND file = ?", session, file).length > 0;
  /** Notes a reference that its session has yet to confirm. Until then the file ends when it would have ended, but not before the note. */
  const hold = (session: SessionId, file: FileId, at: number): void => {
    const until = at + HOLD_MS;
    sql.rows(
      `INSERT INTO file_refs (session, file, held_until) VALUES (?, ?, ?)
       ON CONFLICT (session, file) DO UPDATE SET used_at = ? WHERE held_until IS NULL`,
      session,
      file,
      until,
      at,
    );
    sql.rows("UPDATE files SET due_at = max(due_at, ?) WHERE id = ?", until, file);
  };
  /** Notes a throwaway session's reference, and forgets those of sessions that never came to be. A file of its own ends with the note. */
  const holdBriefly = (session: SessionId, file: FileId, note: { readonly isOwn: boolean; readonly at: number }): void => {
    const until = note.at + THROWAWAY_HOLD_MS;
    sql.rows("DELETE FROM file_refs WHERE own IS NOT NULL AND held_until <= ?", note.at);
    sql.rows(
      "INSERT INTO file_refs (session, file, held_until, own) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
      session,
      file,
      until,
      note.isOwn ? 1 : 0,
    );
    if (note.isOwn) sql.rows("UPDATE files SET due_at = ? WHERE id = ? AND due_at IS NOT NULL", until, file);
    else sql.rows("UPDATE files SET due_at = max(due_at, ?) WHERE id = ?", until, file);
  };
  /** A file that no session has confirmed any more ends with the last note that a message is on its way. */
  const endWithNotes = (file: string): void => {
    sql.rows(
      `UPDATE files SET due_at = (SELECT max(held_until) FROM file_refs WHERE file = id)
       WHERE id = ? AND state = 'stored' AND due_at IS NULL AND NOT EXISTS (SELECT 1 FROM file_refs WHERE file = id AND held_until IS NULL)`,
      file,
    );
  };
  /** True when the session has said something newer before. What it says arrives in any order. */
  const isOutdated = (session: SessionId, seq: number): boolean => {
    const known = sql.rows<{ seq: number }>("SELECT seq FROM file_keeps WHERE session = ?", session)[0];
    if (known && known.seq > seq) return true;
    sql.rows("INSERT INTO file_keeps (session, seq) VALUES (?, ?) ON CONFLICT (session) DO UPDATE SET seq = excluded.seq", session, seq);
    return false;
  };
  const confirm = (session: SessionId, file: FileId): void => {
    sql.rows(
      "INSERT INTO file_refs (session, file) VALUES (?, ?) ON CONFLICT (session, file) DO UPDATE SET held_until = NULL, used_at = NULL",
      session,
      file,
    );
    sql.rows("UPDATE files SET due_at = NULL WHERE id = ?", file);
  };

  /**
   * A message that names a redacted file again may be on its way, for which the file was asked for since the session last named it. Then it is held
   * as one that was only asked for.
   */
  const holdAgain = (session: SessionId, redacted: readonly FileId[], at: number): void => {
    const held =
      "UPDATE file_refs SET held_until = used_at + ?1 WHERE session = ?2 AND file = ?3 AND held_until IS NULL AND used_at > ?4 - ?1";
    for (const file of redacted) {
      sql.rows(held, HOLD_MS, session, file, at);
      endWithNotes(file);
    }
  };

  const findFacts = ({ session, files, sessionsOnly, skipMissing }: FileUse): TenantOutcome<readonly FileFacts[]> => {
    const facts: FileFacts[] = [];
    for (const file of files) {
      const row = sessionsOnly && !isReferred(session, file) ? null : findRow(file);
      if (!row && skipMissing) continue;
      if (!row) return err({ code: "file_not_found", file });
      const { name, media_type, bytes, tokens } = row;
      facts.push({ file_id: file, name, media_type, bytes, tokens });
    }
    return ok(facts);
  };

  return {
    count,
    begin: ({ file, name, media_type, bytes, throwaway }, at, most = {}) => {
      sql.rows("DELETE FROM files WHERE id = ? AND state = 'uploading'", file);
      if (sql.rows("SELECT 1 FROM files WHERE id = ?", file).length > 0) return err({ code: "file_taken", file });
      const refused = refuseFile(count(), bytes, most);
      if (refused) return err(refused);
      sql.rows(
        `INSERT INTO files (id, name, media_type, bytes, sha256, tokens, created_at, state, due_at, attempts)
         VALUES (?, ?, ?, ?, '', 0, ?, 'uploading', ?, 0)`,
        file,
        name,
        media_type,
        bytes,
        at,
        at + UPLOAD_MS,
      );
      if (throwaway) sql.rows(HOLD_OWN, throwaway, file, at + THROWAWAY_HOLD_MS);
      return ok(null);
    },
    finish: ({ file, stored, idempotency }, at) => {
      const done = runOnce<string, TenantError>(requests, { idempotency, now: at }, () => {
        sql.rows(
          `UPDATE files SET state = 'stored', sha256 = ?, tokens = ?,
           due_at = coalesce((SELECT held_until FROM file_refs WHERE file = id AND own = 1), ?) WHERE id = ? AND state = 'uploading'`,
          stored.sha256,
          stored.tokens,
          at + UNUSED_MS,
          file,
        );
        return findRow(file) ? ok(file) : err({ code: "file_not_found", file });
      });
      if (!done.ok || done.value.outcome !== file) removeLate(file, at);
      if (!done.ok) return done;
      const { outcome, replayed } = done.value;
      const found = view(outcome);
      return found ? ok({ file: found, replayed }) : err({ code: "file_not_found", file: outcome });
    },
    abandon: (file, at) => {
      if (sql.rows("SELECT 1 FROM files WHERE id = ? AND state = 'uploading'", file).length > 0) mark(file, at);
    },
    find: view,
    list: ({ after, limit, order }) => {
      const rows =
        order === "desc"
          ? sql.rows<FileRow>(`${SELECT} AND id < ? ORDER BY id DESC LIMIT ?`, after ?? AFTER_EVERY_ID, limit + 1)
          : sql.rows<FileRow>(`${SELECT} AND id > ? ORDER BY id LIMIT ?`, after ?? "", limit + 1);
      return { data: rows.slice(0, limit).map(toView), has_more: rows.length > limit };
    },
    use: (input, at) => {
      const facts = findFacts(input);
      const { session, throwaway, asksOnly } = input;
      if (!facts.ok || asksOnly) return facts;
      const note = (file: FileId): void =>
        throwaway ? holdBriefly(session, file, { isOwn: throwaway === "owns", at }) : hold(session, file, at);
      for (const { file_id } of facts.value) note(file_id);
      return facts;
    },
    keep: ({ session, files, gone, seq }, at) => {
      if (isOutdated(session, seq)) return [];
      const [kept, redacted] = [new Set<string>(files), new Set<string>(gone)];
      for (const file of files) if (findRow(file)) confirm(session, file);
      holdAgain(session, gone, at);
      const before = sql.rows<{ file: string; held_until: number | null; used_at: number | null }>(
        "SELECT file, held_until, used_at FROM file_refs WHERE session = ?1",
        session,
      );
      const isOver = ({ file, held_until, used_at }: (typeof before)[number]): boolean =>
        !kept.has(file) && (held_until === null || held_until <= at || (redacted.has(file) && used_at === null));
      const ended = before.filter(isOver);
      for (const { file } of ended) sql.rows("DELETE FROM file_refs WHERE session = ? AND file = ?", session, file);
      // A reference that was only noted ends without its file: the file ends when it would have ended.
      const unused = ended.filter(({ file, held_until }) => (held_until === null || redacted.has(file)) && isUnused(file));
      for (const { file } of unused) mark(file, at, session);
      for (const { file } of ended) endWithNotes(file);
      return unused.map(({ file }) => toFileId(file));
    },
    release: (session, at) => {
      const held = sql.rows<{ file: string; own: number | null }>("SELECT file, own FROM file_refs WHERE session = ?", session);
      sql.rows("DELETE FROM file_refs WHERE session = ?", session);
      sql.rows("DELETE FROM file_keeps WHERE session = ?", session);
      for (const { file, own } of held) {
        if (own !== 0 && isUnused(file)) mark(file, at, session);
        else endWithNotes(file);
      }
    },
    listRemovedFor: (session) =>
      sql.rows<{ id: string }>("SELECT id FROM files WHERE removed_for = ?", session).map(({ id }) => toFileId(id)),
    remove: (file, at) => {
      const [row] = sql.rows<{ state: string }>("SELECT state FROM files WHERE id = ?", file);
      if (!findRow(file) && row?.state !== "removed") return false;
      mark(file, at);
      return true;
    },
    takeDue: (at, limit) => {
      const due = sql.rows<{ id: string; state: string }>(
        "SELECT id, state FROM files WHERE due_at <= ? ORDER BY due_at LIMIT ?",
        at,
        limit,
      );
      for (const { id, state } of due) if (state !== "removed") mark(id, at);
      return due.map(({ id }) => toFileId(id));
    },
    postpone: (file, at) => {
      const attempts = sql.rows<{ attempts: number }>("SELECT attempts FROM files WHERE id = ?", file)[0]?.attempts ?? 0;
      const due = at + toRetryWait(FIRST_RETRY_MS, attempts);
      sql.rows("UPDATE files SET attempts = attempts + 1, due_at = ? WHERE id = ?", due, file);
      return due;
    },
    forget: (file, postponed) => {
      sql.rows("DELETE FROM files WHERE id = ? AND state = 'removed' AND due_at = ?", file, postponed);
    },
    nextDue: () => sql.rows<{ due: number | null }>("SELECT min(due_at) AS due FROM files WHERE due_at IS NOT NULL")[0]?.due ?? null,
  };
}
