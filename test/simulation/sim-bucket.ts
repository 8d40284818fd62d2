/**
 * A bucket that fails as R2 does: a request fails before or after its effect, a put whose answer was lost arrives minutes later, and any of them
 * may be slow. What is stored outlives every caller.
 */
import type { FileStore } from "../../src/app/file-api";
import { err, ok } from "../../src/lib/result";
import type { Random } from "./random";
import { type Scheduler, Scope } from "./scheduler";
import type { Stats } from "./stats";

/** Probabilities for each request. */
export interface BucketFaults {
  putFails: number;
  putAnswerLost: number;
  putLate: number;
  getFails: number;
  deleteFails: number;
  deleteAnswerLost: number;
  slow: number;
}

export class BucketAwayError extends Error {
  override readonly name = "BucketAwayError";
}

/** Less than the half hour that an upload may take. */
const SLOWEST_MS = 10 * 60_000;

interface Parts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly stats: Stats;
  readonly faults: BucketFaults;
}

export class SimBucket {
  readonly objects = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly #platform = new Scope("bucket");
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  reachedBy(scope: Scope): FileStore {
    const { faults } = this.#parts;
    return {
      put: async (file, { body, bytes: announced }) => {
        const bytes = await readAll(body);
        if (bytes.byteLength !== announced) return err("length");
        const store = () => void this.objects.set(file, bytes);
        await this.#reach(scope, `put ${file.slice(-4)}`, {
          effect: store,
          fails: faults.putFails,
          loses: faults.putAnswerLost,
          late: faults.putLate,
        });
        return ok({ sha256: "ab".repeat(32), tokens: 1_600 });
      },
      remove: (file) =>
        this.#reach(scope, `delete ${file.slice(-4)}`, {
          effect: () => void this.objects.delete(file),
          fails: faults.deleteFails,
          loses: faults.deleteAnswerLost,
          late: 0,
        }),
      open: async () => null,
      has: async (file) => {
        await this.#reach(scope, "head", { effect: () => {}, fails: faults.getFails, loses: 0, late: 0 });
        return this.objects.has(file);
      },
      read: async (file) => {
        await this.#reach(scope, "get", { effect: () => {}, fails: faults.getFails, loses: 0, late: 0 });
        return this.objects.get(file) ?? null;
      },
    };
  }

  async #reach(
    scope: Scope,
    label: string,
    { effect, fails, loses, late }: { readonly effect: () => void; readonly fails: number; readonly loses: number; readonly late: number },
  ): Promise<void> {
    const { scheduler, random, stats, faults } = this.#parts;
    if (random.chance(faults.slow)) await scheduler.sleep(scope, random.int(0, SLOWEST_MS), `slow ${label}`);
    if (random.chance(fails)) return this.#fail(scope, `${label} fails`);
    if (random.chance(late)) {
      stats.count("late puts");
      scheduler.timer(this.#platform, { ms: random.int(0, SLOWEST_MS), label: `late ${label}` }, effect);
      return this.#fail(scope, `${label} is lost`);
    }
    await scheduler.gate(scope, label, { effect });
    if (random.chance(loses)) return this.#fail(scope, `${label} answered nothing`);
  }

  async #fail(scope: Scope, label: string): Promise<never> {
    this.#parts.stats.count(`bucket: ${label.replace(/ [0-9A-Z]{4} /, " ")}`);
    await this.#parts.scheduler.gate(scope, label);
    throw new BucketAwayError("the bucket is away");
  }
}

/** Reads without anything that the scheduler does not see. */
async function readAll(body: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  const bytes: number[] = [];
  for (let part = await reader.read(); !part.done; part = await reader.read()) bytes.push(...part.value);
  return Uint8Array.from(bytes);
}
