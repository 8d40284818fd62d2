/** CPU time of workerd in seconds, according to Linux: user and system time of all its threads. And its memory. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { Failure } from "../../scripts/support/output.ts";

const NS = 1e9;

export interface CpuMeter {
  /** CPU seconds of `work`, minus those of the idle process in the same time. Waits first until earlier work is done. */
  measure(work: () => Promise<void>): Promise<number>;
  /** Memory of the process that is in RAM, in kilobytes. */
  residentKb(): number;
}

/** Children of this process that run workerd. With one Miniflare there is one. */
function findWorkerd(): string {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const stat = readStat(pid);
    if (stat?.name === "workerd" && stat.parent === process.pid) return pid;
  }
  throw new Failure("No workerd process was found in /proc: benchmarks measure CPU by it and need Linux.");
}

function readStat(pid: string): { readonly name: string; readonly parent: number } | null {
  try {
    const [, name = "", rest = ""] = /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return { name, parent: Number(rest.split(" ")[1]) };
  } catch {
    return null; // it ended meanwhile
  }
}

/** `schedstat` counts the same time as utime + stime of `stat`, in nanoseconds instead of hundredths of a second. */
class Threads {
  readonly #pid = findWorkerd();
  /** The last known times, so that the end of a thread subtracts nothing. */
  readonly #times = new Map<string, number>();

  residentKb(): number {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.#pid}/status`, "utf8"))?.[1]);
  }

  seconds(): number {
    for (const thread of readdirSync(`/proc/${this.#pid}/task`)) {
      try {
        this.#times.set(thread, Number(readFileSync(`/proc/${this.#pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]));
      } catch {
        // it ended meanwhile
      }
    }
    return [...this.#times.values()].reduce((sum, time) => sum + time, 0) / NS;
  }
}

/** Work of a turn that its client does not wait for: the projection, which may wait for more events, alarms, garbage collection. */
const SETTLE_MS = 600;
const IDLE_SAMPLE_MS = 1_500;

export async function createCpuMeter(): Promise<CpuMeter> {
  const threads = new Threads();
  const timed = async (work: () => Promise<unknown>): Promise<{ cpu: number; wall: number }> => {
    const [cpu, wall] = [threads.seconds(), performance.now()];
    await work();
    return { cpu: threads.seconds() - cpu, wall: performance.now() - wall };
  };
  await delay(SETTLE_MS);
  const idle = await timed(() => delay(IDLE_SAMPLE_MS));
  const idleRate = idle.cpu / idle.wall;
  return {
    residentKb: () => threads.residentKb(),
    async measure(work) {
      await delay(SETTLE_MS);
      const busy = await timed(async () => {
        await work();
        await delay(SETTLE_MS);
      });
      return Math.max(0, busy.cpu - idleRate * busy.wall);
    },
  };
}
