/** Measurements: latencies as clients see them, and the memory and files of the server's processes. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

export const percentile = (sorted: readonly number[], share: number): number | null =>
  sorted.length === 0 ? null : (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null);

export interface Spread {
  readonly count: number;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export function toSpread(values: readonly number[]): Spread {
  const sorted = [...values].sort((one, other) => one - other);
  return { count: sorted.length, p50: percentile(sorted, 0.5), p95: percentile(sorted, 0.95), p99: percentile(sorted, 0.99) };
}

/** Latencies in milliseconds: those since the last sample, and all. */
export class Latencies {
  #recent: number[] = [];
  readonly #all: number[] = [];

  add(ms: number): void {
    this.#recent.push(ms);
    this.#all.push(ms);
  }

  takeRecent(): Spread {
    const spread = toSpread(this.#recent);
    this.#recent = [];
    return spread;
  }

  all(): Spread {
    return toSpread(this.#all);
  }
}

export interface Footprint {
  /** Memory of all workerd processes of the group, in bytes. */
  readonly rss: number;
  /** Their open file descriptors. */
  readonly fds: number;
}

/** Null when no workerd runs in the group, or when the system has no /proc. */
export function readFootprint(group: number): Footprint | null {
  const members = processes().filter((each) => each.group === group && each.name.startsWith("workerd"));
  const all = members.flatMap(({ pid }) => measure(pid) ?? []);
  if (all.length === 0) return null;
  return { rss: all.reduce((sum, { rss }) => sum + rss, 0), fds: all.reduce((sum, { fds }) => sum + fds, 0) };
}

interface Process {
  readonly pid: string;
  readonly name: string;
  readonly group: number;
}

function processes(): readonly Process[] {
  return listed("/proc").flatMap((pid) => {
    // The format is `pid (name) state ppid pgrp …`, and a name may contain spaces and brackets.
    const [, name, rest] = /^\d+ \((.*)\) (.*)/s.exec(/^\d+$/.test(pid) ? read(`/proc/${pid}/stat`) : "") ?? [];
    return name === undefined ? [] : [{ pid, name, group: Number(rest?.split(" ")[2]) }];
  });
}

function measure(pid: string): Footprint | null {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`)) ?? [];
  return kilobytes === undefined ? null : { rss: Number(kilobytes) * 1_024, fds: listed(`/proc/${pid}/fd`).length };
}

/** A process may end while it is read. */
const read = (path: string): string => quietly(() => readFileSync(path, "utf8"), "");
const listed = (path: string): readonly string[] => quietly(() => readdirSync(path), []);

function quietly<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

export interface FolderSize {
  readonly files: number;
  readonly bytes: number;
}

export function measureFolder(folder: string): FolderSize {
  let [files, bytes] = [0, 0];
  for (const name of quietly(() => readdirSync(folder, { recursive: true, encoding: "utf8" }), [])) {
    const size = quietly(() => statSync(join(folder, name)), null);
    if (!size?.isFile()) continue;
    files += 1;
    bytes += size.size;
  }
  return { files, bytes };
}
