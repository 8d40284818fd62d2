import { serveSession } from "../../scripts/support/serve-session";
import type { WholeSessionApi } from "../../src/app/control-api";
import type { FileReferences } from "../../src/app/file-api";
import type { SessionId } from "../../src/domain/ids";
import { ringAlarm } from "../../src/session/alarm";
import type { Sql } from "../../src/session/log/sql";
import { SessionRuntime } from "../../src/session/runtime";
import { createErasures, type Erasures } from "../../src/tenant/erasure/erasures";
import { createFileRemoval, type FileRemoval } from "../../src/tenant/files/file-removal";
import { createFiles, type Files } from "../../src/tenant/files/files";
import { createDirectory, type Directory } from "../../src/tenant/shared/directory";
import { countingIds, TENANT } from "../support/builders";
import { createMigratedSql } from "../tenant/memory-sql";
import { NOTHING_TO_FORGET } from "../tenant/support";
import { Hashing } from "./hashing";
import { createQuietPorts, createSessionSql } from "./quiet-session";
import { Random } from "./random";
import { Scheduler, Scope } from "./scheduler";
import { type BucketFaults, SimBucket } from "./sim-bucket";
import { Stats } from "./stats";
import { Violations } from "./violation";

const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

/** The object was reset during a call. */
export class ResetError extends Error {
  override readonly name = "ResetError";
}

interface TenantLife {
  readonly scope: Scope;
  readonly files: Files;
  readonly removal: FileRemoval;
  readonly directory: Directory;
  readonly erasures: Erasures;
}

type ObjectWorld = Pick<FileWorld, "scheduler" | "platform" | "stats" | "random"> & { readonly faults: { readonly slow: number } };

/** An object that dies and is created again by the next call or alarm. Calls of it fail with it. */
export class SimObject<L extends { readonly scope: Scope }> {
  life: L | null = null;
  alarmAt: number | null = null;
  #lives = 0;
  #cancelAlarm = () => {};
  readonly #calls = new Set<(error: Error) => void>();

  readonly name: string;
  readonly world: ObjectWorld;
  readonly create: (scope: Scope) => L;
  readonly ring: (life: L) => void;

  constructor(world: ObjectWorld, name: string, parts: { readonly create: (scope: Scope) => L; readonly ring: (life: L) => void }) {
    this.world = world;
    this.name = name;
    this.create = parts.create;
    this.ring = parts.ring;
  }

  wake(): L {
    this.life ??= this.create(new Scope(`${this.name} ${++this.#lives}`));
    return this.life;
  }

  setAlarm(at: number): void {
    const { scheduler, platform } = this.world;
    this.#cancelAlarm();
    this.alarmAt = at;
    this.#cancelAlarm = scheduler.timer(platform, { ms: at - scheduler.now, label: `${this.name}'s alarm` }, () => {
      this.alarmAt = null;
      this.ring(this.wake());
    });
  }

  /** The platform removes the alarm together with the data. */
  clearAlarm(): void {
    this.#cancelAlarm();
    this.alarmAt = null;
  }

  crash(): void {
    if (!this.life) return;
    this.world.stats.count(`${this.name.replace(/ .*/, "")} crashes`);
    this.world.scheduler.kill(this.life.scope);
    this.life = null;
    for (const fail of this.#calls) fail(new ResetError(`${this.name} was reset`));
    this.#calls.clear();
  }

  /** `fail` is called when the present life ends. Returns what takes it back. */
  watch(fail: (error: Error) => void): () => void {
    this.#calls.add(fail);
    return () => this.#calls.delete(fail);
  }

  /** One call over the network. It arrives when the scheduler says, and its answer may be lost. */
  async call<T>(from: Scope, label: string, work: (life: L) => Promise<T> | T): Promise<T> {
    const { scheduler, random } = this.world;
    if (random.chance(this.world.faults.slow)) await scheduler.sleep(from, random.int(0, 60_000), `${label} is slow`);
    await scheduler.gate(from, `${label} to ${this.name}`);
    const life = this.wake();
    return await new Promise<T>((resolve, reject) => {
      const fail = (error: Error): void => void scheduler.gate(from, `${label} is lost`).then(() => reject(error));
      this.#calls.add(fail);
      const settle = async (done: () => void): Promise<void> => {
        await scheduler.gate(life.scope, `${label} answered`, { weight: 3 });
        this.#calls.delete(fail);
        done();
      };
      Promise.resolve()
        .then(() => work(life))
        .then(
          (value) => settle(() => resolve(value)),
          (error: unknown) => settle(() => reject(error)),
        );
    });
  }
}

interface SessionLife {
  readonly scope: Scope;
  readonly runtime: SessionRuntime;
  readonly service: WholeSessionApi;
}

export interface SimSession {
  readonly id: SessionId;
  readonly sql: Sql;
  readonly object: SimObject<SessionLife>;
}

interface WorldFaults extends BucketFaults {
  tenantCrashes: number;
  sessionCrashes: number;
  clientCrashes: number;
}

export class FileWorld {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly stats = new Stats();
  readonly violations = new Violations();
  readonly platform = new Scope("platform");
  readonly faults: WorldFaults;
  readonly bucket: SimBucket;
  readonly sql = createMigratedSql();
  readonly tenant: SimObject<TenantLife>;
  readonly sessions = new Map<SessionId, SimSession>();
  readonly newId = countingIds();
  readonly hashing = new Hashing();

  constructor(seed: number) {
    this.random = new Random(seed);
    this.scheduler = new Scheduler(this.random);
    const { random, scheduler, stats } = this;
    const draw = (): number => random.pick([0, 0, 0.05, 0.3]);
    this.faults = {
      putFails: draw(),
      putAnswerLost: draw(),
      putLate: draw(),
      getFails: draw(),
      deleteFails: draw(),
      deleteAnswerLost: draw(),
      slow: draw(),
      tenantCrashes: random.pick([0, 0.01, 0.04]),
      sessionCrashes: random.pick([0, 0.01, 0.04]),
      clientCrashes: random.pick([0, 0.01, 0.03]),
    };
    this.bucket = new SimBucket({ scheduler, random, stats, faults: this.faults });
    this.tenant = new SimObject(this, "tenant", { create: (scope) => this.#createTenant(scope), ring: ringTenant });
  }

  #createTenant(scope: Scope): TenantLife {
    const { sql, scheduler, bucket } = this;
    const alarm = {
      get: async () => this.tenant.alarmAt,
      set: (at: number) => this.tenant.setAlarm(at),
    };
    const now = () => scheduler.now;
    const files = createFiles(sql);
    const removal = createFileRemoval({ sql, files, store: () => bucket.reachedBy(scope), alarm, now, log: SILENT });
    const erase = async (session: SessionId): Promise<boolean> => {
      const erased = await this.callSession(scope, session, "erase", (service, caller) => service.erase(caller, true));
      if (!erased.ok || erased.value.stores.some(({ status }) => status !== "erased")) return false;
      return (await releaseFiles(this, life, session)).pending === 0;
    };
    const erasures = createErasures({
      sql,
      alarm,
      erase,
      readLabels: async () => ({ end_user: null, source: null }),
      hide: async () => {},
      ...NOTHING_TO_FORGET,
      sweep: async () => true,
      newErasureId: () => this.newId("era"),
      now,
      log: SILENT,
    });
    const life = { scope, files, removal, directory: createDirectory(sql), erasures };
    void erasures.resume().then(() => removal.resume());
    return life;
  }

  /** The object of a session, which is created when it is first called. */
  findSession(id: SessionId): SimSession {
    const known = this.sessions.get(id);
    if (known) return known;
    const sql = createSessionSql(() => made.object.clearAlarm());
    const made: SimSession = {
      id,
      sql,
      object: new SimObject(this, `session ${id.slice(-3)}`, {
        create: (scope) => this.#createSession(id, sql, scope),
        ring: ({ runtime }) => ringAlarm(runtime),
      }),
    };
    this.sessions.set(id, made);
    return made;
  }

  #createSession(id: SessionId, sql: Sql, scope: Scope): SessionLife {
    const runtime = new SessionRuntime({
      ...createQuietPorts(this, scope),
      sql,
      setAlarm: (at) => this.findSession(id).object.setAlarm(at),
      background: (work) => void work.catch(() => this.stats.count("background work failed")),
      model: { stream: async function* () {}, render: async () => ({ url: "", body: "" }) },
      files: () => ({ keep: (input) => this.#keep(scope, input) }),
    });
    return { scope, runtime, service: serveSession(runtime) };
  }

  #keep(scope: Scope, input: Parameters<FileReferences["keep"]>[0]): Promise<void> {
    return this.tenant.call(scope, "keep", async ({ files, removal, directory }) => {
      if (!directory.has(input.session)) return;
      await removal.remove(this.sql.transaction(() => files.keep(input, this.scheduler.now)));
    });
  }

  callSession<T>(
    from: Scope,
    session: SessionId,
    label: string,
    work: (service: WholeSessionApi, caller: { readonly tenant: typeof TENANT; readonly session: SessionId }) => Promise<T>,
  ): Promise<T> {
    const { object } = this.findSession(session);
    return object.call(from, label, ({ service }) => work(service, { tenant: TENANT, session }));
  }

  /** One step, and what follows from it without waiting. False when nothing is left. */
  async step(): Promise<boolean> {
    const went = await this.scheduler.step();
    await this.hashing.settle();
    return went;
  }

  /** From now on nothing fails and nothing dies. */
  calm(): void {
    for (const name of Object.keys(this.faults) as (keyof WorldFaults)[]) this.faults[name] = 0;
  }
}

function ringTenant({ erasures, removal }: TenantLife): void {
  void erasures.run().then(() => removal.run());
}

/** What the tenant's object does at the end of an erasure. */
export async function releaseFiles(world: FileWorld, { files, removal }: TenantLife, session: SessionId) {
  const ended = world.sql.transaction(() => {
    files.release(session, world.scheduler.now);
    return files.listRemovedFor(session);
  });
  const pending = await removal.remove(ended);
  return { erased: ended.length - pending, pending };
}
