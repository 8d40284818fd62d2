/**
 * Allows one server at a time on this checkout's data, because two servers would each rely on their own cached view of
 * the same files. The operating system holds the lock as long as the process lives, so a killed process leaves nothing
 * to clean up.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { z } from "zod";

/** SQLite's "database is locked". */
const SQLITE_BUSY = 5;

const holder = z.object({ pid: z.int(), url: z.url() });
export type LockHolder = z.infer<typeof holder>;

export type LockAttempt =
  | { readonly taken: true; readonly release: () => void }
  /** `holder` is null before the holder has written its name. */
  | { readonly taken: false; readonly holder: LockHolder | null };

/** `path`: the lock. `path.json` names its holder. Never waits. */
export function takeServerLock(path: string, self: LockHolder): LockAttempt {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  const note = `${path}.json`;
  if (!begin(database)) {
    database.close();
    return { taken: false, holder: readHolder(note) };
  }
  writeFileSync(note, `${JSON.stringify(self)}\n`);
  const release = (): void => {
    rmSync(note, { force: true });
    database.close();
  };
  return { taken: true, release };
}

/** The lock is a transaction that is never committed. */
function begin(database: DatabaseSync): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return false;
    throw error;
  }
}

function readHolder(path: string): LockHolder | null {
  try {
    return holder.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return null;
  }
}
