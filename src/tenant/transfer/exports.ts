/** Makes the tenant's exports, a part at a time, and removes them when they end. The object's alarm drives it. */

import type { ExportState, ExportStore, NewExport } from "../../app/export-api";
import type { Clock, Log } from "../../app/ports";
import type { TenantOutcome } from "../../app/tenant-api";
import { PartBuilder } from "../../app/transfer/build-part";
import type { ExportRemoval } from "../../contract/export";
import type { ExportId, SessionId } from "../../domain/ids";
import { toErrorName } from "../../lib/error-name";
import { err, ok } from "../../lib/result";
import type { SyncSql } from "../../lib/sync-sql";
import { giveWay } from "../../lib/timer";
import { armAlarm, type TenantAlarm, toRetryWait } from "../shared/tenant-alarm";
import type { TenantEvents } from "../shared/tenant-events";
import { createExportRows, type DueExport, type ExportRows } from "./export-rows";
import { createExportSources, type SourceDeps } from "./export-sources";

/** Exports of a tenant that exist at once. */
const MAX_EXPORTS = 20;
/** Pages that one alarm reads, each a call of a session. What comes due meanwhile in the tenant's object waits for the alarm's end. */
const STEPS_AN_ALARM = 25;
const FIRST_RETRY_MS = 5_000;
/** After this many failures in a row, or sessions that changed while they were read, the export has failed. */
const MAX_ATTEMPTS = 12;

interface ExportDeps extends SourceDeps {
  readonly sql: SyncSql;
  /** Null when the deployment stores no files. */
  readonly store: () => ExportStore | null;
  readonly isDeleted: () => boolean;
  /** Absent: nothing is told of exports that end. */
  readonly events?: Pick<TenantEvents, "append">;
  readonly alarm: TenantAlarm;
  readonly now: Clock;
  readonly log: Log;
  /** Called inside a transaction that deletes a text of a client. Absent: nothing has to be overwritten. */
  readonly noteScrub?: () => void;
  /** The bytes of a part. Absent: those that R2 takes. */
  readonly partBytes?: number;
}

export interface Exports {
  /** `note`: called in the transaction of the change. */
  begin(input: NewExport, note: () => void): Promise<TenantOutcome<ExportState>>;
  get(id: ExportId): TenantOutcome<ExportState>;
  list: ExportRows["list"];
  remove(id: ExportId, note: () => void): Promise<TenantOutcome<ExportRemoval>>;
  /**
   * Takes the session out of all exports: those that are ready end, and one under way goes back to where the session began. `seq`: only out of
   * exports that hold an earlier state of the session. Call it when a session is erased or redacted.
   */
  takeOut(session: SessionId, seq: number | null): void;
  /** Ends the exports of an erased end user: each names the end user. Call it inside a transaction. */
  endOf(endUser: string): void;
  /** Ends the exports that hold channels: an access list among these named an erased person. Call it inside a transaction. */
  endOfChannels(): void;
  /** Removes the exports that an erasure ended because they held the session. Returns how many could not be removed now. Never rejects. */
  removeHeld(session: SessionId): Promise<number>;
  /** Removes all exports of a deleted tenant. Rejects when one could not be removed. */
  removeAll(): Promise<void>;
  nextDue(): number | null;
  resume(): Promise<void>;
  /** Goes on with what is due. Never rejects. */
  run(): Promise<void>;
}

/** The part that is being built. It is lost with the object, and then built again. */
interface Building {
  readonly id: ExportId;
  readonly revision: number;
  readonly number: number;
  readonly builder: PartBuilder;
}

export function createExports(deps: ExportDeps): Exports {
  const { sql, directory, store, alarm, now, log } = deps;
  const rows = createExportRows(sql);
  const sources = createExportSources(deps);
  let building: Building | null = null;
  /** The part that is on its way to the store. */
  let sent: Building | null = null;
  let running: Promise<void> | null = null;

  function toBuilding(due: DueExport, exportStore: ExportStore): Building {
    const { id, revision, parts, cursor, previous, subject, settings, created_at } = due;
    const number = parts + 1;
    if (building?.id === id && building.revision === revision && building.number === number) return building;
    const size = deps.partBytes === undefined ? {} : { size: deps.partBytes };
    const facts = { of: subject.of, settings, end_user: subject.of === "end_user" ? subject.end_user : null, made_at: created_at };
    building = { id, revision, number, builder: new PartBuilder({ cursor, previous, ...size }, facts, sources.open(due, exportStore)) };
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
    // It was removed while its upload began.
    if (!rows.exists(due.id)) await exportStore.remove(due.id, upload);
  }

  /** Makes the parts one file. It can be repeated. */
  async function close({ id, upload, revision, expires_at }: DueExport, exportStore: ExportStore): Promise<void> {
    if (upload === null) throw new Error("An export has parts and no upload");
    await exportStore.finish(id, { upload, parts: rows.parts(id) });
    const isReady = sql.transaction(() => {
      if (!rows.isCurrent(id, revision)) return false;
      rows.end(id, now(), expires_at);
      deps.events?.append({ at: now(), type: "export.completed", data: { id } });
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
      await giveWay();
    }
  }

  async function removeNow({ id, upload }: Pick<DueExport, "id" | "upload">): Promise<void> {
    await store()?.remove(id, upload);
    sql.transaction(() => {
      rows.forget(id);
      deps.noteScrub?.();
    });
  }

  /** The bytes go first: an export that has failed holds nothing of a session that is erased later. */
  async function fail({ id, upload, expires_at }: DueExport): Promise<void> {
    await store()?.remove(id, upload);
    sql.transaction(() => {
      rows.rewind(id, 1, now());
      rows.noteUpload(id, null);
      rows.setState(id, "failed", expires_at);
      deps.events?.append({ at: now(), type: "export.failed", data: { id } });
    });
  }

  async function work(due: DueExport): Promise<void> {
    const exportStore = store();
    if (due.state !== "running" || deps.isDeleted()) return removeNow(due);
    if (due.attempts >= MAX_ATTEMPTS || !exportStore) return fail(due);
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

  async function tryToRemove(id: ExportId): Promise<boolean> {
    try {
      await removeNow({ id, upload: rows.upload(id) });
      return true;
    } catch (error) {
      log.warn("tenant.export_not_removed", { export: id, error: toErrorName(error) });
      await resume();
      return false;
    }
  }

  const notFound = (id: ExportId): TenantOutcome<never> => err({ code: "export_not_found", export: id });
  const get = (id: ExportId): TenantOutcome<ExportState> => {
    const found = rows.find(id);
    return found ? ok(found) : notFound(id);
  };
  return {
    get,
    list: rows.list,
    begin: async ({ id, subject, settings = [] }, note) => {
      // The call was repeated: its answer had been lost.
      if (rows.find(id)) return get(id);
      if (subject.of === "session" && !directory.has(subject.session_id)) return err({ code: "session_not_found" });
      if (rows.count() >= MAX_EXPORTS) return err({ code: "export_limit", limit: MAX_EXPORTS });
      const total = sources.count(subject);
      sql.transaction(() => {
        rows.insert({ id, subject, settings: subject.of === "tenant" ? settings : [], total, at: now() });
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
      return ok({ id, status: (await tryToRemove(id)) ? "removed" : "pending" });
    },
    takeOut: (session, seq) => {
      sources.takeOut(session);
      for (const part of [building, sent])
        if (part?.builder.begun.some((begun) => begun.session === session && begun.seq < (seq ?? Number.MAX_SAFE_INTEGER)))
          rows.rewind(part.id, part.number, now());
      for (const { id, state, part } of rows.holding(session, seq)) {
        if (state === "running") rows.rewind(id, part, now());
        else rows.setState(id, "removed", now());
      }
    },
    endOf: (endUser) => {
      for (const id of rows.listOfEndUser(endUser)) rows.setState(id, "removed", now());
    },
    endOfChannels: () => {
      for (const id of rows.listWith("channel")) rows.setState(id, "removed", now());
    },
    removeAll: async () => {
      for (const id of rows.listAll()) await removeNow({ id, upload: rows.upload(id) });
    },
    removeHeld: async (session) => {
      let left = 0;
      for (const id of rows.listRemovedFor(session)) if (!(await tryToRemove(id))) left += 1;
      return left;
    },
    nextDue: rows.nextDue,
    resume,
    run,
  };
}
