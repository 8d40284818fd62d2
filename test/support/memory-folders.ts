/**
 * Puts the temporary folders of all tests into memory, where the machine has room: databases that are written anew, copied and searched
 * wait for a disk otherwise. The folders go when the run ends, however it ends but by a kill.
 */
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/** Linux's file system in memory. */
const MEMORY = "/dev/shm";
/** Free bytes below which a run uses the disk: containers often have 64 MB there, and a run writes up to 1 GB. */
const LEAST_FREE = 4 * 1_024 ** 3;

const countFree = (): number => {
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize;
};

/** Call it before any test process starts, because all of them inherit `TMPDIR`. A `TMPDIR` that the caller set stays. */
export function keepFoldersInMemory(environment: NodeJS.ProcessEnv): void {
  if (environment.TMPDIR !== undefined) return;
  try {
    if (countFree() < LEAST_FREE) return;
    const folder = mkdtempSync(join(MEMORY, "longhand-tests-"));
    environment.TMPDIR = folder;
    process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  } catch {
    // Another system than Linux, or a folder that this user may not write to.
  }
}
