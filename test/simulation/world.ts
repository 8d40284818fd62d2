/**
 * The platform around one session. Its database and alarm outlive its object, which may die at any await and is created
 * again by the next call or alarm. Calls to it are messages, and the response of a completed call may be lost.
 */

import { createHash } from "node:crypto";
import { createNodeSql } from "../../scripts/support/node-sql";
import { serveSession } from "../../scripts/support/serve-session";
import type { WholeSessionApi } from "../../src/app/control-api";
import type { ChatModel, ModelDirectory, ModelRequest } from "../../src/app/ports";
import { parseBody } from "../../src/domain/item-content";
import { scrub } from "../../src/lib/scrub/scrub";
import type { SqlRow, SqlValue } from "../../src/lib/sql-row";
import type { SyncSql } from "../../src/lib/sync-sql";
import { createProjection } from "../../src/read-model/writer";
import { ringAlarm } from "../../src/session/alarm";
import { readBodies } from "../../src/session/log/bodies";
import type { Sql } from "../../src/session/log/sql";
import { SessionRuntime } from "../../src/session/runtime";
import { countingIds, SESSION, TENANT } from "../support/builders";
import { createFaultySql, DiskFullError, WriteFailedError } from "../support/faulty-sql";
import { buildWatched, type KeptCollection } from "../support/kept-collections";
import { ChoiceRules } from "./choice-rules";
import { CopyRules } from "./copy-rules";
import { LogRules } from "./log-rules";
import { drawProfile, MODELS, type Profile } from "./profile";
import { Random } from "./random";
import { Rebuilder } from "./rebuilder";
import type { Owed } from "./request-rules";
import { RespondRules } from "./respond-rules";
import { Scheduler, Scope } from "./scheduler";
import { SimArchive } from "./sim-archive";
import { SimBudgets } from "./sim-budgets";
import type { SimD1 } from "./sim-d1";
import { SimHooks } from "./sim-hooks";
import { SimModel } from "./sim-model";
import { SimQueue } from "./sim-queue";
import { SimTools } from "./sim-tools";
import { Stats } from "./stats";
import { SummaryBook } from "./summary-book";
import { Violations } from "./violation";

export const digestText = (text: string): string => createHash("sha256").update(text).digest("hex");

export const CALLER = { tenant: TENANT, session: SESSION } as const;

/** The object was reset during a call. */
export class ObjectResetError extends Error {
  override readonly name = "ObjectResetError";
}

export interface Life {
  readonly scope: Scope;
  readonly runtime: SessionRuntime;
  /** What its memory began with. */
  readonly kept: readonly KeptCollection[];
  readonly service: WholeSessionApi;
  /** Calls whose response has not been sent yet. */
  readonly calls: Set<(error: Error) => void>;
}

/** Longer than a lease and the wake-up after it, so that another worker may have taken over. */
const SLOWEST_MS = 100_000;
/** Added to the seed, for draws that leave the other draws of a run as they are. */
const APART = 1_000_003;
/** Chunks that a worker with little time reads before it releases the lease. */
const LEAVES_EVERY = 3;
const DEADLINES = { firstTokenMs: 60_000, idleMs: 60_000, thinkingMs: 5 * 60_000, totalMs: 15 * 60_000 } as const;

/** The environment of a life that continues after its end. That is a violation, unless the life died inside a step. */
class DeadObjectError extends Error {
  override readonly name = "DeadObjectError";
}

export class World {
  readonly random: Random;
  readonly profile: Profile;
  readonly scheduler: Scheduler;
  readonly violations = new Violations();
  readonly stats = new Stats();
  readonly sql: Sql;
  readonly model: SimModel;
  readonly tools = new SimTools(this);
  readonly queue: SimQueue;
  /** Until when all people are away. */
  awayUntil = 0;
  readonly archive: SimArchive;
  readonly rebuilder = new Rebuilder(this);
  readonly clients = new Scope("clients");
  readonly book = new SummaryBook();
  readonly log: LogRules;
  readonly budgets: SimBudgets;
  readonly hooks: SimHooks;
  readonly choices = new ChoiceRules(this);
  readonly respond = new RespondRules(this);
  readonly copies = new CopyRules(this);
  life: Life | null = null;
  /** The time of the alarm. Null: it is not set. */
  alarmAt: number | null = null;
  openCalls = 0;
  /** Redactions that were committed before the start of the newest completed overwriting. */
  scrubbed = 0;
  /** Every write to the session's database fails. */
  diskIsFull = false;
  /** The time of the last failed write. The alarm that it should have set may be late by one pause. */
  failedAt = Number.NEGATIVE_INFINITY;
  /** The first offset of each group of frames that the database refused. */
  readonly unstored: number[] = [];
  /** Something was written, or the alarm changed, so that there is something to check. */
  touched = true;
  /** All offsets of the live stream that were ever stored, pack by pack. */
  readonly #frames: (readonly [first: number, last: number])[] = [];
  readonly #platform = new Scope("platform");
  readonly #ids = countingIds();
  #cancelAlarm: () => void = () => {};
  #keys = 0;
  #batches = 0;
  #results = 0;
  /** A life that died in the middle of a step. The rest of the step fails. */
  readonly #cut = new Set<Scope>();
  #lives = 0;

  readonly seed: number;
  readonly d1: SimD1;
  /** Of the tenant's object. */
  readonly tenantSql: SyncSql;

  constructor(seed: number, { d1, tenantSql }: { readonly d1: SimD1; readonly tenantSql: SyncSql }) {
    this.seed = seed;
    this.d1 = d1;
    this.tenantSql = tenantSql;
    this.archive = new SimArchive(this);
    this.random = new Random(seed);
    this.profile = drawProfile(this.random, new Random(seed + APART));
    this.scheduler = new Scheduler(this.random);
    const base = createNodeSql();
    // The platform removes the alarm together with the data.
    this.sql = { ...base, wipe: () => this.#wipe(base) };
    const { random, profile, scheduler, violations, stats, book, choices } = this;
    this.log = new LogRules(this);
    this.budgets = new SimBudgets(this);
    this.hooks = new SimHooks(this);
    const findEpoch = (lease: number | null): number | null => this.log.findEpoch(lease);
    const findInstructions = (lease: number): string | null | undefined => this.log.findInstructions(lease);
    const onRequest = (request: ModelRequest, epoch: number | null): void => this.log.redactions.checkRequest(request, epoch);
    const onRefused = ({ reservation }: ModelRequest): void => this.budgets.noteRefused(reservation);
    this.model = new SimModel({
      scheduler,
      random,
      profile,
      violations,
      stats,
      book,
      choices,
      findEpoch,
      findInstructions,
      onRequest,
      onRefused,
    });
    this.queue = new SimQueue({
      scheduler,
      profile,
      stats,
      violations,
      log: this.#logger,
      model: (scope) =>
        this.#paid(
          this.model.for(scope, () => null),
          (request) => this.budgets.checkWork(request),
        ),
      session: (scope) => ({
        leaseCompaction: async (caller, compaction) => {
          const leased = await this.call(scope, "lease", (service) => service.leaseCompaction(caller, compaction));
          if (leased.ok && leased.value.kind === "leased") this.model.leases.set(leased.value.part.request.messages, leased.value.token);
          return leased;
        },
        holdsLease: (caller, lease) => this.call(scope, "holds lease", (service) => service.holdsLease(caller, lease)),
        // The worker does not learn of its second delivery.
        recordCompaction: async (caller, given) => {
          // A worker's own time may end at any chunk.
          const leaves = this.profile.queueDoubles > 0 && given.part % LEAVES_EVERY === 0;
          const input = leaves ? { ...given, leaves: true as const } : given;
          const record = () => this.call(scope, "record", (service) => service.recordCompaction(caller, input));
          const settled = await record();
          if (this.random.chance(this.profile.queueDoubles)) await record();
          if (settled.ok && settled.value.next === "later") this.stats.count("folds given back");
          if (settled.ok && settled.value.next === "continue") this.model.leases.set(settled.value.part.request.messages, input.token);
          return settled;
        },
      }),
    });
  }

  /** An idempotency key that no other request has. */
  newKey(): string {
    return `key-${++this.#keys}`;
  }

  /** The number of a request with several messages. */
  newBatch(): number {
    return ++this.#batches;
  }

  /** The number of a result that no other result has. */
  newResult(): number {
    return ++this.#results;
  }

  /** A stored offset between the two, kept or not. Null: there is none. */
  storedBetween(after: number, before: number): number | null {
    const [first] = this.#frames.find(([start, end]) => end > after && Math.max(start, after + 1) < before) ?? [null];
    return first === null ? null : Math.max(first, after + 1);
  }

  get hasNoViolation(): boolean {
    return this.violations.found.length === 0;
  }

  readonly #logger = {
    info: () => {},
    warn: (event: string) => this.stats.count(`log ${event}`),
    error: (event: string, fields?: Readonly<Record<string, unknown>>) => {
      const isInjected = ["DiskFullError", "WriteFailedError", "DeadObjectError"].includes(String(fields?.error));
      const expected = isInjected || ["model_threw", "summarizer_threw", "tool_threw"].includes(event);
      if (!expected) this.violations.report("I15", `${event} ${JSON.stringify(fields)}`);
      if (event === "frames_not_stored") this.unstored.push(Number(fields?.first));
    },
  };

  /** The wipe is a commit of its own. The object may die after it, before the next write. */
  async #wipe(base: Sql): Promise<void> {
    this.touched = true;
    this.alarmAt = null;
    this.#cancelAlarm();
    const emptied = base.wipe();
    if (this.random.chance(this.profile.wipeCuts)) this.#dieInside();
    return emptied;
  }

  /** The work takes time: the object may die in the middle, and leave the rest to the next life. */
  async #scrub(scope: Scope): Promise<void> {
    const reached = this.life?.runtime.state.redactions ?? 0;
    // Filler of one byte: a database in memory has no files.
    const exec = <Row extends SqlRow>(statement: string, ...params: SqlValue[]) => {
      const rows = this.sql.all<Row>(statement.replace(/zeroblob\(\d+\)/, "zeroblob(1)"), ...params);
      return { toArray: () => rows };
    };
    const storage = {
      sql: { exec, databaseSize: 0 },
      transactionSync: this.sql.transaction,
      sync: () => this.scheduler.gate(scope, "scrub"),
    };
    await scrub(storage, { schedule: (ms, work) => this.scheduler.timer(scope, { ms, label: "scrub" }, work) });
    this.scrubbed = Math.max(this.scrubbed, reached);
    this.stats.count("scrubs");
  }

  #dieInside(): void {
    this.stats.count("died behind a wipe");
    if (this.life) this.#cut.add(this.life.scope);
    this.crash();
  }

  /** Returns the object, and creates it if necessary. */
  wake(): Life {
    if (this.life) return this.life;
    const scope = new Scope(`life ${++this.#lives}`);
    const ports = { ...this.#storage(scope), ...this.#outside(scope) };
    const { built: runtime, kept } = buildWatched(() => new SessionRuntime(ports));
    this.life = { scope, runtime, kept, service: serveSession(runtime), calls: new Set() };
    return this.life;
  }

  #storage(scope: Scope) {
    const { scheduler, sql } = this;
    const guard = <A extends unknown[], R>(work: (...args: A) => R): ((...args: A) => R) => {
      return (...args) => {
        if (!scope.alive && !this.#cut.has(scope)) this.violations.report("harness", `${scope.name} reached its storage after its end`);
        if (!scope.alive) throw new DeadObjectError();
        return work(...args);
      };
    };
    const guarded: Sql = {
      all: guard((query, ...params) => {
        if (!query.startsWith("SELECT")) this.touched = true;
        const rows = sql.all(query, ...params);
        this.budgets.noteStatement(query, params);
        if (query.startsWith("INSERT INTO frames")) this.#frames.push([Number(params[0]), Number(params[1])]);
        return rows;
      }) as Sql["all"],
      script: guard(sql.script),
      transaction: guard(sql.transaction) as Sql["transaction"],
      sync: guard(sql.sync),
      wipe: guard(sql.wipe),
      scrub: guard(() => this.#scrub(scope)),
      usedBytes: guard(sql.usedBytes),
      isFull: guard(sql.isFull),
    };
    return {
      sql: createFaultySql(guarded, () => this.#fault()),
      clock: () => scheduler.now,
      ids: { newId: this.#ids },
      incarnation: scope.name,
      random: () => this.random.next(),
      schedule: (ms: number, work: () => void) => scheduler.timer(scope, { ms, label: `${ms} ms` }, work),
      setAlarm: (at: number) => this.#setAlarm(at),
      background: (work: Promise<void>) => {
        work.catch((error: unknown) => {
          if (!this.#cut.has(scope)) this.violations.report("I15", `background work threw ${String(error)}`);
        });
      },
    };
  }

  /** The error with which writes fail now. */
  #fault(): Error | null {
    const fails = this.diskIsFull || (this.profile.writeFails > 0 && this.random.chance(this.profile.writeFails));
    if (!fails) return null;
    this.failedAt = this.scheduler.now;
    this.stats.count(this.diskIsFull ? "writes on a full disk" : "writes failed");
    const state = this.life?.runtime.state;
    if (state?.turn === null && state.queue.length > 0) this.stats.count("failures to write between two turns");
    return this.diskIsFull ? new DiskFullError() : new WriteFailedError();
  }

  #outside(scope: Scope) {
    const { scheduler, profile } = this;
    const pause = (ms: number): Promise<void> => scheduler.sleep(scope, ms, "D1 pause");
    const announcements = this.hooks.for(scope);
    const projection = createProjection(this.d1.reachedBy(scope, { scheduler, fails: () => profile.d1Fails, hangs: true }), { pause });
    return {
      model: this.#paid(
        this.model.for(scope, () => this.#owed()),
        (request) => this.budgets.checkCall(scope, request),
      ),
      models: () => this.#directory(scope),
      tools: () => this.tools.for(scope),
      queue: this.queue.reachedBy(scope),
      projection: () => projection,
      files: () => ({ keep: async () => {} }),
      budgets: () => this.budgets.for(scope),
      ...(announcements && { announcements }),
      isSuspended: async () => {
        if (this.random.chance(profile.directoryFails / 4)) await scheduler.goWrong("the tenant's object is out of reach");
        return false;
      },
      acts: () => ({ record: async () => {} }),
      usageArchive: () => this.archive.for(scope),
      digest: async (text: string) => {
        await scheduler.gate(scope, "digest", { weight: 4 });
        return digestText(text);
      },
      deadlines: DEADLINES,
      keptPacks: this.profile.keptPacks,
      log: this.#logger,
    };
  }

  /** The required content of the session's request, according to everything that is stored now. */
  #owed(): Owed | null {
    const { life, log, sql } = this;
    if (life?.runtime.state.lifecycle !== "open") return null;
    log.catchUp();
    const { content, state } = life.runtime;
    const id = log.question?.id;
    const [asked] = id ? parseBody(readBodies(sql, [id]).get(id) ?? "[]").parts : [];
    return {
      state,
      question: asked?.type === "text" ? asked.text : null,
      pins: log.pins.map((pin) => content.readText(pin.body) ?? ""),
    };
  }

  #paid(model: ChatModel, check: (request: ModelRequest) => void): ChatModel {
    return {
      stream: (request, options) => {
        check(request);
        return model.stream(request, options);
      },
      render: (request) => model.render(request),
    };
  }

  #directory(scope: Scope): ModelDirectory {
    return {
      resolve: async (model) => {
        // A cached answer arrives at once. An answer of the tenant's object may not arrive at all.
        if (this.random.chance(0.7)) return MODELS[model] ?? null;
        await this.scheduler.gate(scope, "models", { weight: 2 });
        if (this.random.chance(this.profile.directoryFails)) return this.scheduler.goWrong("the tenant's object is out of reach");
        return MODELS[model] ?? null;
      },
    };
  }

  #setAlarm(at: number): void {
    this.touched = true;
    this.#cancelAlarm();
    this.alarmAt = at;
    this.#cancelAlarm = this.scheduler.timer(this.#platform, { ms: at - this.scheduler.now, label: "alarm" }, () => this.#ring());
  }

  /** The message is delivered at least once. */
  #ring(): void {
    this.touched = true;
    this.alarmAt = null;
    this.stats.count("alarms");
    ringAlarm(this.wake().runtime);
    if (!this.random.chance(0.05)) return;
    void this.scheduler.gate(this.#platform, "alarm again").then(() => ringAlarm(this.wake().runtime));
  }

  /** The object dies immediately. Its writes remain, and calls that wait for it fail. */
  crash(): void {
    const { life } = this;
    if (!life) return;
    this.stats.count("crashes");
    this.scheduler.trace.push(`${this.scheduler.steps} ${life.scope.name} dies`);
    this.life = null;
    this.scheduler.kill(life.scope);
    for (const fail of life.calls) fail(new ObjectResetError("the object was reset"));
  }

  /** One call of the session's object over the network. Rejects when the object dies before the response is sent. */
  async call<T>(from: Scope, label: string, work: (service: WholeSessionApi) => Promise<T>): Promise<T> {
    const { scheduler } = this;
    if (from === this.clients) this.openCalls++;
    try {
      const slow = from !== this.clients && this.profile.slowConsumers;
      if (slow) await scheduler.sleep(from, this.random.int(0, SLOWEST_MS), "a slow consumer");
      await scheduler.gate(from, `calls ${label}`, { weight: 3 });
      const life = this.wake();
      return await new Promise<T>((resolve, reject) => {
        const fail = (error: Error): void => void scheduler.gate(from, `${label} is lost`).then(() => reject(error));
        life.calls.add(fail);
        const answer = async (settle: () => void): Promise<void> => {
          await scheduler.gate(life.scope, `${label} answered`, { weight: 4 });
          life.calls.delete(fail);
          settle();
        };
        work(life.service).then(
          (value) => answer(() => resolve(value)),
          (error: unknown) => answer(() => reject(error)),
        );
      });
    } finally {
      if (from === this.clients) this.openCalls--;
    }
  }
}
