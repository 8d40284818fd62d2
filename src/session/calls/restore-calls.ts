/**
 * Restores a session from an export. Its rows are staged in pages, and count as nothing until they are whole: then the log
 * is folded in parts, and with the last of them the session is there. A restoration that no import finishes is forgotten.
 */

import type * as api from "../../app/session-api";
import type { SessionWriter } from "../../app/session-ports";
import type { TransferApi } from "../../app/transfer-api";
import { err, ok } from "../../lib/result";
import { giveWay } from "../../lib/timer";
import type { Jobs } from "../log/jobs";
import { isRestoring, migrateSession, noteRestored, RESTORING_KEY, readMeta, writeMeta } from "../log/log-schema";
import type { Sql } from "../log/sql";
import { foldStaged, LogFault, stageRows } from "../log/transfer-rows";
import type { RuntimeDeps } from "../runtime-deps";
import { armRestored } from "../watch";

/** A restoration to which no page came for this long was given up. */
const LEFT_AFTER_MS = 60 * 60 * 1_000;

interface Restored extends Pick<SessionWriter, "state"> {
  readonly deps: RuntimeDeps;
  readonly jobs: Jobs;
  forget(): void;
  wake(): void;
  syncAlarm(): void;
}

function refuseExisting({ state }: Restored): api.Outcome<never> | null {
  if (state.lifecycle === "erased") return err({ code: "session_erased" });
  return state.lifecycle === "new" ? null : err({ code: "session_exists" });
}

/** Empties an object that holds rows of a restoration. */
export async function forgetStaged(host: Restored): Promise<void> {
  if (!isRestoring(host.deps.sql)) return;
  const emptied = host.deps.sql.wipe();
  host.forget();
  await emptied;
}

/** For the alarm of an object that holds no session. */
export function forgetLeftRestore(host: Restored): void {
  const { sql, clock } = host.deps;
  if (!isRestoring(sql)) return;
  const due = Number(readMeta(sql, RESTORING_KEY)) + LEFT_AFTER_MS;
  if (due <= clock()) host.deps.background(forgetStaged(host));
  else host.deps.setAlarm(due);
}

export async function stageRestore(
  host: Restored,
  _caller: api.Caller,
  { first, events, bodies }: Parameters<TransferApi["stageRestore"]>[1],
): Promise<api.Outcome<null>> {
  const refused = refuseExisting(host);
  if (refused) return refused;
  const { sql, clock, setAlarm } = host.deps;
  if (first) await forgetStaged(host);
  if (!first && !isRestoring(sql)) return err({ code: "session_not_found" });
  if (sql.isFull()) return err({ code: "storage_full" });
  if (first) migrateSession(sql);
  const at = clock();
  sql.transaction(() => {
    writeMeta(sql, RESTORING_KEY, String(at));
    stageRows(sql, { events, bodies });
  });
  if (first) setAlarm(at + LEFT_AFTER_MS);
  return ok(null);
}

export async function finishRestore(
  host: Restored,
  { tenant, session }: api.Caller,
  { seq }: Parameters<TransferApi["finishRestore"]>[1],
): Promise<api.Outcome<null>> {
  const { sql, clock, schedule } = host.deps;
  const accept: Accept = (state) => {
    const isWhole = state.lifecycle === "open" && state.seq === seq && !state.settings.throwaway;
    return isWhole && state.tenant === tenant && state.session === session;
  };
  for (let last: Folded = null; ; await giveWay(schedule)) {
    const refused = refuseExisting(host);
    if (refused) return refused;
    const folded = fold(sql, last, accept);
    if (!folded.ok) {
      await forgetStaged(host);
      return folded;
    }
    if (folded.value.isWhole) break;
    last = folded.value;
  }
  noteRestored(sql, clock());
  host.forget();
  armRestored(host, clock());
  host.syncAlarm();
  host.wake();
  return ok(null);
}

type Accept = Parameters<typeof foldStaged>[2];
type Folded = ReturnType<typeof foldStaged>;

/** The rows that follow from the log would take the room that is reserved for the end of what is under way. */
class NoRoomError extends Error {
  override readonly name = "NoRoomError";
}

/** The next part of the fold. */
function fold(sql: Sql, last: Folded, accept: Accept): api.Outcome<NonNullable<Folded>> {
  try {
    const folded = sql.transaction(() => {
      const next = foldStaged(sql, last, accept);
      if (sql.isFull()) throw new NoRoomError();
      return next;
    });
    return folded ? ok(folded) : err({ code: "invalid", field: "log", detail: "is not the whole log of an open session of this id" });
  } catch (error) {
    if (error instanceof NoRoomError) return err({ code: "storage_full" });
    if (error instanceof LogFault) return err({ code: "invalid", field: String(error.seq), detail: error.detail });
    throw error;
  }
}

export async function dropRestore(host: Restored): Promise<api.Outcome<null>> {
  await forgetStaged(host);
  return ok(null);
}
