/**
 * Detects that a ready server no longer answers. Wrangler restarts a workerd that died, but the process that accepts
 * connections has then lost the Worker behind it and holds every request forever (wrangler 4.155): no process is
 * missing, and nothing is refused. Its log reports that a workerd died, and only then is the server asked, because
 * regular requests would fill the log that people read.
 */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { isHealthy, type LocalServer } from "./local-server.ts";

/** The message of Wrangler's Miniflare when one of its workerd processes ended. */
export const CRASHED = "The Workers runtime crashed unexpectedly";

/** `ended`: its processes are gone. `silent`: its processes exist, and nothing answers. */
export type Loss = "ended" | "silent";

export interface WatchTimes {
  /** Milliseconds between two reads of the log. */
  readonly poll: number;
  /** Maximum time in milliseconds until a server whose workerd died answers again. */
  readonly patience: number;
}

const TIMES: WatchTimes = { poll: 250, patience: 3_000 };

/** Resolves when the server is lost. Earlier lines of its log are ignored. */
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

/** Reads what is appended to a file from now on. */
class LogReader {
  readonly #path: string;
  #read: number;

  constructor(path: string) {
    this.#path = path;
    this.#read = statSync(path).size;
  }

  /** The text includes the end of the previous read, because a line may arrive in two pieces. */
  readNew(): string {
    const { size } = statSync(this.#path);
    if (size <= this.#read) return "";
    // The overlap is shorter than the searched line, so no line is found twice.
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

/** Maximum starts within a period in milliseconds. Repeated failures in a short time have a cause that a restart does not remove. */
export const RESTARTS = { most: 3, within: 60_000 };

/** Counts starts. `at`: milliseconds of any one clock. */
export class RestartBudget {
  readonly #starts: number[] = [];

  /** Whether one more start is allowed. An allowed start is counted. */
  take(at: number): boolean {
    const recent = this.#starts.filter((start) => at - start < RESTARTS.within);
    if (recent.length >= RESTARTS.most) return false;
    this.#starts.splice(0, this.#starts.length, ...recent, at);
    return true;
  }
}
