/** What each test file cost its process: measured in the file's setup, and printed by the reporter (`slowest-reporter`). */
import { afterAll } from "vitest";

export interface FileCost {
  /** CPU of the process itself, in milliseconds: the rest of the file's time it waited for servers, timers and the disk. */
  readonly cpuMs: number;
  /** Bytes that the process gave the system to write, pipes and sockets included. Null where the system does not count them. */
  readonly written: number | null;
}

declare module "vitest" {
  interface TaskMeta {
    cost?: FileCost;
  }
}

/** Call it in the setup of each file. A Worker has no such counters, so its files report nothing. */
export async function reportCostOfFile(): Promise<void> {
  if (typeof navigator === "object" && navigator.userAgent === "Cloudflare-Workers") return;
  const { readFileSync } = await import("node:fs");
  const readWritten = (): number | null => {
    try {
      return Number(/^wchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1] ?? Number.NaN);
    } catch {
      return null;
    }
  };
  const before = { cpu: process.cpuUsage(), written: readWritten() };
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which fixtures are wanted.
  afterAll(({}, file) => {
    const { user, system } = process.cpuUsage(before.cpu);
    const written = readWritten();
    file.meta.cost = {
      cpuMs: (user + system) / 1_000,
      written: written === null || before.written === null ? null : written - before.written,
    };
  });
}
