/** Builds the parts of an export. A cursor says where a part begins, so that a lost part is built again from there. */

import type { ExportView } from "../../contract/export";
import type { FileView } from "../../contract/file";
import { EXPORT_FORMAT, EXPORT_VERSION, type SettingKind } from "../../domain/export-format";
import type { FileId, SessionId } from "../../domain/ids";
import { toBase64 } from "../../lib/base64";
import { type Setting, toSettingKey, toSettingLine } from "../exported-settings";
import type { ExportPlace, SessionLines } from "../transfer-api";
import { PartWriter, type SealedPart } from "./part-writer";

/** The bytes of a file in one line. Divisible by three, so that each line is base64 without padding inside of the file. */
const CONTENT_BYTES = 3 * 256 * 1024;

interface OpenSession {
  readonly id: SessionId;
  /** The session's newest event when its export began. */
  readonly seq: number;
  readonly place: ExportPlace;
  readonly events: number;
  readonly bodies: number;
  readonly files: number;
}

export interface ExportCursor {
  /** The key of the last setting that is written. Null: all are. */
  readonly setting: string | null;
  /** The last session that is done. */
  readonly after: SessionId | null;
  /** The session that is being written. */
  readonly session: OpenSession | null;
  readonly looked: number;
  readonly sessions: number;
  readonly lines: number;
  /** The last part is written. */
  readonly ended: boolean;
}

export const EXPORT_START: ExportCursor = { setting: "", after: null, session: null, looked: 0, sessions: 0, lines: 0, ended: false };

/** Where the sessions and files come from. A method throws when their store is out of reach. */
export interface ExportSource {
  /** The settings of these kinds, as they are now. */
  listSettings(kinds: readonly SettingKind[]): readonly Setting[];
  next(after: SessionId | null): SessionId | null;
  /** `gone`: there is no such session any more. `moved`: its newest event is not `seq`. */
  read(
    session: SessionId,
    input: { readonly seq: number | null; readonly after: ExportPlace | null },
  ): Promise<SessionLines | "gone" | "moved">;
  /** In order of their ids. */
  listFiles(session: SessionId): readonly FileView[];
  /** Null when the file is gone. */
  readFile(file: FileId, range: { readonly offset: number; readonly length: number }): Promise<Uint8Array | null>;
}

interface ExportFacts extends Pick<ExportView, "of" | "end_user" | "settings"> {
  readonly made_at: number;
}

/** `more`: nothing to do yet. `full`: the part is to be sealed. `done`: the part is the last. `moved`: its session changed or went meanwhile. */
type Step = "more" | "full" | "done" | "moved";

export class PartBuilder {
  #cursor: ExportCursor;
  readonly begun: { readonly session: SessionId; readonly seq: number }[] = [];
  readonly #writer: PartWriter;
  readonly #source: ExportSource;
  readonly #facts: ExportFacts;

  constructor(
    { cursor, previous, size }: { readonly cursor: ExportCursor; readonly previous: string; readonly size?: number },
    facts: ExportFacts,
    source: ExportSource,
  ) {
    this.#cursor = cursor;
    this.#facts = facts;
    this.#source = source;
    this.#writer = size === undefined ? new PartWriter(previous) : new PartWriter(previous, size);
    if (cursor.lines > 0) return;
    const { of, made_at, settings } = facts;
    const plain = { type: "header", format: EXPORT_FORMAT, version: EXPORT_VERSION, of, made_at };
    this.#write(settings.length === 0 ? plain : { ...plain, settings });
  }

  get cursor(): ExportCursor {
    return this.#cursor;
  }

  #write(line: object): boolean {
    return this.#add(JSON.stringify(line));
  }

  #add(text: string): boolean {
    if (!this.#writer.add(text)) return false;
    this.#cursor = { ...this.#cursor, lines: this.#cursor.lines + 1 };
    return true;
  }

  #move(session: OpenSession): void {
    this.#cursor = { ...this.#cursor, session };
  }

  /** Asks the source for one thing, and writes it. */
  async step(): Promise<Step> {
    const { session, setting } = this.#cursor;
    if (setting !== null) return this.#takeSettings(setting);
    if (!session) return this.#begin();
    if (session.place.kind === "file") return this.#takeFile(session, session.place);
    const page = await this.#source.read(session.id, { seq: session.seq, after: session.place });
    return page === "gone" || page === "moved" ? "moved" : this.#take(session, page);
  }

  #takeSettings(after: string): Step {
    const kinds = this.#facts.settings;
    const placed = (kinds.length === 0 ? [] : this.#source.listSettings(kinds)).map((setting) => ({ key: toSettingKey(setting), setting }));
    const left = placed.filter(({ key }) => key > after).sort((one, other) => (one.key < other.key ? -1 : 1));
    for (const { key, setting } of left) {
      if (!this.#write(toSettingLine(setting))) return "full";
      this.#cursor = { ...this.#cursor, setting: key };
    }
    this.#cursor = { ...this.#cursor, setting: null };
    return "more";
  }

  async #begin(): Promise<Step> {
    const id = this.#source.next(this.#cursor.after);
    if (id === null) return "done";
    const page = await this.#source.read(id, { seq: null, after: null });
    const { of, end_user } = this.#facts;
    if (page === "moved") return "more";
    if (page === "gone" || (of === "end_user" && page.end_user !== end_user)) {
      this.#cursor = { ...this.#cursor, after: id, looked: this.#cursor.looked + 1 };
      return "more";
    }
    this.begun.push({ session: id, seq: page.seq });
    return this.#take({ id, seq: page.seq, place: { kind: "event", seq: 0 }, events: 0, bodies: 0, files: 0 }, page);
  }

  #take(session: OpenSession, page: SessionLines): Step {
    let open = session;
    for (const { text, place } of page.lines) {
      if (!this.#add(text)) return "full";
      open = {
        ...open,
        place,
        events: open.events + (place.kind === "event" && place.seq > 0 ? 1 : 0),
        bodies: open.bodies + (place.kind === "body" ? 1 : 0),
      };
      this.#move(open);
    }
    if (page.done) this.#move({ ...open, place: { kind: "file", id: "", next: 0 } });
    return "more";
  }

  async #takeFile(session: OpenSession, { id, next }: Extract<ExportPlace, { kind: "file" }>): Promise<Step> {
    const files = this.#source.listFiles(session.id);
    const open = files.find((file) => file.id === id);
    if (id !== "" && !open) return "moved";
    if (open && next < open.bytes) {
      const bytes = await this.#source.readFile(open.id, { offset: next, length: Math.min(CONTENT_BYTES, open.bytes - next) });
      if (!bytes) return "moved";
      if (!this.#write({ type: "content", file: open.id, offset: next, base64: toBase64(bytes) })) return "full";
      this.#move({ ...session, place: { kind: "file", id, next: next + bytes.byteLength } });
      return "more";
    }
    const file = files.find((other) => other.id > id);
    if (!file) return this.#end(session);
    const { name, media_type, bytes, sha256 } = file;
    if (!this.#write({ type: "file", id: file.id, name, media_type, bytes, sha256 })) return "full";
    this.#move({ ...session, files: session.files + 1, place: { kind: "file", id: file.id, next: 0 } });
    return "more";
  }

  #end({ id, events, bodies, files }: OpenSession): Step {
    if (!this.#write({ type: "session_end", id, events, bodies, files })) return "full";
    const { looked, sessions } = this.#cursor;
    this.#cursor = { ...this.#cursor, after: id, session: null, looked: looked + 1, sessions: sessions + 1 };
    return "more";
  }

  seal(isLast: boolean): Promise<SealedPart> {
    const { sessions, lines } = this.#cursor;
    this.#cursor = { ...this.#cursor, ended: isLast };
    return this.#writer.seal(isLast ? { sessions, lines } : null);
  }
}
