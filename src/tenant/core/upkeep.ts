/**
 * The pending work of the tenant's object: its rows in the read model, usage of ended throwaway sessions, erasures under way, files that ended,
 * and retention. One alarm serves all.
 */

import { BUCKET_STORES, listPending, type Released, toBucketStores } from "../../app/erasure-view";
import type { ExportStore } from "../../app/export-api";
import type { OutcomeStore } from "../../app/idempotency";
import { withNames } from "../../app/named-log";
import { newId } from "../../app/new-id";
import type { Background, Log } from "../../app/ports";
import type { Caller } from "../../app/session-api";
import type { Schedule } from "../../app/session-ports";
import type { ErasedSessionUsage, TenantChange } from "../../app/tenant-api";
import type { TenantProjection } from "../../app/tenant-projection";
import type { ExportSource } from "../../app/transfer/build-part";
import type { SendWebhook } from "../../app/webhook-api";
import type { AuditLog } from "../../audit/audit-log";
import type { SessionId, TenantId } from "../../domain/ids";
import type { Scrubbed, ScrubOptions } from "../../lib/scrub/scrub";
import { limitCalls, within } from "../../lib/timer";
import { auditErasures } from "../erasure/audit-erasures";
import { createErasures, type Erasures } from "../erasure/erasures";
import { createRetention, type Retention } from "../erasure/retention";
import { createSessionChats, type FindChat, type SessionChats } from "../erasure/session-chats";
import { createSessionLabels } from "../erasure/session-labels";
import { createTenantScrub, type TenantScrub } from "../erasure/tenant-scrub";
import { createFileRemoval, type FileRemoval } from "../files/file-removal";
import type { Directory } from "../shared/directory";
import type { TenantEvents } from "../shared/tenant-events";
import { createExports, type Exports } from "../transfer/exports";
import { createImports, type Imports } from "../transfer/imports";
import type { ErasedUsageStore } from "../usage/erased-usage";
import type { UsageBound } from "../usage/usage-bound";
import { createUsageOutbox, type UsageOutbox } from "../usage/usage-outbox";
import { createUsageRetention, type UsageRetention } from "../usage/usage-retention";
import { createWebhooks, type Webhooks } from "../webhooks/webhooks";
import { type AdminActDeps, type AdminActs, createAdminActs } from "./admin-acts";
import { createProjectionOutbox, type ProjectionOutbox } from "./projection-outbox";
import { listSessionFiles, openTarget, type TransferWorld } from "./transfer-world";

/**
 * For calls of another object: one that hangs is one that failed, and the next alarm asks it again. An alarm may last 15 minutes, in which it calls
 * 200 sessions, ten at a time.
 */
const CALL_MS = 30_000;
/** For a part of an export, for a session that is restored, and for D1: they may have to do with all of a long session. */
const LONG_CALL_MS = 5 * 60_000;
/** Parts of a deleted tenant's usage in which one alarm forgets the owners. */
const OWNERS_AT_ONCE = 20;

export interface UpkeepDeps extends TransferWorld {
  readonly storage: Pick<DurableObjectStorage, "getAlarm" | "setAlarm" | "deleteAlarm">;
  readonly projection: TenantProjection;
  readonly snapshot: () => TenantChange;
  readonly listSettings: ExportSource["listSettings"];
  readonly isDeleted: () => boolean;
  readonly isSuspended: () => boolean;
  readonly chats: FindChat;
  readonly audit: AuditLog;
  readonly directory: Directory;
  readonly erasedUsage: ErasedUsageStore;
  readonly recordAdminActs: AdminActDeps["record"];
  readonly usageBound: UsageBound;
  /** Null when the deployment stores no files. */
  readonly exportStore: (tenant: TenantId) => ExportStore | null;
  /** Removes what deleted rows left in the object's files. */
  readonly scrub: (options: ScrubOptions) => Promise<Scrubbed>;
  readonly sendWebhook: SendWebhook;
  readonly requests: OutcomeStore<string>;
  readonly events: Pick<TenantEvents, "append">;
  readonly schedule: Schedule;
  /** Keeps the object alive until the work is done. */
  readonly background: Background;
  readonly log: Log;
}

export interface Upkeep {
  readonly adminActs: AdminActs;
  readonly outbox: ProjectionOutbox;
  readonly erasures: Erasures;
  readonly fileRemoval: FileRemoval;
  readonly usageOutbox: UsageOutbox;
  readonly exports: Exports;
  readonly imports: Imports;
  readonly retention: Retention;
  readonly usageRetention: UsageRetention;
  readonly scrub: TenantScrub;
  readonly webhooks: Webhooks;
  /** Stores what a throwaway session reports at its end. It is sent by the next drain of `usageOutbox`, at the latest by the alarm. */
  endThrowaway(ended: ErasedSessionUsage): Promise<void>;
  readonly chats: SessionChats;
  /** Ends the references of an erased session, and removes its files and the exports that held it. */
  releaseFiles(session: SessionId): Promise<Released>;
  /** Called when the object starts. It arms an alarm for pending work, in case the platform dropped the last one. */
  resume(): Promise<void>;
  ring(): Promise<void>;
}

export function createUpkeep(deps: UpkeepDeps): Upkeep {
  const { sql, storage, snapshot, tenant, files, schedule } = deps;
  const projection = limitCalls(deps.projection, LONG_CALL_MS, schedule);
  const reach = (ms: number) => (caller: Caller) => limitCalls(deps.sessions(caller), ms, schedule);
  const [sessions, transfers] = [reach(CALL_MS), reach(LONG_CALL_MS)];
  const log = withNames(deps.log, () => ({ tenant_id: tenant() }));
  const erase = async (session: SessionId): Promise<boolean> => {
    const caller = { tenant: tenant(), session };
    const erased = await sessions(caller).erase(caller, true);
    if (!erased.ok) return false;
    const left = listPending(erased.value.stores);
    // A session that is not empty yet may still refer to files.
    const bucket = left.length === 0 ? toBucketStores(await releaseFiles(session)) : null;
    const pending = [...left, ...(bucket ? listPending(bucket) : BUCKET_STORES)];
    if (pending.length === 0) return true;
    erasures.report(session, pending);
    return false;
  };
  const { readLabels, forgetInSession } = createSessionLabels({ tenant, sessions, forgotten: (session) => exports.takeOut(session, null) });
  async function releaseFiles(session: SessionId): ReturnType<Upkeep["releaseFiles"]> {
    const ended = sql.transaction(() => {
      files.release(session, Date.now());
      const removed = files.listRemovedFor(session);
      if (removed.length > 0) scrub.note();
      return removed;
    });
    const pending = await fileRemoval.remove(ended);
    const held = await exports.removeHeld(session);
    const isForgotten = await chats.forget(session);
    await scrub.resume();
    return { erased: ended.length - pending, pending, exports: held, chats: isForgotten ? 0 : 1 };
  }
  const get = () => storage.getAlarm();
  /** The platform refuses the time 0, which is that of work that is due at once. */
  const set = (at: number): void => void storage.setAlarm(Math.max(at, 1));
  const record: AdminActDeps["record"] = (owner, acts) => within(CALL_MS, schedule, deps.recordAdminActs(owner, acts));
  const adminActs = createAdminActs({ sql, tenant, record, alarm: { get, set }, now: Date.now, log });
  const scrub = createTenantScrub({ sql, scrub: deps.scrub, alarm: { get, set }, now: Date.now, log });
  const chats = createSessionChats({
    ...{ sql, tenant, log, isDeleted: deps.isDeleted },
    chats: (address) => limitCalls(deps.chats(address), CALL_MS, schedule),
    noteScrub: scrub.note,
    alarm: { get, set },
    now: Date.now,
  });
  const exports = createExports({
    sql,
    directory: deps.directory,
    tenant,
    sessions: transfers,
    listFiles: (session) => listSessionFiles(session, deps),
    listSettings: deps.listSettings,
    store: () => deps.exportStore(tenant()),
    isDeleted: deps.isDeleted,
    noteScrub: scrub.note,
    events: deps.events,
    alarm: { get, set },
    now: Date.now,
    log,
  });
  const imports = createImports({
    sql,
    store: deps.exportStore,
    openTarget: (due) => openTarget(due, { ...deps, sessions: transfers }),
    events: deps.events,
    isDeleted: deps.isDeleted,
    isSuspended: deps.isSuspended,
    alarm: { get, set },
    now: Date.now,
    log,
  });
  const webhooks = createWebhooks({
    ...deps,
    send: deps.sendWebhook,
    noteScrub: scrub.note,
    newId,
    alarm: { get, set },
    now: Date.now,
    random: Math.random,
    log,
  });
  const begun = (session: SessionId): void => {
    exports.takeOut(session, null);
    if (webhooks.deliveries.forgetSession(session)) scrub.note();
  };
  const usageOutbox = createUsageOutbox({
    sql,
    store: deps.erasedUsage,
    write: (usage) => projection.writeUsage(tenant(), usage),
    alarm: { get, set },
    now: Date.now,
    log,
  });
  /** Call it inside a transaction. */
  const forget: UsageOutbox["forget"] = (endUser) => {
    if (deps.erasedUsage.isNamed(endUser)) scrub.noteNow();
    usageOutbox.forget(endUser);
  };
  /** Forgets the keys and end users of a part of a deleted tenant's usage. Returns true when none is left. */
  async function forgetOwners(): Promise<boolean> {
    let isDone = false;
    for (let part = 0; part < OWNERS_AT_ONCE && !isDone; part++) {
      isDone = sql.transaction(() => {
        if (deps.erasedUsage.isNamed(null)) scrub.noteNow();
        return usageOutbox.forgetOwners();
      });
    }
    await usageOutbox.drain();
    if (usageOutbox.isForgetting()) throw new Error("The read model still names keys and end users of a deleted tenant");
    return isDone;
  }
  const erasures = createErasures({
    sql,
    alarm: { get, set },
    erase,
    begun,
    noteScrub: scrub.note,
    ...auditErasures(deps.audit, deps.events),
    ended: (session) => deps.events.append({ at: Date.now(), type: "session.erased", data: { id: session } }),
    readLabels,
    hide: (hidden) => projection.hide(tenant(), hidden, Date.now()),
    usage: { ...usageOutbox, forget },
    forgetInSession,
    sweep: async () => {
      if (!(await forgetOwners())) return false;
      await exports.removeAll();
      await deps.fileStore(tenant())?.removeAll();
      return projection.sweep(tenant(), Date.now());
    },
    newErasureId: () => newId("era"),
    now: Date.now,
    log,
  });
  const retention = createRetention({
    sql,
    alarm: { get, set },
    retain: (session, input) => {
      const caller = { tenant: tenant(), session };
      return sessions(caller).retain(caller, input);
    },
    isSuspended: deps.isSuspended,
    now: Date.now,
    log,
  });
  const usageRetention = createUsageRetention({
    sql,
    bound: deps.usageBound,
    readRule: () => {
      const { remove_usage_after_months: months, starts_at } = retention.read();
      return months === null ? null : { months, starts_at: starts_at ?? 0 };
    },
    isSuspended: deps.isSuspended,
    remove: (before) => projection.removeUsage(tenant(), before),
    alarm: { get, set },
    now: Date.now,
    log,
  });
  const store = () => deps.fileStore(tenant());
  const fileRemoval = createFileRemoval({ sql, files, store, alarm: { get, set }, now: Date.now, log });
  const nextDue = (): number =>
    Math.min(
      ...[erasures, files, usageOutbox, exports, imports, retention, usageRetention, scrub, adminActs, webhooks, chats].map(
        (work) => work.nextDue() ?? Number.POSITIVE_INFINITY,
      ),
    );
  async function endThrowaway({ session, usage }: ErasedSessionUsage): Promise<void> {
    sql.transaction(() => usageOutbox.add(session, usage));
    await usageOutbox.resume();
    await releaseFiles(session);
  }
  /** The outbox's alarm. It never delays an erasure or a removal that is due earlier. */
  const alarm = {
    get,
    set: (at: number): void => set(Math.min(at, nextDue())),
    clear: (): void => {
      const due = nextDue();
      if (Number.isFinite(due)) set(due);
      else void storage.deleteAlarm();
    },
  };
  const write: TenantProjection["write"] = (change) =>
    deps.isDeleted() ? projection.close(change.tenant, Date.now()) : projection.write(change);
  const outbox = createProjectionOutbox({ sql, projection: { write }, snapshot, alarm, now: Date.now, log });
  return {
    adminActs,
    outbox,
    erasures,
    fileRemoval,
    usageOutbox,
    exports,
    imports,
    retention,
    usageRetention,
    scrub,
    webhooks,
    endThrowaway,
    chats,
    releaseFiles,
    resume: async () => {
      await outbox.resume();
      await usageOutbox.resume();
      await erasures.resume();
      await fileRemoval.resume();
      await exports.resume();
      await imports.resume();
      await retention.resume();
      await usageRetention.resume();
      await scrub.resume();
      await adminActs.resume();
      await webhooks.resume();
      await chats.resume();
    },
    ring: async () => {
      // Side by side, since each waits for other objects, D1, the bucket or receivers. None of them works longer than its part of an alarm.
      const works = [webhooks, erasures, chats, fileRemoval, exports, imports, retention, usageRetention, adminActs].map((work) =>
        work.run(),
      );
      const ended = await Promise.allSettled([...works, usageOutbox.drain(), outbox.drain()]);
      await scrub.run();
      outbox.rest();
      await scrub.resume();
      await webhooks.resume();
      for (const each of ended) if (each.status === "rejected") throw each.reason;
    },
  };
}
