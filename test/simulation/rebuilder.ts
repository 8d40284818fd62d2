/**
 * An operator who compares the session's rows with its log, step by step, through workers that may die at any await.
 * The next worker continues with the cursor.
 */
import { rebuildStep } from "../../src/app/projection/rebuild";
import type { RebuildProgress, RebuildStep } from "../../src/app/projection/rebuild-ports";
import type { Outcome } from "../../src/app/session-api";
import { createRebuildRows } from "../../src/read-model/rebuild";
import { readEvents } from "../../src/session/log/event-log";
import { readMeta } from "../../src/session/log/log-schema";
import { Scope } from "./scheduler";
import { CALLER, type World } from "./world";

/** An operator gives up after this many failed steps in a row, and the rows stay as they are. */
const PATIENCE = 4;
const LOG_PAGE = 20;

interface Worker {
  readonly scope: Scope;
  readonly fail: (error: Error) => void;
}

export class Rebuilder {
  readonly #workers = new Set<Worker>();
  #running: Promise<void> | null = null;
  #count = 0;

  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  /** One rebuild at a time. The caller does not wait. `mayDiffer`: the session is being erased, so its rows are no prefix of its log. */
  begin(mayDiffer = false): Promise<void> {
    this.#running ??= this.#rebuild(mayDiffer).finally(() => {
      this.#running = null;
    });
    return Promise.resolve();
  }

  /** Runs until the rebuild is complete or given up. */
  async #rebuild(mayDiffer: boolean): Promise<void> {
    const { random, stats, violations } = this.world;
    const budget = random.pick([5, 40, 400]);
    let from: RebuildProgress | null = null;
    for (let failures = 0; failures < PATIENCE; ) {
      const before = await createRebuildRows(this.world.d1.direct).stand(CALLER);
      const step: Outcome<RebuildStep> | null = await this.#step(from, budget).catch(() => null);
      if (!step?.ok) {
        failures++;
        // A step that was refused, or whose response was lost, is repeated. Sometimes the whole rebuild is.
        if (random.chance(0.3)) from = null;
        continue;
      }
      const { differences, repaired, next } = step.value;
      const lags = mayDiffer || (before.live === 0 && !this.#wasProjected()) || this.#hasRedactedAfter(before.live);
      violations.check(lags || differences.length === 0, "I16", () => `a rebuild differs: ${JSON.stringify(differences.slice(0, 3))}`);
      if (!next) {
        stats.count(`rebuilds: ${repaired ? "equal" : "not repaired"}`);
        return;
      }
      from = JSON.parse(JSON.stringify(next)) as RebuildProgress;
    }
    stats.count("rebuilds: given up");
  }

  /** Whether D1 ever had rows of the session. Where it is out of reach from the beginning, a rebuild is the first to write them. */
  #wasProjected(): boolean {
    return Number(readMeta(this.world.sql, "projected_seq") ?? 0) > 0;
  }

  /**
   * A redaction removes the content from the record at once, and from the rows with its event. In between, a rebuild
   * finds less in the record.
   */
  #hasRedactedAfter(seq: number): boolean {
    const { sql } = this.world;
    return readEvents(sql, seq, Number.MAX_SAFE_INTEGER).some(({ type }) => type === "MessageRedacted");
  }

  /** One worker dies in the middle of its step. What it has sent to D1 may still arrive. */
  crash(): void {
    const [worker] = this.#workers;
    if (!worker) return;
    const { scheduler, stats, clients } = this.world;
    this.#workers.delete(worker);
    stats.count("rebuilds cut off");
    scheduler.kill(worker.scope);
    void scheduler.gate(clients, "a rebuild's answer is lost").then(() => worker.fail(new Error("the worker died")));
  }

  async #step(from: RebuildProgress | null, budget: number): Promise<Outcome<RebuildStep>> {
    const { world } = this;
    const { scheduler, d1, profile } = world;
    const scope = new Scope(`rebuild ${++this.#count}`);
    const pause = (ms: number): Promise<void> => scheduler.sleep(scope, ms, "D1 pause");
    const rows = createRebuildRows(d1.reachedBy(scope, { scheduler, fails: () => profile.d1Fails }), { pause });
    const schedule = (ms: number, work: () => void) => scheduler.timer(scope, { ms, label: "rebuild" }, work);
    const readLog = (after: number) => world.call(scope, "export", (service) => service.exportLog(CALLER, { after, limit: LOG_PAGE }));
    return new Promise((resolve, reject) => {
      const worker: Worker = { scope, fail: reject };
      this.#workers.add(worker);
      rebuildStep({ rows, readLog, now: () => scheduler.now, budget, schedule }, CALLER, from)
        .then(resolve, reject)
        .finally(() => this.#workers.delete(worker));
    });
  }
}
