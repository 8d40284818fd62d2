/** Takes the lines of an export into a tenant: first its settings, then its sessions. A place says where an import goes on that was cut off. */

import type { ImportedSetting, ImportReport, LineOf } from "../../contract/export";
import type { SessionId } from "../../domain/ids";
import { giveWay } from "../../lib/timer";
import { type RestoredSetting, toSettingKey } from "../exported-settings";
import { SessionRestorer, type SessionTarget } from "./import-sessions";
import {
  type CheckedStretch,
  FILE_START,
  ImportFault,
  type ParseLine,
  type ReadLine,
  readChunks,
  readExport,
  type StretchStart,
} from "./read-export";

/**
 * Calls to objects and the store that one request makes. The platform allows 1,000
 * (https://developers.cloudflare.com/workers/platform/limits/#subrequests); a session that is begun is finished.
 */
const CALLS = 500;

export interface ImportTarget extends SessionTarget {
  readonly parse: ParseLine;
  /** Null: settings are read over. */
  readonly restoreSettings: ((lines: readonly LineOf<"setting">[]) => Promise<readonly RestoredSetting[]>) | null;
}

/** A place between two sessions, or between settings: all before it is done. */
export interface ImportPlace {
  /** The stretch in which the place is. */
  readonly start: StretchStart;
  /** The next line to take. */
  readonly next: number;
  /** The key of the last setting. */
  readonly setting: string;
  readonly sessions: number;
  readonly lines: number;
}

export const IMPORT_START: ImportPlace = { start: FILE_START, next: 1, setting: "", sessions: 0, lines: 0 };

interface ImportOptions {
  readonly maxFile: number;
  readonly place?: ImportPlace;
  readonly after?: SessionId | null;
}

type Reported = Pick<ImportReport, "settings" | "sessions">;

export class FileImport {
  readonly #target: ImportTarget;
  readonly #restorer: SessionRestorer;
  readonly #isContinued: boolean;
  #place: ImportPlace;
  #stretch: StretchStart;
  #setting: string;
  #settings: { readonly number: number; readonly line: LineOf<"setting"> }[] = [];
  /** The line of the last setting. */
  #settingLine = 0;
  #lines: number;
  #report: { settings: ImportedSetting[]; sessions: ImportReport["sessions"][number][] } = { settings: [], sessions: [] };

  constructor(target: ImportTarget, { maxFile, place = IMPORT_START, after = null }: ImportOptions) {
    this.#target = target;
    this.#restorer = new SessionRestorer(target, { after, maxFile, sessions: place.sessions });
    this.#isContinued = after !== null;
    [this.#place, this.#stretch, this.#setting, this.#lines] = [place, place.start, place.setting, place.lines];
  }

  /** Where another import of the file goes on. */
  get place(): ImportPlace {
    return this.#place;
  }

  get calls(): number {
    return this.#restorer.calls;
  }

  /** What was done since the last call. */
  takeReport(): Reported {
    const report = this.#report;
    this.#report = { settings: [], sessions: [] };
    return report;
  }

  /** Restores what a request can. Throws `ImportFault` where the file is at fault. Sessions that were whole before stay; the one under way is forgotten. */
  async run(body: ReadableStream<Uint8Array>): Promise<ImportReport> {
    try {
      for await (const stretch of readExport(readChunks(body), this.#target.parse))
        if (!(await this.#takeAll(stretch))) return this.#answer(true);
    } catch (error) {
      await this.drop();
      throw error;
    }
    if (this.#restorer.after !== null) throw new ImportFault(0, "after: the file has no such session");
    return this.#answer(false);
  }

  /** Takes a stretch, unless the request has made enough calls: then it returns false. */
  async #takeAll({ start, lines }: CheckedStretch): Promise<boolean> {
    this.beginStretch(start);
    for (const line of lines) {
      const isFull = this.calls >= CALLS && this.#report.sessions.length > 0;
      if (isFull && line.line.type === "session") return false;
      const { calls } = this;
      await this.take(line);
      if (this.calls > calls) await giveWay();
    }
    await this.endStretch();
    return true;
  }

  #answer(has_more: boolean): ImportReport {
    const { settings, sessions } = this.takeReport();
    return { settings, sessions, has_more, next_cursor: has_more ? (sessions.at(-1)?.id ?? null) : null };
  }

  drop(): Promise<void> {
    return this.#restorer.drop();
  }

  beginStretch(start: StretchStart): void {
    this.#stretch = start;
  }

  /** Restores the settings of the stretch. */
  async endStretch(): Promise<void> {
    await this.#restoreSettings();
  }

  /** Takes the next line. One before the place is done. */
  async take(read: ReadLine): Promise<void> {
    const { number, line } = read;
    if (number < this.#place.next) return;
    if (line.type !== "setting") await this.#restoreSettings();
    if (line.type !== "end") this.#lines += 1;
    switch (line.type) {
      case "header":
        return this.#moveTo(number + 1);
      case "setting":
        return this.#takeSetting(number, line);
      case "end":
        return this.#end(number, line);
      default: {
        const done = await this.#restorer.take(read);
        if (done) this.#report.sessions.push(done);
        if (!this.#restorer.isOpen) this.#moveTo(number + 1);
      }
    }
  }

  #moveTo(next: number): void {
    const { sessions } = this.#restorer;
    this.#place = { start: this.#stretch, next, setting: this.#setting, sessions, lines: this.#lines };
  }

  #takeSetting(number: number, line: LineOf<"setting">): void {
    if (this.#restorer.isOpen || this.#restorer.sessions > 0) throw new ImportFault(number, "settings come before sessions");
    const key = toSettingKey(line);
    if (key <= this.#setting) throw new ImportFault(number, "settings come in order of kind and name, each once");
    [this.#setting, this.#settingLine] = [key, number];
    this.#settings.push({ number, line });
  }

  /** A request that goes on with a file has restored its settings before. */
  async #restoreSettings(): Promise<void> {
    const lines = this.#settings;
    if (lines.length === 0) return;
    this.#settings = [];
    if (this.#target.restoreSettings && !this.#isContinued) {
      this.#restorer.calls += 1;
      const restored = await this.#target.restoreSettings(lines.map(({ line }) => line));
      this.#report.settings.push(...restored.map((each, index) => ({ line: lines[index]?.number ?? 0, ...each })));
    }
    this.#moveTo(this.#settingLine + 1);
  }

  #end(number: number, { sessions, lines }: LineOf<"end">): void {
    if (this.#restorer.isOpen) throw new ImportFault(number, "a session is not ended");
    if (sessions !== this.#restorer.sessions) throw new ImportFault(number, `sessions: must be ${this.#restorer.sessions}`);
    if (lines !== this.#lines) throw new ImportFault(number, `lines: must be ${this.#lines}`);
    this.#moveTo(number + 1);
  }
}
