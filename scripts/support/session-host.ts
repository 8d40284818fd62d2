/**
 * One session in plain Node: the real runtime over `node:sqlite`, a clock that stands still between calls, and a queue
 * whose compactions are processed as the consumer does it. For commands that need a session's behaviour but no server.
 */

import { runCompaction } from "../../src/app/compaction/run-compaction.ts";
import type { WholeSessionApi } from "../../src/app/control-api.ts";
import type { ChatModel, CompactionJob, ModelSpec, ToolRunner } from "../../src/app/ports.ts";
import type { OpenInput, Outcome, SubmitInput } from "../../src/app/session-api.ts";
import type { Schedule } from "../../src/app/session-ports.ts";
import type { IdKinds, IdPrefix } from "../../src/domain/ids.ts";
import { SessionRuntime } from "../../src/session/runtime.ts";
import { NO_BUDGETS } from "./no-budgets";
import { createNodeSql } from "./node-sql.ts";
import { serveSession } from "./serve-session.ts";

export interface HostWorld {
  readonly spec: ModelSpec;
  readonly model: ChatModel;
  /** Absent: every tool call fails. */
  readonly tools?: ToolRunner;
  /** Absent: every request has the same body. */
  readonly digest?: (text: string) => Promise<string>;
  /** `still` (default): time passes only between two actions of a client. `real`: for a model that is called over a network. */
  readonly pace?: "still" | "real";
}

/** A client's message: never busy, without tools of its own, without a key. */
export type Said = Without<SubmitInput, "onBusy" | "tools" | "idempotency">;
type Without<Union, Key extends string> = Union extends unknown ? Omit<Union, Key> : never;

const NO_TOOLS: ToolRunner = {
  needsApproval: async () => false,
  run: async () => ({ output: "Nobody runs tools here.", failure: "not_configured" }),
};
const DEADLINES = { firstTokenMs: 60_000, idleMs: 60_000, thinkingMs: 300_000, totalMs: 900_000 } as const;
const START = Date.UTC(2026, 0, 5, 9);
/** The time between two actions of a client. */
const STEP_MS = 20_000;
const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

export class SessionHost {
  #now = START;
  #ids = 0;
  #lives = 0;
  readonly sql = createNodeSql();
  readonly world: HostWorld;
  readonly caller = { tenant: this.#newId("ten"), session: this.#newId("ses") };
  runtime: SessionRuntime;
  service: WholeSessionApi;
  readonly #running = new Set<Promise<void>>();
  readonly #jobs: CompactionJob[] = [];

  constructor(world: HostWorld) {
    this.world = world;
    this.runtime = this.#wake();
    this.service = serveSession(this.runtime);
  }

  /** Creates the object again over its stored data. Its memory is lost. */
  #wake(): SessionRuntime {
    const { spec, model, tools = NO_TOOLS, digest = async () => "" } = this.world;
    return new SessionRuntime({
      sql: this.sql,
      clock: this.#clock,
      ids: { newId: (prefix) => this.#newId(prefix) },
      incarnation: `life-${++this.#lives}`,
      random: () => 0,
      schedule: this.#schedule,
      setAlarm: () => {},
      background: (work) => this.#keep(work),
      model,
      tools: () => tools,
      models: () => ({ resolve: async (id) => (id === spec.id ? spec : null) }),
      queue: { send: async (job) => void this.#jobs.push(job) },
      projection: () => ({ write: async () => {}, erase: async () => ({ rows: 0 }), forgetEndUsers: async () => true }),
      files: () => ({ keep: async () => {} }),
      budgets: () => NO_BUDGETS,
      isSuspended: async () => false,
      acts: () => ({ record: async () => {} }),
      usageArchive: () => ({ keep: async (_, usage) => usage, endThrowaway: async () => {} }),
      digest,
      deadlines: DEADLINES,
      log: SILENT,
    });
  }

  #newId<P extends IdPrefix>(prefix: P): IdKinds[P] {
    this.#ids += 1;
    return `${prefix}_01HZZZZZZZ${String(this.#ids).padStart(16, "0")}` as IdKinds[P];
  }

  readonly #clock = (): number => (this.world.pace === "real" ? Date.now() : this.#now);

  /** Work that only yields to others continues. Work that waits for a time is a deadline, or continues with the next call. */
  readonly #schedule: Schedule = (ms, work) => {
    if (ms > 0 && this.world.pace === "real") {
      const later = setTimeout(work, ms);
      return () => clearTimeout(later);
    }
    if (ms > 0) return () => {};
    const soon = setImmediate(work);
    return () => clearImmediate(soon);
  };

  #keep(work: Promise<void>): void {
    const kept = work.finally(() => this.#running.delete(kept));
    this.#running.add(kept);
  }

  async open(input: Partial<OpenInput> & { readonly policy: string }): Promise<void> {
    const whole = { model: this.world.spec.id, system: null, tools: null, title: null, metadata: {}, ...input };
    expectOk(await this.service.open(this.caller, whole));
    await this.#settle();
  }

  /** Runs until nothing is left to do in the object and in the queue. */
  async submit(said: Said): Promise<void> {
    this.#now += STEP_MS;
    expectOk(await this.service.submit(this.caller, { ...said, onBusy: "queue", tools: null, idempotency: null }));
    await this.#settle();
  }

  /** Runs `work` on the session in its current state, and restores that state afterwards. */
  async fork<T>(work: () => Promise<T>): Promise<T> {
    const { runtime, service } = this;
    this.sql.script("SAVEPOINT fork");
    try {
      this.runtime = this.#wake();
      this.service = serveSession(this.runtime);
      return await work();
    } finally {
      this.sql.script("ROLLBACK TO fork; RELEASE fork");
      this.runtime = runtime;
      this.service = service;
    }
  }

  async #settle(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#running.size > 0) await Promise.allSettled(this.#running);
      else if (this.#jobs.length > 0) await this.#workOff(this.#jobs.splice(0));
      else return;
    }
  }

  async #workOff(jobs: readonly CompactionJob[]): Promise<void> {
    const ports = {
      isSuspended: async () => false,
      session: this.service,
      model: this.world.model,
      clock: this.#clock,
      schedule: this.#schedule,
      random: () => 0,
      log: SILENT,
    };
    for (const job of jobs) await runCompaction(job, ports);
  }
}

function expectOk<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new Error(`the session refused: ${JSON.stringify(outcome.error)}`);
}
