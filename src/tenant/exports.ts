/** Makes the tenant's exports, a part at a time, and removes them when they end. The object's alarm drives it. */

import type { ExportState, ExportStore, ExportSubject } from "../app/export-api";
import type { Clock, Log } from "../app/ports";
import type { Caller } from "../app/session-api";
import type { TenantOutcome } from "../app/tenant-api";
import { type ExportSource, PartBuilder } from "../app/transfer/build-part";
import type { TransferApi } from "../app/transfer-api";
import type { ExportRemoval } from "../contract/export";
import type { FileView } from "../contract/file";
import type { ExportId, SessionId, TenantId } from "../domain/ids";
import { toErrorName } from "../lib/error-name";
import { err, ok } from "../lib/result";
import type { SyncSql } from "../lib/sync-sql";
import type { Directory } from "./directory";
import { createExportRows, type DueExport, type ExportRows } from "./export-rows";
import { armAlarm, type TenantAlarm, toRetryWait } from "./tenant-alarm";

/** Exports of a tenant that exist at once. */
const MAX_EXPORTS = 20;
/** Pages that one alarm reads. The platform allows 1,000 calls an invocation, and an alarm of 15 minutes. */
const STEPS_AN_ALARM = 300;
const FIRST_RETRY_MS = 5_000;
/** After this many failures in a row, or sessions that changed while they were read, the export has failed. */
const MAX_ATTEMPTS = 12;

interface ExportDeps {
  readonly sql: SyncSql;
  readonly directory: Directory;
  readonly tenant: () => TenantId;
  readonly sessions: (caller: Caller) => Pick<TransferApi, "exportLines">;
  readonly listFiles: (session: SessionId) => readonly FileView[];
  /** Null when the deployment stores no files. */
  readonly store: () => ExportStore | null;
  readonly isDeleted: () => boolean;
  readonly alarm: TenantAlarm;
  readonly now: Clock;
  readonly log: Log;
  /** The bytes of a part. Absent: those that R2 takes. */
  readonly partBytes?: number;
}

export interface Exports {
  /** `note`: called in the transaction of the change. */
  begin(input: { readonly id: ExportId; readonly subject: ExportSubject }, note: () => void): Promise<TenantOutcome<ExportState>>;
  get(id: ExportId): TenantOutcome<ExportState>;
  list: ExportRows["list"];
  remove(id: ExportId, note: () => void): Promise<TenantOutcome<ExportRemoval>>;
  /**
   * Takes the session out of all exports: those that are ready end, and one under way goes back to where the session began. `seq`: only out of
   * exports that hold an earlier state of the session. Call it when a session is erased or redacted.
   */
  takeOut(session: SessionId, seq: number | null): void;
  nextDue(): number | null;
  resume(): Promise<void>;
  /** Goes on with what is due. Never rejects. */
  run(): Promise<void>;
}

/** An entry whose session was never opened, and a session whose erasure has begun. */
const GONE: ReadonlySet<string> = new Set(["session_not_found", "session_erased"]);

/** The part that is being built. It is lost with the object, and then built again. */
interface Building {
  readonly id: ExportId;
  readonly revision: number;
  readonly number: number;
  readonly builder: PartBuilder;
}

export function createExports(deps: ExportDeps): Exports {
  const { sql, directory, tenant, store, alarm, now, log } = deps;
  const rows = createExportRows(sql);
  let building: Building | null = null;
  /** The part that is on its way to the store. */
  let sent: Building | null = null;
  /** The session whose page is on its way here. `isStale`: something was taken out of it meanwhile. */
  let reading: { readonly session: SessionId; isStale: boolean } | null = null;
  let running: Promise<void> | null = null;

  const readSession: ExportSource["read"] = async (session, input) => {
    if (!directory.has(session)) return "gone";
    const caller = { tenant: tenant(), session };
    const asked = { session, isStale: false };
    reading = asked;
    const page = await deps.sessions(caller).exportLines(caller, input);
    reading = null;
    // Its erasure may have begun, or a redaction may have been reported, after the page was read.
    if (!directory.has(session)) return "gone";
    if (asked.isStale) return "moved";
    if (page.ok) return "moved" in page.value ? "moved" : page.value;
    if (GONE.has(page.error.code)) return "gone";
    throw new Error(page.error.code);
  };

  function createSource({ subject }: DueExport, exportStore: ExportStore): ExportSource {
    const first = (after: SessionId | null): SessionId | null => {
      if (subject.of === "session") return after === null ? subject.session_id : null;
      return directory.list({ after, limit: 1 }).data[0]?.id ?? null;
    };
    return {
      next: first,
      listFiles: deps.listFiles,
      readFile: (file, range) => exportStore.readFile(file, range),
      read: readSession,
    };
  }

  function toBuilding(due: DueExport, exportStore: ExportStore): Building {
    const { id, revision, parts, cursor, previous, subject, created_at } = due;
    const number = parts + 1;
    if (building?.id === id && building.revision === revision && building.number === number) return building;
    const size = deps.partBytes === undefined ? {} : { size: deps.partBytes };
    const facts = { of: subject.of, end_user: subject.of === "end_user" ? subject.end_user : null, made_at: created_at };
    building = { id, revision, number, builder: new PartBuilder({ cursor, previous, ...size }, facts, createSource(due, exportStore)) };
    return building;
  }

  /** Stores the part, and notes it unless something of it was taken back meanwhile. */
  async function putPart(due: DueExport, exportStore: ExportStore, isLast: boolean): Promise<void> {
    const current = toBuilding(due, exportStore);
    const { builder, number } = current;
    [building, sent] = [null, current];
    const upload = due.upload ?? (await exportStore.begin(due.id));
    if (due.upload === null) sql.transaction(() => rows.noteUpload(due.id, upload));
    const sealed = await builder.seal(isLast);
    const { cursor, begun } = builder;
    const part = await exportStore.putPart(due.id, { upload, number, bytes: sealed.bytes });
    sent = null;
    const isNoted = sql.transaction(() => {
      if (!rows.isCurrent(due.id, due.revision)) return false;
      rows.addPart(due.id, { part, sha256: sealed.sha256, bytes: sealed.bytes.byteLength, cursor, begun }, due.cursor);
      return true;
    });
    if (isNoted && isLast) await close({ ...due, upload }, exportStore);
  }

  /** Makes the parts one file. It can be repeated. */
  async function close({ id, upload, revision, expires_at }: DueExport, exportStore: ExportStore): Promise<void> {
    if (upload === null) throw new Error("An export has parts and no upload");
    await exportStore.finish(id, { upload, parts: rows.parts(id) });
    const isReady = sql.transaction(() => {
      if (!rows.isCurrent(id, revision)) return false;
      rows.end(id, now(), expires_at);
      return true;
    });
    if (isReady) return;
    // Something was taken out meanwhile, or the export was deleted. The upload is over, so that all parts are made again.
    await exportStore.remove(id, null);
    sql.transaction(() => {
      rows.rewind(id, 1, now());
      rows.noteUpload(id, null);
    });
  }

  /** The session under way changed while it was read: its part is built again from the start of the session. */
  function goBack({ id }: DueExport, moved: Building): void {
    const session = moved.builder.cursor.session?.id;
    building = null;
    sql.transaction(() => {
      const held = session === undefined ? undefined : rows.holding(session, null).find((other) => other.id === id);
      rows.rewind(id, held?.part ?? moved.number, now());
      rows.postpone(id, now());
    });
  }

  async function makeOn(due: DueExport, exportStore: ExportStore): Promise<void> {
    const current = toBuilding(due, exportStore);
    for (let steps = 0; steps < STEPS_AN_ALARM; steps++) {
      const step = await current.builder.step();
      if (!rows.isCurrent(due.id, due.revision)) return;
      if (step === "moved") return goBack(due, current);
      if (step !== "more") return await putPart(due, exportStore, step === "done");
    }
  }

  async function removeNow({ id, upload }: Pick<DueExport, "id" | "upload">): Promise<void> {
    await store()?.remove(id, upload);
    sql.transaction(() => rows.forget(id));
  }

  async function work(due: DueExport): Promise<void> {
    const exportStore = store();
    if (due.state !== "running" || deps.isDeleted()) return removeNow(due);
    if (due.attempts >= MAX_ATTEMPTS || !exportStore) return sql.transaction(() => rows.setState(due.id, "failed", due.expires_at));
    if (due.cursor.ended) await close(due, exportStore);
    else await makeOn(due, exportStore);
  }

  const resume = (): Promise<void> => armAlarm(alarm, rows.nextDue(), now);

  /** One at a time: two would write into one part. */
  const run = (): Promise<void> => {
    running ??= goOn().finally(() => {
      running = null;
    });
    return running;
  };

  async function goOn(): Promise<void> {
    const due = rows.takeDue(now());
    try {
      if (due) await work(due);
    } catch (error) {
      [building, sent] = [null, null];
      log.warn("tenant.export_failed", { export: due?.id, error: toErrorName(error) });
      const retryInMs = toRetryWait(FIRST_RETRY_MS, due?.attempts ?? 0);
      if (due) sql.transaction(() => rows.postpone(due.id, now() + retryInMs));
    }
    await resume();
  }

  const notFound = (id: ExportId): TenantOutcome<never> => err({ code: "export_not_found", export: id });
  const get = (id: ExportId): TenantOutcome<ExportState> => {
    const found = rows.find(id);
    return found ? ok(found) : notFound(id);
  };
  return {
    get,
    list: rows.list,
    begin: async ({ id, subject }, note) => {
      // The call was repeated: its answer had been lost.
      if (rows.find(id)) return get(id);
      if (subject.of === "session" && !directory.has(subject.session_id)) return err({ code: "session_not_found" });
      if (rows.count() >= MAX_EXPORTS) return err({ code: "export_limit", limit: MAX_EXPORTS });
      const total = subject.of === "session" ? 1 : directory.count();
      sql.transaction(() => {
        rows.insert({ id, subject, total, at: now() });
        note();
      });
      await resume();
      return get(id);
    },
    remove: async (id, note) => {
      if (!rows.find(id)) return notFound(id);
      sql.transaction(() => {
        rows.setState(id, "removed", now());
        note();
      });
      try {
        await removeNow({ id, upload: rows.upload(id) });
        return ok({ id, status: "removed" });
      } catch (error) {
        log.warn("tenant.export_not_removed", { export: id, error: toErrorName(error) });
        await resume();
        return ok({ id, status: "pending" });
      }
    },
    takeOut: (session, seq) => {
      if (reading?.session === session) reading.isStale = true;
      for (const part of [building, sent])
        if (part?.builder.begun.some((begun) => begun.session === session && begun.seq < (seq ?? Number.MAX_SAFE_INTEGER)))
          rows.rewind(part.id, part.number, now());
      for (const { id, state, part } of rows.holding(session, seq)) {
        if (state === "ready") rows.setState(id, "removed", now());
        else rows.rewind(id, part, now());
      }
    },
    nextDue: rows.nextDue,
    resume,
    run,
  };
}
