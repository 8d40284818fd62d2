/**
 * Runs before every file of `test/workers`. Files that run one after another share workerd and the Worker's modules, because starting
 * both takes longer than most files. Each begins with empty storage, no object in memory, and the true time.
 */
import { vi } from "vitest";
import { restoreClock } from "../workers/clock";
import { isFirstFile } from "./first-file";

vi.restoreAllMocks();
restoreClock();
// The import loads the Worker, which must find the clock that tests move. A new workerd has nothing to remove.
if (!isFirstFile()) await (await import("cloudflare:test")).reset();
