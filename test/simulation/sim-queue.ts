/** A queue that loses, duplicates, delays and reorders its messages, with the real consumer, which may die. */
import type { ChatModel, CompactionJob, CompactionQueue, Log } from "../../src/app/ports";
import type { SessionApi } from "../../src/app/session-api";
import { consumeCompactions } from "../../src/queue/consumer";
import type { Profile } from "./profile";
import { type Scheduler, Scope } from "./scheduler";
import type { Stats } from "./stats";
import type { Violations } from "./violation";

type Compactor = Pick<SessionApi, "leaseCompaction" | "holdsLease" | "recordCompaction">;

interface Deps {
  readonly scheduler: Scheduler;
  readonly profile: Profile;
  readonly stats: Stats;
  readonly log: Log;
  readonly violations: Violations;
  readonly session: (scope: Scope) => Compactor;
  readonly model: (scope: Scope) => ChatModel;
}

interface Message {
  readonly job: CompactionJob;
  readonly attempts: number;
}

const MAX_RETRIES = 5;
/** The jobs that are delivered late. */
const LATE_JOBS = 3;

export class SimQueue {
  readonly #scope = new Scope("queue");
  #consumers = new Map<Scope, Message>();
  /** Every job that was ever sent. */
  readonly #sent: CompactionJob[] = [];
  #count = 0;

  readonly deps: Deps;

  constructor(deps: Deps) {
    this.deps = deps;
  }

  /** The queue as one life of the object reaches it. */
  reachedBy(scope: Scope): CompactionQueue {
    const { scheduler, profile } = this.deps;
    return {
      send: async (job) => {
        const random = scheduler.random;
        const fails = random.chance(profile.queueFails);
        const copies = random.chance(profile.queueLoses) ? 0 : random.chance(profile.queueDoubles) ? 2 : 1;
        const effect = (): void => this.#accept(job, copies);
        await scheduler.gate(scope, "queue send", fails ? { weight: 3 } : { weight: 3, effect });
        if (fails) await scheduler.goWrong("the queue is out of reach");
      },
    };
  }

  /** Accepts `copies` of a job, each at once or late. */
  #accept(job: CompactionJob, copies: number): void {
    const { scheduler, stats } = this.deps;
    stats.count("jobs sent");
    this.#sent.push(job);
    if (copies === 0) stats.count("jobs lost");
    if (copies > 1) stats.count("jobs doubled");
    for (let n = 0; n < copies; n++) {
      const delay = scheduler.random.chance(0.3) ? scheduler.random.int(1, 90_000) : 0;
      if (delay > 0) stats.count("jobs delayed");
      this.#deliver({ job, attempts: 1 }, delay);
    }
  }

  /** Delivers some of the jobs that were ever sent once more, now or later. */
  deliverLate(): void {
    const { random } = this.deps.scheduler;
    for (const job of this.#sent.slice(-LATE_JOBS)) {
      this.deps.stats.count("jobs of an erased session");
      this.#deliver({ job, attempts: 1 }, random.pick([0, random.int(1, 90_000)]));
    }
  }

  /** One consumer dies in the middle. Its message is delivered again. */
  crashConsumer(): void {
    const { random } = this.deps.scheduler;
    const consumers = [...this.#consumers];
    if (consumers.length === 0) return;
    const [scope, message] = random.pick(consumers);
    this.#consumers.delete(scope);
    this.deps.stats.count("consumer crashes");
    this.deps.scheduler.kill(scope);
    this.#retry(message, 5_000);
  }

  #retry({ job, attempts }: Message, ms: number): void {
    if (attempts > MAX_RETRIES) this.deps.stats.count("jobs dead");
    else this.#deliver({ job, attempts: attempts + 1 }, ms);
  }

  #deliver(message: Message, ms: number): void {
    const { scheduler } = this.deps;
    const arrive = (): Promise<void> =>
      scheduler.gate(this.#scope, `delivers a job, attempt ${message.attempts}`, { weight: 3 }).then(() => this.#consume(message));
    if (ms === 0) void arrive();
    else scheduler.timer(this.#scope, { ms, label: "delayed job" }, () => void arrive());
  }

  async #consume(message: Message): Promise<void> {
    const { scheduler, session, model, log, violations } = this.deps;
    const scope = new Scope(`consumer ${++this.#count}`);
    this.#consumers.set(scope, message);
    let wentOn = false;
    const settled = {
      body: message.job,
      attempts: message.attempts,
      ack: () => {},
      retry: (options?: { readonly delaySeconds?: number }) => {
        violations.check(!(wentOn && options), "I20", () => "a fold that went on used up a delivery");
        this.#retry(message, (options?.delaySeconds ?? 5) * 1_000);
      },
    };
    const compactor = session(scope);
    const recordCompaction: Compactor["recordCompaction"] = async (caller, input) => {
      const recorded = await compactor.recordCompaction(caller, input);
      wentOn = recorded.ok && recorded.value.next === "later";
      return recorded;
    };
    await consumeCompactions([settled], {
      sessions: () => ({ ...compactor, recordCompaction }),
      isSuspended: async () => false,
      queue: this.reachedBy(scope),
      model: () => model(scope),
      clock: () => scheduler.now,
      random: () => scheduler.random.next(),
      schedule: (ms, work) => scheduler.timer(scope, { ms, label: "summary deadline" }, work),
      log,
    });
    this.#consumers.delete(scope);
  }
}
