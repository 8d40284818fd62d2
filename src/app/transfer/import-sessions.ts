/** Restores the sessions of an export, one after the other, as their lines are read. */

import { findFileType, judgeType } from "../../context/file-types";
import type { ImportedSession, LineOf } from "../../contract/export";
import { type StoredRow, toStoredRow } from "../../domain/event-versions";
import type { StoredEvent } from "../../domain/events";
import type { SessionId, TenantId } from "../../domain/ids";
import { fromBase64 } from "../../lib/base64";
import type { Result } from "../../lib/result";
import { sha256 } from "../../lib/sha256";
import type { Outcome } from "../session-api";
import type { BodyRow } from "../transfer-api";
import { ImportFault, type ReadLine, type RecordCheck } from "./read-export";
import { SessionRecord } from "./session-record";

/** Characters of one call to a session's object. */
const STAGE_UNITS = 4_000_000;

type Status = ImportedSession["status"];
/** Why a session is not restored, if it is not. */
type Refused = { readonly status: Exclude<Status, "restored">; readonly detail: string };

export interface RestoredFile extends Omit<LineOf<"file">, "type"> {
  readonly content: Uint8Array<ArrayBuffer>;
}

export interface SessionTarget {
  readonly tenant: TenantId;
  readonly check: RecordCheck;
  stage(
    session: SessionId,
    input: { readonly first: boolean; readonly events: readonly StoredRow[]; readonly bodies: readonly BodyRow[] },
  ): Promise<Outcome<null>>;
  finish(session: SessionId, seq: number): Promise<Outcome<null>>;
  drop(session: SessionId): Promise<void>;
  /** Enters the session into the tenant's directory. */
  register(session: Omit<LineOf<"session">, "type">): Promise<Result<null, Refused>>;
  forget(session: SessionId): Promise<void>;
  storeFile(file: RestoredFile): Promise<Result<null, Refused>>;
}

interface OpenFile {
  /** The number of its line. */
  readonly line: number;
  readonly facts: Omit<LineOf<"file">, "type">;
  readonly content: Uint8Array<ArrayBuffer>;
  filled: number;
}

interface OpenSession {
  /** The number of its first line. */
  readonly line: number;
  readonly session: Omit<LineOf<"session">, "type">;
  /** The session is read over: it was refused, or done by an earlier request. */
  refused: Refused | "before" | null;
  isStaged: boolean;
  events: StoredRow[];
  bodies: BodyRow[];
  units: number;
  seq: number;
  body: { readonly id: string; readonly part: number } | null;
  readonly record: SessionRecord;
  /** The number of each event's line. */
  readonly eventLines: number[];
  counts: { bodies: number; files: number };
  file: OpenFile | null;
}

const toRefused = (error: { readonly code: string; readonly detail?: string }): Refused => {
  if (error.code === "session_exists") return { status: "exists", detail: "the tenant has a session of this id" };
  if (error.code === "session_erased") return { status: "erased", detail: "the session was erased" };
  return { status: "refused", detail: error.detail ?? error.code };
};

/** A file is held to what an upload is held to. */
async function checkFile({ line, facts: { media_type: declared, bytes, sha256: named }, content }: OpenFile): Promise<void> {
  const type = judgeType(content, { declared, bytes });
  if (!type.ok) {
    const { error } = type;
    if (error.code === "file_too_large") throw new ImportFault(line, `bytes: at most ${error.limit}`);
    throw new ImportFault(line, `media_type: the content is ${error.found ?? "of no type that is stored"}`);
  }
  if (findFileType(declared)?.kind === "text" && !isUtf8(content)) throw new ImportFault(line, "media_type: the content is not UTF-8");
  if ((await sha256(content)) !== named) throw new ImportFault(line, "sha256: is not the content's");
}

function isUtf8(content: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(content);
    return true;
  } catch {
    return false;
  }
}

export class SessionRestorer {
  readonly #target: SessionTarget;
  readonly #maxFile: number;
  /** Sessions up to this one were done by an earlier request. */
  #after: SessionId | null;
  #open: OpenSession | null = null;
  /** Calls to objects and the store. */
  calls = 0;
  /** The number of sessions in the file, skipped ones included. */
  sessions: number;

  constructor(
    target: SessionTarget,
    { after, maxFile, sessions }: { readonly after: SessionId | null; readonly maxFile: number; readonly sessions: number },
  ) {
    this.#target = target;
    this.#after = after;
    this.#maxFile = maxFile;
    this.sessions = sessions;
  }

  get isOpen(): boolean {
    return this.#open !== null;
  }

  /** The session that an earlier request ended with, until the file has come to it. */
  get after(): SessionId | null {
    return this.#after;
  }

  /** Forgets the session under way. */
  async drop(): Promise<void> {
    if (this.#open?.isStaged) await this.#target.drop(this.#open.session.id).catch(() => undefined);
  }

  /** Returns what became of a session when it was its last line, and was not done before. */
  async take(read: ReadLine): Promise<ImportedSession | null> {
    const { number, line } = read;
    switch (line.type) {
      case "session":
        this.#begin(number, line);
        return null;
      case "event":
        await this.#takeEvent(number, "row" in read ? read : null);
        return null;
      case "body":
        await this.#takeBody(number, line);
        return null;
      case "file":
        this.#takeFile(number, line);
        return null;
      case "content":
        await this.#takeContent(number, line);
        return null;
      case "session_end":
        return this.#end(number, line);
      default:
        throw new ImportFault(number, "is no line of a session");
    }
  }

  #within(number: number): OpenSession {
    if (!this.#open) throw new ImportFault(number, "comes before its session");
    return this.#open;
  }

  #begin(number: number, { type: _, ...session }: LineOf<"session">): void {
    if (this.#open) throw new ImportFault(number, "the session before is not ended");
    const refused = this.#after === null ? null : "before";
    this.#open = {
      line: number,
      session,
      refused,
      isStaged: false,
      events: [],
      bodies: [],
      units: 0,
      seq: 0,
      body: null,
      record: new SessionRecord(this.#target.check),
      eventLines: [],
      counts: { bodies: 0, files: 0 },
      file: null,
    };
  }

  async #takeEvent(number: number, read: Extract<ReadLine, { readonly row: StoredRow }> | null): Promise<void> {
    const open = this.#within(number);
    if (!read || open.body || open.file) throw new ImportFault(number, "events come before bodies and files");
    const { row, event } = read;
    if (row.seq !== open.seq + 1) throw new ImportFault(number, `seq: must be ${open.seq + 1}`);
    open.seq = row.seq;
    open.eventLines.push(number);
    open.record.takeEvent(number, event);
    const own = row.seq === 1 ? this.#adopt(number, open, event) : row;
    open.events.push(own);
    await this.#grow(open, own.data.length);
  }

  /** The first event says whose the session is. It is the caller's tenant's, whatever the file says. */
  #adopt(number: number, { session }: OpenSession, event: StoredEvent): StoredRow {
    if (event.type !== "SessionOpened") throw new ImportFault(number, "event: must be SessionOpened");
    if (event.session !== session.id) throw new ImportFault(number, `data.session: must be ${session.id}`);
    const { seq, at, ...opened } = event;
    return toStoredRow({ ...opened, tenant_id: this.#target.tenant }, seq, at);
  }

  async #takeBody(number: number, { type: _, ...body }: LineOf<"body">): Promise<void> {
    const open = this.#within(number);
    if (open.file) throw new ImportFault(number, "bodies come before files");
    const isNext = open.body?.id === body.id ? body.part === open.body.part + 1 : body.part === 0 && body.id > (open.body?.id ?? "");
    if (!isNext) throw new ImportFault(number, "bodies come in order of id and part");
    open.body = body;
    open.record.takeBody(number, { type: "body", ...body });
    open.counts.bodies += 1;
    open.bodies.push(body);
    await this.#grow(open, body.text.length);
  }

  async #grow(open: OpenSession, units: number): Promise<void> {
    open.units += units;
    if (open.units >= STAGE_UNITS) await this.#stage(open);
  }

  /** Sends what was read to the session's object. */
  async #stage(open: OpenSession): Promise<void> {
    const { events, bodies, isStaged } = open;
    [open.events, open.bodies, open.units] = [[], [], 0];
    if (open.refused) return;
    this.calls += 1;
    const staged = await this.#target.stage(open.session.id, { first: !isStaged, events, bodies });
    if (staged.ok) open.isStaged = true;
    else await this.#refuse(open, toRefused(staged.error));
  }

  async #refuse(open: OpenSession, refused: Refused): Promise<void> {
    open.refused = refused;
    if (!open.isStaged) return;
    open.isStaged = false;
    this.calls += 1;
    await this.#target.drop(open.session.id);
  }

  #takeFile(number: number, { type: _, ...facts }: LineOf<"file">): void {
    const open = this.#within(number);
    open.record.end();
    if (open.file && open.file.filled < open.file.facts.bytes) throw new ImportFault(number, "the content before is not whole");
    if (open.file && facts.id <= open.file.facts.id) throw new ImportFault(number, "files come in order of id");
    if (facts.bytes > this.#maxFile) throw new ImportFault(number, `bytes: at most ${this.#maxFile}`);
    open.counts.files += 1;
    open.file = { line: number, facts, content: new Uint8Array(facts.bytes), filled: 0 };
  }

  async #takeContent(number: number, { file, offset, base64 }: LineOf<"content">): Promise<void> {
    const open = this.#within(number);
    const held = open.file;
    if (!held || held.facts.id !== file || held.filled !== offset) throw new ImportFault(number, "is not the next content of the file");
    const bytes = fromBase64(base64);
    if (!bytes || bytes.byteLength === 0 || offset + bytes.byteLength > held.facts.bytes)
      throw new ImportFault(number, "base64: is not the content");
    held.content.set(bytes, offset);
    held.filled += bytes.byteLength;
    if (held.filled < held.facts.bytes) return;
    await checkFile(held);
    if (open.events.length > 0 || open.bodies.length > 0) await this.#stage(open);
    if (open.refused) return;
    this.calls += 4;
    const stored = await this.#target.storeFile({ ...held.facts, content: held.content });
    if (!stored.ok) await this.#refuse(open, stored.error);
  }

  async #end(number: number, line: LineOf<"session_end">): Promise<ImportedSession | null> {
    const open = this.#within(number);
    const { session, counts, seq } = open;
    if (open.file && open.file.filled < open.file.facts.bytes) throw new ImportFault(number, "the content before is not whole");
    const isWhole = line.id === session.id && line.events === seq && session.seq === seq;
    if (!isWhole || line.bodies !== counts.bodies || line.files !== counts.files)
      throw new ImportFault(number, "is not the end of this session");
    open.record.end();
    open.record.checkLabels(open.line, session);
    this.sessions += 1;
    await this.#stage(open);
    if (open.refused === "before") {
      this.#open = null;
      if (session.id === this.#after) this.#after = null;
      return null;
    }
    const refused = open.refused ?? (await this.#finish(open));
    this.#open = null;
    return { line: open.line, id: session.id, status: refused?.status ?? "restored", detail: refused?.detail ?? null };
  }

  async #finish(open: OpenSession): Promise<Refused | null> {
    const { session, seq } = open;
    this.calls += 2;
    const registered = await this.#target.register(session);
    if (!registered.ok) {
      await this.#refuse(open, registered.error);
      return registered.error;
    }
    const finished = await this.#target.finish(session.id, seq);
    if (finished.ok) return null;
    if (finished.error.code === "invalid") {
      // The object has forgotten what was staged.
      open.isStaged = false;
      await this.#target.forget(session.id);
      const line = open.eventLines[Number(finished.error.field) - 1];
      throw new ImportFault(line ?? open.line, `${line === undefined ? "the log" : "data"}: ${finished.error.detail}`);
    }
    const refused = toRefused(finished.error);
    // Another import has finished the session, or it was erased: then its entry is not this one's to remove.
    if (refused.status !== "refused") return refused;
    this.calls += 1;
    await this.#target.forget(session.id);
    return refused;
  }
}
