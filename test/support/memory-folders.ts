/**
 * Puts the temporary folders of all tests into memory, where the machine has room: databases that are written anew, copied and searched
 * wait for a disk otherwise.
 */
import { mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/** Linux's file system in memory. */
const MEMORY = "/dev/shm";
/** Free bytes below which a run uses the disk: containers often have 64 MB there, and a run writes up to 1 GB. */
const LEAST_FREE = 4 * 1_024 ** 3;

/** The folder's name holds the process that made it. */
const NAME = /^longhand-tests-(\d+)-/;

/** Call it before any test process starts, because all of them inherit `TMPDIR`. A `TMPDIR` that the caller set stays. */
export function keepFoldersInMemory(environment: NodeJS.ProcessEnv): void {
  if (environment.TMPDIR !== undefined) return;
  try {
    removeLeft();
    if (countFree() < LEAST_FREE) return;
    const folder = mkdtempSync(join(MEMORY, `longhand-tests-${process.pid}-`));
    environment.TMPDIR = folder;
    process.on("exit", () => remove(folder));
  } catch {
    // Another system than Linux, or a folder that this user may not write to.
  }
}

function countFree(): number {
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize;
}

/** Folders of runs that were killed, or whose servers outlived them. */
function removeLeft(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = Number(NAME.exec(name)?.[1] ?? 0);
    if (pid > 0 && !isRunning(pid)) remove(join(MEMORY, name));
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // A server that is ending still writes there. The next run removes the folder.
  }
}
