/** Erases a session: ends its model calls, hands its ledger over, wipes the database and removes the rows of the read model. */

import { compactionCall } from "../app/compaction/summarize";
import type * as api from "../app/session-api";
import type { SessionWriter } from "../app/session-ports";
import type { ErasureReceipt } from "../contract/session";
import { type ErasedUsage, sumForErasure } from "../domain/erased-usage";
import type { SessionSettings } from "../domain/events";
import type { ErasureCause } from "../domain/retention-actions";
import { backOff } from "../lib/back-off";
import { toErrorName } from "../lib/error-name";
import { ok } from "../lib/result";
import { isStorageFull } from "../lib/sync-sql";
import { deliverActs } from "./acts";
import { hasActs } from "./log/act-rows";
import { createNameReader } from "./log/bodies";
import type { DeferredResultTable } from "./log/deferred-results";
import { allCalls, readErasureCause } from "./log/event-log";
import type { Jobs } from "./log/jobs";
import { migrateSession, readMeta, writeMeta } from "./log/log-schema";
import type { NoteEvents, Step } from "./log/store";
import type { RuntimeDeps } from "./runtime-deps";
import type { Titler } from "./titler";
import type { TurnRunner } from "./turn-runner";
import type { Wallet } from "./wallet/wallet";

interface ErasureHost extends SessionWriter {
  execute(...args: [...Parameters<SessionWriter["execute"]>, note?: NoteEvents]): ReturnType<SessionWriter["execute"]>;
  transact<T>(work: (step: Step) => T): T;
  readonly exists: boolean;
  readonly deps: RuntimeDeps;
  readonly jobs: Jobs;
  readonly runner: TurnRunner;
  readonly titler: Titler;
  readonly deferred: DeferredResultTable;
  readonly wallet: Pick<Wallet, "close">;
  /** Forgets everything in memory after the database was emptied. */
  forget(): void;
  syncAlarm(): void;
}

/** Erases a session. None of its text stays in the object's files, and a tombstone refuses late writers (docs/erasure.md). */
export async function eraseObject(
  host: ErasureHost,
  caller: api.Caller,
  { cause = "request", note }: { readonly cause?: ErasureCause; readonly note?: NoteEvents | undefined } = {},
): Promise<api.Outcome<ErasureReceipt>> {
  if (host.state.lifecycle === "open" && caller.isFull) abandon(host);
  else if (host.state.lifecycle === "open") {
    // The tombstone comes first: from here on it refuses late writers, and the alarm finishes the work.
    const at = host.deps.clock();
    try {
      endCalls(host);
      host.execute({ type: "EraseSession", at, ...toCause(cause) }, [], note);
      host.jobs.arm("erase_projection", at + FINISH_ERASURE_MS);
    } catch (error) {
      // On a full disk the tombstone does not fit. Then the database is emptied first, which makes room for it.
      if (!isStorageFull(error)) throw error;
    }
    abandon(host);
    host.syncAlarm();
  }
  const begun_at = host.state.updated_at;
  const { purged, rows } = await finishErasure(host, caller, cause);
  const erased_at = host.exists ? host.state.updated_at : begun_at;
  const session = { store: "session", status: purged ? "erased" : "pending", rows: null } as const;
  const readModel = { store: "read_model", status: rows === null ? "pending" : "erased", rows } as const;
  return ok({ id: caller.session, erased_at, stores: [session, readModel] });
}

function abandon({ runner, titler }: ErasureHost): void {
  runner.abandon();
  titler.abandon();
}

/** Ends a throwaway session without a caller who waits. The job that its opening armed comes back to one whose end could not be written. */
export function discard(host: ErasureHost, caller: api.Caller): void {
  const failed = (error: unknown): void => host.deps.log.warn("not_discarded", { error: toErrorName(error) });
  host.deps.background(eraseObject(host, caller).then(() => undefined, failed));
}

const toCause = (cause: ErasureCause): { readonly cause?: "retention" } => (cause === "retention" ? { cause } : {});

const FINISH_ERASURE_MS = 10_000;
const PURGED_AT_KEY = "burnt_at";

/**
 * Records the model calls under way in the ledger before the ledger is handed over: a call costs money even when the
 * session is erased during it. These are the call of the turn, of the title, and of a summary held for the end of the
 * turn.
 */
function endCalls(host: ErasureHost): void {
  const { turn } = host.state;
  const { clock } = host.deps;
  if (turn) {
    const { cut, bodies } = host.runner.cutShort("aborted");
    const command = { type: "StopTurn", at: clock(), turn: turn.id, reason: "requested", ...cut, partial: null } as const;
    host.execute(command, bodies);
  }
  host.titler.cutShort();
  for (const held of host.deferred.take(() => true)) {
    const call = compactionCall(held, host.state);
    host.execute({ type: "RecordSpentCall", at: clock(), call, part: held.part });
  }
}

interface Erasure {
  /** The object holds nothing of the session any more. */
  readonly purged: boolean;
  /** The number of rows removed from the read model. Null when it is out of reach, or not empty yet; then the alarm goes on. */
  readonly rows: number | null;
}

/** Hands the ledger over to the tenant's object, empties this object unless that is done, then erases the read model's rows. */
export async function finishErasure(host: ErasureHost, caller: api.Caller, asked: ErasureCause = "request"): Promise<Erasure> {
  const isPurged = (): boolean => host.exists && readMeta(host.deps.sql, PURGED_AT_KEY) !== null;
  const isThrowaway = host.state.settings.throwaway;
  try {
    if (isThrowaway) return await endThrowaway(host, caller);
    // Another life, or another caller, may have begun it.
    const cause = (host.exists ? readErasureCause(host.deps.sql) : null) ?? asked;
    if (!isPurged()) await deliverActs(host, caller);
    if (!isPurged()) await host.wallet.close(caller);
    const usage = await handOverUsage(host, caller, { isPurged: isPurged() || !host.exists, cause });
    // An erasure that was cut off after the wipe has left no time of its own. Then the clock gives it.
    if (!isPurged()) await purgeObject(host, caller, { at: host.exists ? host.state.updated_at : host.deps.clock(), cause });
    return { purged: true, rows: await eraseProjection(host, caller, usage) };
  } catch (error) {
    eraseAgain(host, caller, error);
    return { purged: isPurged(), rows: null };
  }
}

/**
 * Ends a throwaway session. The tenant's object takes over all that stays, and the read model has no rows of it, so that this object keeps no
 * tombstone: a late call finds no session. That of `eraseObject` only stands until the wipe.
 */
async function endThrowaway(host: ErasureHost, caller: api.Caller): Promise<Erasure> {
  await host.wallet.close(caller);
  await host.deps.usageArchive(caller.tenant).endThrowaway(caller.session, sumLedger(host));
  // Another call may have ended it meanwhile.
  if (host.exists) {
    const emptied = host.deps.sql.wipe();
    host.forget();
    await emptied;
  }
  return { purged: true, rows: 0 };
}

/**
 * Hands the ledger's sums over to the tenant's object, before the log is wiped: no other store knows what its calls
 * cost. After the wipe it returns what the tenant's object holds. Sums are handed over whole and keyed by the session,
 * so that a repetition counts nothing twice.
 */
function handOverUsage(
  host: ErasureHost,
  caller: api.Caller,
  { isPurged, cause }: { readonly isPurged: boolean; readonly cause: ErasureCause },
): Promise<readonly ErasedUsage[]> {
  const usage = isPurged ? [] : sumLedger(host);
  return host.deps.usageArchive(caller.tenant).keep(caller.session, usage, cause);
}

const sumLedger = ({ deps: { sql } }: ErasureHost): readonly ErasedUsage[] => sumForErasure(allCalls(sql), createNameReader(sql));

/** Wipes the database and writes the tombstone again: the log of an empty session, opened and erased, without content. */
async function purgeObject(
  host: ErasureHost,
  caller: api.Caller,
  { at, cause }: { readonly at: number; readonly cause: ErasureCause },
): Promise<void> {
  const settings: SessionSettings = { model: "", policy: "", system: null, tools: null, title: null, metadata: null };
  if (host.exists && hasActs(host.deps.sql)) throw new Error("An act was made while the session was erased");
  const emptied = host.deps.sql.wipe();
  host.forget();
  migrateSession(host.deps.sql);
  writeMeta(host.deps.sql, PURGED_AT_KEY, String(at));
  // One transaction: a session that is only opened would be projected and announced.
  host.transact((step) => {
    step.execute({ type: "OpenSession", at, tenant: caller.tenant, session: caller.session, settings });
    step.execute({ type: "EraseSession", at, ...toCause(cause) });
  });
  host.jobs.arm("erase_projection", at);
  host.syncAlarm();
  await emptied;
}

/** The alarm removes what is left of a long session. */
async function eraseProjection(host: ErasureHost, caller: api.Caller, usage: readonly ErasedUsage[]): Promise<number | null> {
  const at = host.state.updated_at;
  const { rows } = await host.deps.projection(caller.tenant).erase({ ...caller, at, usage });
  if (rows === null) host.jobs.arm("erase_projection", host.deps.clock());
  else host.jobs.disarm("erase_projection");
  host.syncAlarm();
  return rows;
}

/** Arms the alarm again: the tenant's object or the read model is out of reach. */
function eraseAgain(host: ErasureHost, { tenant, session }: api.Caller, error: unknown): void {
  const { log, clock } = host.deps;
  log.warn("erasure_failed", { tenant_id: tenant, session, error: toErrorName(error) });
  // Without tables there is no place for a job. The tenant's object calls again.
  if (!host.exists) return;
  const attempts = (host.jobs.get("erase_projection")?.attempts ?? 0) + 1;
  host.jobs.arm("erase_projection", clock() + backOff(attempts, { first: 1_000, longest: 60_000 }), attempts);
  host.syncAlarm();
}
