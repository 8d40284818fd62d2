/**
 * Notices that a server that was ready answers no more. Wrangler starts a workerd that died anew, but the one that takes the connections
 * has then forgotten the Worker behind it and holds every request for ever (wrangler 4.155): no process is missing and nothing is refused.
 * Its log says that a workerd died, and only then is it asked: a question every few seconds would fill the log that people read.
 */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { isHealthy, type LocalServer } from "./local-server.ts";

/** What Wrangler's Miniflare says when a workerd of its own ended. */
export const CRASHED = "The Workers runtime crashed unexpectedly";

/** `ended`: its processes are gone. `silent`: they are there, and nothing answers. */
export type Loss = "ended" | "silent";

export interface WatchTimes {
  /** Between two looks at the log, in milliseconds. */
  readonly poll: number;
  /** How long a server whose workerd died may take to answer again, in milliseconds. */
  readonly patience: number;
}

const TIMES: WatchTimes = { poll: 250, patience: 3_000 };

/** Resolves when the server is lost; what its log said before counts for nothing. */
export async function untilLost(server: LocalServer, times: WatchTimes = TIMES): Promise<Loss> {
  let ended = false;
  void server.exited.then(() => {
    ended = true;
  });
  const log = new LogReader(server.log);
  while (!ended) {
    const crashed = log.readNew().includes(CRASHED);
    if (crashed && !(await answersWithin(server.url, times)) && !ended) return "silent";
    await Promise.race([server.exited, delay(times.poll, undefined, { ref: false })]);
  }
  return "ended";
}

async function answersWithin(url: string, { poll, patience }: WatchTimes): Promise<boolean> {
  const deadline = performance.now() + patience;
  for (let left = patience; left > 0; left = deadline - performance.now()) {
    if (await isHealthy(url, left)) return true;
    await delay(poll);
  }
  return false;
}

/** What is appended to a file from now on. */
class LogReader {
  readonly #path: string;
  #read: number;

  constructor(path: string) {
    this.#path = path;
    this.#read = statSync(path).size;
  }

  /** With the end of what was read before: a line may have come in two pieces. */
  readNew(): string {
    const { size } = statSync(this.#path);
    if (size <= this.#read) return "";
    // The overlap is shorter than the line that is looked for, so that none is seen twice.
    const from = Math.max(0, this.#read - CRASHED.length + 1);
    const bytes = Buffer.alloc(size - from);
    const file = openSync(this.#path, "r");
    try {
      readSync(file, bytes, 0, bytes.length, from);
    } finally {
      closeSync(file);
    }
    this.#read = size;
    return bytes.toString("utf8");
  }
}

/** So many starts within so many milliseconds: what fails in short order fails for a reason that a start does not mend. */
export const RESTARTS = { most: 3, within: 60_000 };

/** Counts starts; `at` in milliseconds of any one clock. */
export class RestartBudget {
  readonly #starts: number[] = [];

  /** Whether one more may be tried; counted when it may. */
  take(at: number): boolean {
    const recent = this.#starts.filter((start) => at - start < RESTARTS.within);
    if (recent.length >= RESTARTS.most) return false;
    this.#starts.splice(0, this.#starts.length, ...recent, at);
    return true;
  }
}
