/**
 * Restores stored exports, a slice at a time. The object's alarm drives it. What is read of a file is in memory between two alarms; after a
 * crash an import goes on behind the last session that is whole.
 */

import type { Act } from "../../app/audit-chain";
import type { ExportStore, NewImport } from "../../app/export-api";
import type { Clock, Log } from "../../app/ports";
import type { TenantOutcome } from "../../app/tenant-api";
import { FileImport, type ImportTarget } from "../../app/transfer/import-file";
import { type CheckedStretch, ImportFault, readExport } from "../../app/transfer/read-export";
import { MAX_FILE_BYTES } from "../../context/file-types";
import type { ImportEntry, ImportView } from "../../contract/export";
import type { ImportId, TenantId } from "../../domain/ids";
import { toErrorName } from "../../lib/error-name";
import { err, ok } from "../../lib/result";
import type { SyncSql } from "../../lib/sync-sql";
import { giveWay } from "../../lib/timer";
import { armAlarm, type TenantAlarm, toRetryWait } from "../shared/tenant-alarm";
import type { TenantEvents } from "../shared/tenant-events";
import { createImportRows, type DueImport, type ImportRows } from "./import-rows";

/** Imports of a tenant whose reports exist at once. */
const MAX_IMPORTS = 20;
/** Calls to sessions' objects and the store in one alarm. The platform allows 1,000 an invocation. */
const CALLS_AN_ALARM = 25;
/** Stretches of an export, of some 5 MiB, that one alarm reads. */
const STRETCHES_AN_ALARM = 8;
/** Bytes that are asked of the store at once. */
const RANGE_BYTES = 1024 * 1024;
const FIRST_RETRY_MS = 5_000;
/** After this many failures in a row the import has failed. */
const MAX_ATTEMPTS = 12;
/** How often a suspended tenant is looked at. */
const LOOK_AGAIN_MS = 60 * 60 * 1_000;

interface ImportDeps {
  readonly sql: SyncSql;
  /** Of the tenant that has the export. Null when the deployment stores no files. */
  readonly store: (tenant: TenantId) => Pick<ExportStore, "readRange"> | null;
  readonly openTarget: (due: DueImport) => ImportTarget;
  readonly isDeleted: () => boolean;
  /** Absent: nothing is told of imports that end. */
  readonly events?: Pick<TenantEvents, "append">;
  readonly isSuspended: () => boolean;
  readonly alarm: TenantAlarm;
  readonly now: Clock;
  readonly log: Log;
}

export interface Imports {
  /** `note`: called in the transaction of the change. */
  begin(input: NewImport, act: Act, note: () => void): Promise<TenantOutcome<ImportView>>;
  get(id: ImportId): TenantOutcome<ImportView>;
  list: ImportRows["list"];
  report(id: ImportId, page: Parameters<ImportRows["report"]>[1]): TenantOutcome<ReturnType<ImportRows["report"]>>;
  remove(id: ImportId, note: () => void): Promise<TenantOutcome<null>>;
  nextDue(): number | null;
  resume(): Promise<void>;
  /** Goes on with what is due. Never rejects. */
  run(): Promise<void>;
}

/** An import under way, with what was read and not yet taken. It is lost with the object. */
interface Reading {
  readonly id: ImportId;
  readonly file: FileImport;
  readonly stretches: AsyncGenerator<CheckedStretch>;
  open: { readonly stretch: CheckedStretch; next: number } | null;
}

/** The export that is read ended: it was deleted, it expired, or a session of it was erased. */
class SourceGoneError extends Error {
  override readonly name = "SourceGoneError";
}

async function* readRanges({ source, bytes, place }: DueImport, store: Pick<ExportStore, "readRange">): AsyncGenerator<Uint8Array> {
  for (let offset = place.start.offset; offset < bytes; ) {
    const read = await store.readRange(source.export, { offset, length: Math.min(RANGE_BYTES, bytes - offset) });
    if (!read || read.byteLength === 0) throw new SourceGoneError();
    yield read;
    offset += read.byteLength;
  }
}

const toEntries = ({ settings, sessions }: ReturnType<FileImport["takeReport"]>): readonly ImportEntry[] => [
  ...settings,
  ...sessions.map(({ line, id, status, detail }) => ({ line, kind: "session" as const, name: id, status, detail })),
];

export function createImports(deps: ImportDeps): Imports {
  const { sql, store, openTarget, alarm, now, log } = deps;
  const rows = createImportRows(sql);
  let reading: Reading | null = null;
  let running: Promise<void> | null = null;

  function open(due: DueImport): Reading {
    if (reading?.id === due.id) return reading;
    const from = store(due.source.tenant);
    if (!from) throw new SourceGoneError();
    const target = openTarget(due);
    const stretches = readExport(readRanges(due, from), target.parse, due.place.start);
    reading = { id: due.id, file: new FileImport(target, { maxFile: MAX_FILE_BYTES, place: due.place }), stretches, open: null };
    return reading;
  }

  /** False when the import was deleted. */
  function save({ id, file }: Reading): boolean {
    if (!rows.isRunning(id)) return false;
    const entries = toEntries(file.takeReport());
    sql.transaction(() => rows.advance(id, { place: file.place, entries }));
    return true;
  }

  /** Takes the lines of the open stretch. `paused`: the alarm has made enough calls. */
  async function takeLines(current: Reading, most: number): Promise<"taken" | "paused" | "deleted"> {
    const { file } = current;
    for (let line = takeNext(current); line; line = takeNext(current)) {
      const { calls } = file;
      const { next } = file.place;
      await file.take(line);
      if (file.place.next !== next && !save(current)) return "deleted";
      if (file.calls >= most) return "paused";
      if (file.calls > calls) await giveWay();
    }
    await file.endStretch();
    current.open = null;
    return save(current) ? "taken" : "deleted";
  }
  const takeNext = ({ open: held }: Reading) => held?.stretch.lines[held.next++];

  async function readOn(current: Reading): Promise<boolean> {
    if (current.open) return true;
    const { value: stretch, done } = await current.stretches.next();
    if (done) return false;
    current.file.beginStretch(stretch.start);
    current.open = { stretch, next: 0 };
    return true;
  }

  async function goOnWith(due: DueImport): Promise<void> {
    const current = open(due);
    const most = current.file.calls + CALLS_AN_ALARM;
    for (let stretches = 0; stretches < STRETCHES_AN_ALARM; stretches++) {
      if (!(await readOn(current))) return finish(due.id, null);
      const taken = await takeLines(current, most);
      if (taken === "deleted") return await leave();
      if (taken === "paused") break;
    }
    sql.transaction(() => rows.setDue(due.id, now(), 0));
  }

  /** Forgets what is in memory, and the session under way. */
  async function leave(): Promise<void> {
    const left = reading;
    reading = null;
    await left?.file.drop();
  }

  function finish(id: ImportId, fault: Parameters<ImportRows["end"]>[2]): void {
    reading = null;
    sql.transaction(() => {
      rows.end(id, now(), fault);
      deps.events?.append({ at: now(), type: fault ? "import.failed" : "import.completed", data: { id } });
    });
  }

  async function work(due: DueImport): Promise<void> {
    if (due.state !== "running") return sql.transaction(() => rows.forget(due.id));
    if (deps.isSuspended()) return sql.transaction(() => rows.setDue(due.id, now() + LOOK_AGAIN_MS, 0));
    if (due.attempts >= MAX_ATTEMPTS) return finish(due.id, { line: null, detail: "the bucket or a session could not be reached" });
    await goOnWith(due);
  }

  async function failed(due: DueImport, error: unknown): Promise<void> {
    await leave();
    if (error instanceof ImportFault) return finish(due.id, { line: error.line === 0 ? null : error.line, detail: error.detail });
    if (error instanceof SourceGoneError) return finish(due.id, { line: null, detail: "the export is not there any more" });
    log.warn("tenant.import_failed", { import: due.id, error: toErrorName(error) });
    sql.transaction(() => rows.setDue(due.id, now() + toRetryWait(FIRST_RETRY_MS, due.attempts), 1));
  }

  const resume = (): Promise<void> => armAlarm(alarm, deps.isDeleted() ? null : rows.nextDue(), now);

  async function goOn(): Promise<void> {
    const due = deps.isDeleted() ? null : rows.takeDue(now());
    try {
      if (due) await work(due);
    } catch (error) {
      if (due) await failed(due, error);
    }
    await resume();
  }

  const notFound = (id: ImportId): TenantOutcome<never> => err({ code: "import_not_found", import: id });
  const get = (id: ImportId): TenantOutcome<ImportView> => {
    const found = rows.find(id);
    return found ? ok(found) : notFound(id);
  };
  return {
    get,
    list: rows.list,
    report: (id, page) => (rows.find(id) ? ok(rows.report(id, page)) : notFound(id)),
    begin: async (input, act, note) => {
      // The call was repeated: its answer had been lost.
      if (rows.find(input.id)) return get(input.id);
      if (rows.count() >= MAX_IMPORTS) return err({ code: "import_limit", limit: MAX_IMPORTS });
      sql.transaction(() => {
        rows.insert(input, act, now());
        note();
      });
      await resume();
      return get(input.id);
    },
    remove: async (id, note) => {
      if (!rows.find(id)) return notFound(id);
      sql.transaction(() => {
        rows.forget(id);
        note();
      });
      // A run under way finds by itself that it is deleted.
      if (!running && reading?.id === id) await leave();
      return ok(null);
    },
    nextDue: () => (deps.isDeleted() ? null : rows.nextDue()),
    resume,
    run: () => {
      running ??= goOn().finally(() => {
        running = null;
      });
      return running;
    },
  };
}
