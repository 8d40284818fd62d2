import { serveSession } from "../../scripts/support/serve-session";
import type { WholeSessionApi } from "../../src/app/control-api";
import { listHolding, listWritten, type Placement } from "../../src/app/placement";
import type { MovePorts } from "../../src/app/projection/move-ports";
import type { TenantChange } from "../../src/app/tenant-api";
import type { TenantProjection } from "../../src/app/tenant-projection";
import type { SessionId } from "../../src/domain/ids";
import { ok } from "../../src/lib/result";
import { findWrittenDatabases, type ReadModelEnv } from "../../src/read-model/database-for";
import { createMoveDatabase } from "../../src/read-model/move-database";
import { createPlacedProjection, createPlacedTenantProjection } from "../../src/read-model/placed-projection";
import { createTenantProjection } from "../../src/read-model/tenant-projection";
import { createProjection } from "../../src/read-model/writer";
import { ringAlarm } from "../../src/session/alarm";
import { hasSchema, readMeta } from "../../src/session/log/log-schema";
import type { Sql } from "../../src/session/log/sql";
import { SessionRuntime } from "../../src/session/runtime";
import { createPlacementStore } from "../../src/tenant/shared/placement-store";
import { createErasedUsage } from "../../src/tenant/usage/erased-usage";
import { createUsageBound } from "../../src/tenant/usage/usage-bound";
import { createUsageRetention, type UsageRetention } from "../../src/tenant/usage/usage-retention";
import { ACT } from "../support/act";
import { countingIds, TENANT } from "../support/builders";
import { createMigratedSql } from "../tenant/memory-sql";
import { NAMES as OWNERS } from "../tenant/support";
import { SimObject } from "./file-world";
import { createQuietPorts, createSessionSql, createSlowModel } from "./quiet-session";
import { Random } from "./random";
import { Scheduler, Scope } from "./scheduler";
import type { SimD1 } from "./sim-d1";
import { Stats } from "./stats";
import { Violations } from "./violation";

const SILENT = { info: () => {}, warn: () => {}, error: () => {} };
/** D1 ends a query that takes longer (Cloudflare's D1 limits). */
const QUERY_MS = 30_000;
const LOG_PAGE = 5;
/** A run lasts for less than an hour, so that it has one month's end at most. */
const MONTH_END = Date.UTC(2023, 11, 1);
/** Usage goes when its month ends: the rule that the API takes would wait for one month more. */
const RULE = { months: 0, starts_at: 0 };
export const NAMES = ["DB", "DB_2", "DB_3"] as const;
type Name = (typeof NAMES)[number];
export type Databases = Readonly<Record<Name, SimD1>>;

const CHANGE: TenantChange = {
  tenant: TENANT,
  created_at: 1,
  settings: { name: "Acme", default_model: "big", default_policy: "", allowed_origins: [] },
  models: [],
};

interface SessionLife {
  readonly scope: Scope;
  readonly runtime: SessionRuntime;
  readonly service: WholeSessionApi;
}

interface TenantLife {
  readonly scope: Scope;
  readonly usageRetention: UsageRetention;
}

interface SimSession {
  readonly sql: Sql;
  readonly object: SimObject<SessionLife>;
}

interface Faults {
  slow: number;
  d1Fails: number;
  tenantCrashes: number;
  sessionCrashes: number;
  moverCrashes: number;
}

export class MoveWorld {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly stats = new Stats();
  readonly violations = new Violations();
  readonly platform = new Scope("platform");
  readonly faults: Faults;
  readonly sql = createMigratedSql();
  readonly placements = createPlacementStore(this.sql);
  readonly usage = createErasedUsage(this.sql, OWNERS);
  readonly usageBound = createUsageBound(this.sql);
  readonly tenant: SimObject<TenantLife>;
  readonly sessions = new Map<SessionId, SimSession>();
  /** Sessions whose erasure is done, and which the tenant's directory has no more. */
  readonly erased = new Set<SessionId>();
  readonly databases: Databases;
  readonly newId = countingIds();
  /** How many movers send steps at the same time. */
  readonly movers: number;

  constructor(seed: number, databases: Databases) {
    this.random = new Random(seed);
    this.scheduler = new Scheduler(this.random, MONTH_END - this.random.int(0, 6 * 60_000));
    this.databases = databases;
    const { random } = this;
    this.faults = {
      slow: random.pick([0, 0, 0.05, 0.3]),
      d1Fails: random.pick([0, 0, 0.05, 0.2]),
      tenantCrashes: random.pick([0, 0.01, 0.04]),
      sessionCrashes: random.pick([0, 0.01, 0.04]),
      moverCrashes: random.pick([0, 0.01, 0.04]),
    };
    this.movers = random.pick([1, 1, 2, 12]);
    this.tenant = new SimObject(this, "tenant", { create: (scope) => this.#createTenant(scope), ring: () => {} });
  }

  #reach(name: Name, scope: Scope): D1Database {
    return this.databases[name].reachedBy(scope, { scheduler: this.scheduler, fails: () => this.faults.d1Fails, deadlineMs: QUERY_MS });
  }

  /** An isolate, which keeps what it knows of the placement as long as it lives. */
  isolate(scope: Scope): ReadModelEnv {
    const readPlacement = (): Promise<Placement | null> => this.tenant.call(scope, "placement", () => this.placements.read());
    return {
      DB: this.#reach("DB", scope),
      DB_2: this.#reach("DB_2", scope),
      DB_3: this.#reach("DB_3", scope),
      TENANTS: { getByName: () => ({ readPlacement }) },
      now: () => this.scheduler.now,
    };
  }

  /** An isolate that reaches everything at once, for checks at rest. */
  settled(): ReadModelEnv {
    const { DB, DB_2, DB_3 } = this.databases;
    const readPlacement = async (): Promise<Placement> => this.placements.read();
    return {
      DB: DB.direct,
      DB_2: DB_2.direct,
      DB_3: DB_3.direct,
      TENANTS: { getByName: () => ({ readPlacement }) },
      now: () => this.scheduler.now,
    };
  }

  findSession(id: SessionId): SimSession {
    const known = this.sessions.get(id);
    if (known) return known;
    const sql = createSessionSql(() => object.clearAlarm());
    const object = new SimObject<SessionLife>(this, `session ${id.slice(-3)}`, {
      create: (scope) => this.#createSession(id, sql, scope),
      ring: ({ runtime }) => ringAlarm(runtime),
    });
    const made = { sql, object };
    this.sessions.set(id, made);
    return made;
  }

  #createSession(id: SessionId, sql: Sql, scope: Scope): SessionLife {
    const { scheduler } = this;
    const isolate = this.isolate(scope);
    const pause = (ms: number): Promise<void> => scheduler.sleep(scope, ms, "D1 pause");
    const projection = createPlacedProjection(
      () => findWrittenDatabases(isolate, TENANT),
      (db) => createProjection(db, { pause }),
    );
    const runtime = new SessionRuntime({
      ...createQuietPorts(this, scope),
      sql,
      setAlarm: (at) => this.findSession(id).object.setAlarm(at),
      model: createSlowModel(this, scope, { longest: () => 5_000 }),
      projection: () => projection,
      usageArchive: () => ({
        keep: (session, usage) => this.tenant.call(scope, "keep", () => this.sql.transaction(() => this.usage.keep(session, usage))),
        endThrowaway: async () => this.violations.report("I40", "no session is a throwaway session"),
      }),
    });
    return { scope, runtime, service: serveSession(runtime) };
  }

  #createTenant(scope: Scope): TenantLife {
    const usageRetention = createUsageRetention({
      sql: this.sql,
      bound: this.usageBound,
      readRule: () => RULE,
      isSuspended: () => false,
      remove: (before) => this.#tenantProjection(scope).removeUsage(TENANT, before),
      // A client of the world rings instead.
      alarm: { get: async () => null, set: () => {} },
      now: () => this.scheduler.now,
      log: SILENT,
    });
    return { scope, usageRetention };
  }

  /** What a mover needs, as the Worker that runs one step has it. */
  movePorts(scope: Scope): MovePorts {
    // An answer that comes after the mover's death is read by no one.
    const whileAlive = <T>(answer: Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        answer.then(
          (value) => scope.alive && resolve(value),
          (error: unknown) => scope.alive && reject(error),
        );
      });
    const call = <T>(label: string, work: () => T): Promise<T> => whileAlive(this.tenant.call(scope, label, work));
    return {
      act: ACT,
      now: () => this.scheduler.now,
      budget: this.random.pick([20, 400]),
      schedule: (ms, work) => this.scheduler.timer(scope, { ms, label: "move" }, work),
      database: (name) =>
        createMoveDatabase(this.#reach(NAMES.find((known) => known === name) ?? "DB", scope), {
          wait: (ms) => this.scheduler.sleep(scope, ms, "D1 pause"),
          now: () => this.scheduler.now,
        }),
      readLog: (session, after) =>
        whileAlive(
          this.findSession(session).object.call(scope, "log", ({ service }) =>
            service.exportLog({ tenant: TENANT, session }, { after, limit: LOG_PAGE }),
          ),
        ),
      object: () => ({
        placement: () => call("placement", () => ok(this.placements.read())),
        place: (_, change) => call("place", () => this.sql.transaction(() => ok(this.placements.place(change)))),
        listSessions: ({ after, limit }) =>
          call("list", () => {
            const ids = [...this.sessions.keys()].filter((id) => !this.erased.has(id) && (after === null || id < after));
            const data = ids
              .sort()
              .reverse()
              .map((id) => ({ id, created_at: 1 }));
            return ok({ data: data.slice(0, limit), has_more: data.length > limit });
          }),
        usageBound: () => call("bound", () => ok(this.usageBound.read().wanted)),
        exportTenant: () =>
          call("export", () => ok({ ...CHANGE, keys: [], standing: { status: "active", suspended_at: null, reason: null } })),
        listErasedUsage: (page) => call("usage", () => ok(this.usage.list(page))),
        projectAgain: () => whileAlive(this.tenant.call(scope, "project", (life) => this.#projectTenant(life.scope))),
      }),
    };
  }

  #tenantProjection(scope: Scope): TenantProjection {
    const open = (name: string) =>
      createTenantProjection(this.#reach(NAMES.find((known) => known === name) ?? "DB", scope), (ms) =>
        this.scheduler.sleep(scope, ms, "D1 pause"),
      );
    return createPlacedTenantProjection({
      written: () => listWritten(this.placements.read()).map(open),
      held: () => listHolding(this.placements.read()).map(open),
    });
  }

  async #projectTenant(scope: Scope) {
    await this.#tenantProjection(scope).write(CHANGE);
    return ok(null);
  }

  /** The last event that the session has ticked off as written. */
  readTicked(session: SessionId): number {
    const { sql } = this.findSession(session);
    return hasSchema(sql) ? Number(readMeta(sql, "projected_seq") ?? 0) : 0;
  }

  /** From now on nothing fails and nothing dies. */
  calm(): void {
    for (const name of Object.keys(this.faults) as (keyof Faults)[]) this.faults[name] = 0;
  }
}
