/** Removes the bytes of files that ended: deleted, erased with their session, never used, or cut off while they were uploaded. */
import type { FileStore } from "../../app/file-api";
import type { Clock, Log } from "../../app/ports";
import type { FileId } from "../../domain/ids";
import { toErrorName } from "../../lib/error-name";
import type { SyncSql } from "../../lib/sync-sql";
import { armAlarm, type TenantAlarm } from "../shared/tenant-alarm";
import type { Files } from "./files";

/** The most files that one alarm handles. */
const AT_ONCE = 100;

interface RemovalDeps {
  readonly sql: SyncSql;
  readonly files: Files;
  /** Null when the deployment stores no files. */
  readonly store: () => FileStore | null;
  readonly alarm: TenantAlarm;
  readonly now: Clock;
  readonly log: Log;
}

export interface FileRemoval {
  /** Removes the bytes of these files. Returns how many could not be removed now; the alarm removes them later. Never rejects. */
  remove(files: readonly FileId[]): Promise<number>;
  nextDue(): number | null;
  /** Arms the alarm if a file is due before it rings. */
  resume(): Promise<void>;
  /** Removes what is due. Never rejects. */
  run(): Promise<void>;
}

export function createFileRemoval({ sql, files, store, alarm, now, log }: RemovalDeps): FileRemoval {
  async function removeOne(file: FileId): Promise<boolean> {
    // A second try is noted before the first begins: the object may end during it.
    const postponed = sql.transaction(() => files.postpone(file, now()));
    try {
      await store()?.remove(file);
      sql.transaction(() => files.forget(file, postponed));
      return true;
    } catch (error) {
      log.warn("tenant.file_not_removed", { file, error: toErrorName(error) });
      return false;
    }
  }

  const resume = (): Promise<void> => armAlarm(alarm, files.nextDue(), now);

  async function remove(ended: readonly FileId[]): Promise<number> {
    let pending = 0;
    for (const file of ended) if (!(await removeOne(file))) pending += 1;
    await resume();
    return pending;
  }

  return {
    remove,
    nextDue: () => files.nextDue(),
    resume,
    run: async () => {
      await remove(sql.transaction(() => files.takeDue(now(), AT_ONCE)));
    },
  };
}
