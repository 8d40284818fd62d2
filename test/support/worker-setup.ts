/**
 * Runs before every file of `test/workers`. Files that run one after another share workerd and the Worker's modules, because starting
 * both takes longer than most files. Each begins with empty storage, no object in memory, and the true time.
 */
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { restoreClock } from "../workers/clock";
import { isFirstFile } from "./first-file";

/** Far more than objects that are ending need. */
const MOST_RESETS = 1_000;

const listTables = () => env.DB.prepare("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").all();

/** A database to which an object was just writing survives a reset, so it is reset until it is empty. */
async function emptyStorage(): Promise<void> {
  // The import loads the Worker, which must find the clock that tests move.
  const { reset } = await import("cloudflare:test");
  for (let resets = 0; resets < MOST_RESETS; resets++) {
    await reset();
    if ((await listTables()).results.length === 0) return;
  }
  throw new Error("The database of the last file is still there.");
}

vi.restoreAllMocks();
restoreClock();
// A new workerd has nothing to remove.
if (!isFirstFile()) await emptyStorage();
