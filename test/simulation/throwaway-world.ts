import { serveSession } from "../../scripts/support/serve-session";
import type { WholeSessionApi } from "../../src/app/control-api";
import type { ChatModel, UsageArchive } from "../../src/app/ports";
import { type ErasedUsage, sumForErasure } from "../../src/domain/erased-usage";
import type { SessionId } from "../../src/domain/ids";
import { createTenantProjection } from "../../src/read-model/tenant-projection";
import { createProjection } from "../../src/read-model/writer";
import { ringAlarm } from "../../src/session/alarm";
import { createNameReader } from "../../src/session/log/bodies";
import { allCalls } from "../../src/session/log/event-log";
import { hasSchema } from "../../src/session/log/log-schema";
import type { Sql } from "../../src/session/log/sql";
import { SessionRuntime } from "../../src/session/runtime";
import { createFileRemoval, type FileRemoval } from "../../src/tenant/files/file-removal";
import { createFiles, type Files } from "../../src/tenant/files/files";
import { createErasedUsage } from "../../src/tenant/usage/erased-usage";
import { createUsageOutbox, type UsageOutbox } from "../../src/tenant/usage/usage-outbox";
import { countingIds, TENANT } from "../support/builders";
import { createMigratedSql } from "../tenant/memory-sql";
import { NAMES } from "../tenant/support";
import { SimObject } from "./file-world";
import { createQuietPorts, createSessionSql, createSlowModel } from "./quiet-session";
import { Random } from "./random";
import { Scheduler, Scope } from "./scheduler";
import type { SimD1 } from "./sim-d1";
import { Stats } from "./stats";
import { Violations } from "./violation";

const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

interface TenantLife {
  readonly scope: Scope;
  readonly files: Files;
  readonly removal: FileRemoval;
  readonly usage: UsageOutbox;
}

interface SessionLife {
  readonly scope: Scope;
  readonly runtime: SessionRuntime;
  readonly service: WholeSessionApi;
}

interface SimThrowaway {
  readonly sql: Sql;
  readonly object: SimObject<SessionLife>;
  /** The sums of its ledger when its database was emptied. Null: it was not emptied. */
  ledger: readonly ErasedUsage[] | null;
  /** The time of the newest event, as far as it was looked at. */
  updatedAt: number;
}

interface Faults {
  slow: number;
  d1Fails: number;
  tenantCrashes: number;
  sessionCrashes: number;
  workerCrashes: number;
}

export class ThrowawayWorld {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly stats = new Stats();
  readonly violations = new Violations();
  readonly platform = new Scope("platform");
  readonly faults: Faults;
  readonly sql = createMigratedSql();
  readonly d1: SimD1;
  readonly tenant: SimObject<TenantLife>;
  readonly sessions = new Map<SessionId, SimThrowaway>();
  readonly newId = countingIds();

  constructor(seed: number, d1: SimD1) {
    this.random = new Random(seed);
    this.scheduler = new Scheduler(this.random);
    this.d1 = d1;
    const { random } = this;
    this.faults = {
      slow: random.pick([0, 0, 0.05, 0.3]),
      d1Fails: random.pick([0, 0, 0.1, 0.6]),
      tenantCrashes: random.pick([0, 0.01, 0.04]),
      sessionCrashes: random.pick([0, 0.01, 0.04]),
      workerCrashes: random.pick([0, 0.01, 0.04]),
    };
    this.tenant = new SimObject(this, "tenant", {
      create: (scope) => this.#createTenant(scope),
      ring: ({ usage, removal }) => void removal.run().then(() => usage.drain().then(usage.resume)),
    });
  }

  #createTenant(scope: Scope): TenantLife {
    const { sql, scheduler } = this;
    const reached = this.d1.reachedBy(scope, { scheduler, fails: () => this.faults.d1Fails });
    const db = createTenantProjection(reached, (ms) => scheduler.sleep(scope, ms, "D1 pause"));
    const alarm = { get: async () => this.tenant.alarmAt, set: (at: number) => this.tenant.setAlarm(at) };
    const usage = createUsageOutbox({
      sql,
      store: createErasedUsage(sql, NAMES),
      write: (sums) => db.writeUsage(TENANT, sums),
      alarm,
      now: () => scheduler.now,
      log: SILENT,
    });
    const files = createFiles(sql);
    const removal = createFileRemoval({ sql, files, store: () => null, alarm, now: () => scheduler.now, log: SILENT });
    void usage.resume().then(removal.resume);
    return { scope, files, removal, usage };
  }

  findSession(id: SessionId): SimThrowaway {
    const known = this.sessions.get(id);
    if (known) return known;
    const sql = createSessionSql(() => this.#noteEnd(id));
    const object = new SimObject<SessionLife>(this, `session ${id.slice(-3)}`, {
      create: (scope) => this.#createSession(id, sql, scope),
      ring: ({ runtime }) => ringAlarm(runtime),
    });
    const made = { sql, object, ledger: null, updatedAt: this.scheduler.now };
    this.sessions.set(id, made);
    return made;
  }

  #noteEnd(id: SessionId): void {
    const session = this.findSession(id);
    this.stats.count("sessions ended");
    if (hasSchema(session.sql)) session.ledger = sumForErasure(allCalls(session.sql), createNameReader(session.sql));
    session.object.clearAlarm();
  }

  #createSession(id: SessionId, sql: Sql, scope: Scope): SessionLife {
    const { scheduler } = this;
    const projection = createProjection(this.d1.reachedBy(scope, { scheduler, fails: () => 0 }));
    const runtime = new SessionRuntime({
      ...createQuietPorts(this, scope),
      sql,
      setAlarm: (at) => this.findSession(id).object.setAlarm(at),
      model: this.#model(scope),
      projection: () => projection,
      usageArchive: () => this.#archive(scope),
      files: () => ({ keep: async () => this.violations.report("I38", "a throwaway session keeps files") }),
    });
    return { scope, runtime, service: serveSession(runtime) };
  }

  #archive(scope: Scope): UsageArchive {
    return {
      keep: async () => {
        this.violations.report("I38", "a throwaway session is erased as others are");
        return [];
      },
      endThrowaway: (session, usage) =>
        this.tenant.call(scope, "end", async (life) => {
          this.sql.transaction(() => life.usage.add(session, usage));
          await life.usage.resume();
          await this.#release(life, session);
          void life.usage.drain();
        }),
    };
  }

  async #release({ files, removal }: TenantLife, session: SessionId): Promise<void> {
    const released = this.sql.transaction(() => {
      files.release(session, this.scheduler.now);
      return files.listRemovedFor(session);
    });
    await removal.remove(released);
  }

  /** The Worker of a request that was refused. */
  releaseFiles(from: Scope, session: SessionId): Promise<void> {
    return this.tenant.call(from, "release", (life) => this.#release(life, session));
  }

  #model(scope: Scope): ChatModel {
    const { random, stats } = this;
    const words = (): number => {
      stats.count("calls");
      return random.int(1, 4);
    };
    return createSlowModel(this, scope, { words, longest: () => 20_000, calls: () => random.chance(0.3) });
  }

  callSession<T>(
    from: Scope,
    session: SessionId,
    label: string,
    work: (service: WholeSessionApi, caller: { readonly tenant: typeof TENANT; readonly session: SessionId }) => Promise<T>,
  ): Promise<T> {
    return this.findSession(session).object.call(from, label, ({ service }) => work(service, { tenant: TENANT, session }));
  }

  /** From now on nothing fails and nothing dies. */
  calm(): void {
    for (const name of Object.keys(this.faults) as (keyof Faults)[]) this.faults[name] = 0;
  }
}
