import { AsyncLocalStorage } from "node:async_hooks";
import { serveSession } from "../../scripts/support/serve-session";
import type { WholeSessionApi } from "../../src/app/control-api";
import type { UsageArchive } from "../../src/app/ports";
import type { SessionId } from "../../src/domain/ids";
import { ok } from "../../src/lib/result";
import { createTenantProjection } from "../../src/read-model/tenant-projection";
import { createProjection } from "../../src/read-model/writer";
import { ringAlarm } from "../../src/session/alarm";
import type { Sql } from "../../src/session/log/sql";
import { SessionRuntime } from "../../src/session/runtime";
import { sessionCalls } from "../../src/session/service";
import type { Tenant } from "../../src/tenant/core/tenant";
import { tenantCalls } from "../../src/tenant/tenant-calls";
import { createUsageArchive } from "../../src/tenant/usage/usage-archive";
import { countingIds, id, TENANT } from "../support/builders";
import { type Cost, createCountedSql } from "../support/counted-sql";
import { AN_ALARM, findMostCost, isWithin, MOST_D1_ROWS } from "../support/deletion-cost";
import { createMeteredD1 } from "../support/metered-d1";
import { type MemorySessions, NO_SESSIONS, openMemoryTenant } from "../tenant/memory-tenant";
import { SimObject } from "./file-world";
import { Hashing } from "./hashing";
import { createQuietPorts, createSessionSql, createSlowModel } from "./quiet-session";
import { Random } from "./random";
import { Scheduler, Scope } from "./scheduler";
import type { SimD1 } from "./sim-d1";
import { Stats } from "./stats";
import { Violations } from "./violation";

/** The platform ends an alarm that takes longer, with its object, and rings again (Cloudflare's limits of Durable Objects). */
const ALARM_MS = 15 * 60_000;
/** After an alarm that failed the platform waits before it rings again. */
const ALARM_AGAIN_MS = 2_000;
/** Sessions that are rows only have ids of this number on, or below the others. */
const ROWS_FROM = 50_000;

/** A session may be a part of two erasures that go on: its end user's, and the tenant's. */
export const ERASURES = 2;
export const COSTS = ["statements", "read", "written"] as const;

interface SessionLife {
  readonly scope: Scope;
  readonly runtime: SessionRuntime;
  readonly service: WholeSessionApi;
}

interface TenantLife {
  readonly scope: Scope;
  readonly tenant: Tenant;
}

interface SimSession {
  readonly sql: Sql;
  readonly object: SimObject<SessionLife>;
}

interface Faults {
  slow: number;
  d1Fails: number;
  /** A call of a session that is rows only fails, or as often is never answered. */
  sessionFails: number;
  tenantCrashes: number;
  sessionCrashes: number;
}

/** What one alarm or request did in the tenant's object: how many sessions it noted for an erasure, and how many it asked to erase themselves. */
interface Spent extends Record<keyof Cost | "noted" | "asked", number> {
  readonly of: "alarm" | "request";
}

/** A real tenant over a database in memory, with real sessions, and others of which there are only rows. */
export class DeletionWorld {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly stats = new Stats();
  readonly violations = new Violations();
  readonly platform = new Scope("platform");
  readonly faults: Faults;
  readonly d1: SimD1;
  readonly tenant: SimObject<TenantLife>;
  readonly sessions = new Map<SessionId, SimSession>();
  /** Sessions that are rows only and were not erased. */
  readonly rows: Set<SessionId>;
  readonly newId = countingIds();
  readonly hashing = new Hashing();
  /** All alarms and requests of the tenant's object. */
  readonly spent: Spent[] = [];
  readonly #spending = new AsyncLocalStorage<Spent>();
  readonly #counted = createCountedSql((cost, statement) => {
    const spent = this.#spending.getStore();
    if (!spent) return;
    for (const what of COSTS) spent[what] += cost[what];
    if (statement.startsWith("INSERT INTO erasures ")) spent.noted += 1;
  });
  readonly sql = this.#counted.sql;
  /** The life whose alarm goes on. The platform rings one at a time. */
  #ringing: Scope | null = null;
  readonly #erasedRows = new Set<SessionId>();

  constructor(seed: number, d1: SimD1) {
    this.random = new Random(seed);
    this.scheduler = new Scheduler(this.random);
    this.d1 = d1;
    const { random } = this;
    this.faults = {
      slow: random.pick([0, 0, 0.05, 0.3]),
      d1Fails: random.pick([0, 0, 0.05, 0.2]),
      sessionFails: random.pick([0, 0, 0.02, 0.2]),
      tenantCrashes: random.pick([0, 0.005, 0.02]),
      sessionCrashes: random.pick([0, 0.01, 0.04]),
    };
    const from = random.pick([0, ROWS_FROM]);
    const rows = random.pick([0, 1, 20, AN_ALARM - 1, AN_ALARM, 2 * AN_ALARM + 50, 3 * AN_ALARM + 50]);
    this.rows = new Set(Array.from({ length: rows }, (_, n) => id("ses", from + n + 1)));
    for (let n = from === 0 ? rows : 0; n > 0; n--) this.newId("ses");
    const { scheduler } = this;
    this.tenant = new SimObject(this, "tenant", { create: (scope) => this.#createTenant(scope), ring: (life) => this.#ring(life) });
    const { tenant } = this.tenant.wake();
    tenant.create(() => {
      tenant.settings.insert({ tenant: TENANT, name: "Acme", at: scheduler.now });
      return ok(null);
    });
  }

  /** The rows of sessions that were there before the run, here and in D1. */
  async fill(): Promise<void> {
    const now = this.scheduler.now;
    const list = "INSERT INTO sessions (tenant_id, id, model, policy, created_at, updated_at, last_seq) VALUES (?, ?, 'm', 'p', 1, 1, 1)";
    for (const session of this.rows) {
      const owner = this.random.pick([null, "ada", "eve"]);
      const { tenant } = this.tenant.wake();
      tenant.directory.register({ session, idempotency: null, at: now, end_user: owner && tenant.digestEndUser(owner) });
      await this.d1.direct.prepare(list).bind(TENANT, session).run();
    }
  }

  #createTenant(scope: Scope): TenantLife {
    const { scheduler, violations } = this;
    const reached = this.d1.reachedBy(scope, { scheduler, fails: () => this.faults.d1Fails, hangs: true });
    const { db } = createMeteredD1(reached, (rows) =>
      violations.check(rows <= MOST_D1_ROWS, "I56", () => `a batch of the tenant's object wrote ${rows} rows in D1`),
    );
    const object = () => this.tenant;
    // What a life does when it begins is a part of no alarm.
    const tenant = this.#spending.exit(() =>
      openMemoryTenant({
        sql: this.sql,
        sessions: ({ session }) => this.#reachSession(scope, session),
        projection: createTenantProjection(db, (ms) => scheduler.sleep(scope, ms, "D1 pause")),
        alarm: {
          get at() {
            return object().alarmAt;
          },
          set at(at) {
            if (at === null) object().clearAlarm();
            else object().setAlarm(at);
          },
        },
      }),
    );
    return { scope, tenant };
  }

  /** One alarm at a time. One that throws, dies or takes too long rings again. */
  #ring({ scope, tenant }: TenantLife): void {
    if (this.#ringing === scope) return this.tenant.setAlarm(this.scheduler.now + ALARM_AGAIN_MS);
    this.#ringing = scope;
    const cancel = this.scheduler.timer(scope, { ms: ALARM_MS, label: "the alarm takes too long" }, () => this.crashTenant());
    const again = (): void => this.tenant.setAlarm(this.scheduler.now + ALARM_AGAIN_MS);
    void this.#meter("alarm", () => tenant.upkeep.ring())
      .catch(again)
      .finally(() => {
        cancel();
        this.#ringing = null;
      });
  }

  crashTenant(): void {
    const isRinging = this.#ringing !== null;
    this.#ringing = null;
    this.tenant.crash();
    if (isRinging) this.tenant.setAlarm(this.scheduler.now + ALARM_AGAIN_MS);
  }

  /** Notes what the work does in the tenant's object, at once and after each await. */
  #meter<T>(of: Spent["of"], work: () => Promise<T>): Promise<T> {
    const spent: Spent = { of, noted: 0, asked: 0, statements: 0, read: 0, written: 0 };
    this.spent.push(spent);
    return this.#spending.run(spent, work);
  }

  /** A call of the tenant's object, as a Worker or another object makes it. */
  callTenant<T>(from: Scope, label: string, work: (tenant: Tenant) => Promise<T>): Promise<T> {
    return this.tenant.call(from, label, ({ tenant }) => this.#meter("request", () => work(tenant)));
  }

  callSession<T>(
    from: Scope,
    session: SessionId,
    label: string,
    work: (service: WholeSessionApi, caller: { readonly tenant: typeof TENANT; readonly session: SessionId }) => Promise<T>,
  ): Promise<T> {
    return this.findSession(session).object.call(from, label, ({ service }) => work(service, { tenant: TENANT, session }));
  }

  /** A session as the tenant's object reaches it. */
  #reachSession(scope: Scope, session: SessionId): ReturnType<MemorySessions> {
    const reached =
      this.rows.has(session) || this.#erasedRows.has(session) ? this.#reachRows(scope, session) : this.#reachObject(scope, session);
    return {
      ...reached,
      erase: (...input) => {
        const spent = this.#spending.getStore();
        if (spent) spent.asked += 1;
        return reached.erase(...input);
      },
    };
  }

  #reachObject(scope: Scope, session: SessionId): ReturnType<MemorySessions> {
    const { object } = this.findSession(session);
    const calls = Object.entries(sessionCalls).map(([name, call]) => [
      name,
      (...input: readonly unknown[]) =>
        object.call(scope, name, ({ runtime }): unknown => Reflect.apply(call, undefined, [runtime, ...input])),
    ]);
    // As `serveSession` does, over the network.
    return Object.fromEntries(calls) as WholeSessionApi;
  }

  /** A session of which only its rows are there. Its erasure removes them, and its answer may be lost. */
  #reachRows(scope: Scope, session: SessionId): ReturnType<MemorySessions> {
    const { scheduler, random, faults } = this;
    const at = () => scheduler.now;
    return {
      ...NO_SESSIONS({ tenant: TENANT, session }),
      erase: async () => {
        await scheduler.gate(scope, `erases the rows of ${session.slice(-3)}`);
        const isLost = random.chance(faults.sessionFails);
        if (isLost && random.chance(0.5)) return scheduler.goWrong("the session's object is out of reach");
        await createProjection(this.d1.direct).erase({ tenant: TENANT, session, at: at() });
        this.rows.delete(session);
        this.#erasedRows.add(session);
        if (isLost) return scheduler.goWrong("the session's object was reset");
        const stores = ["session", "read_model"] as const;
        return ok({ id: session, erased_at: at(), stores: stores.map((store) => ({ store, status: "erased" as const, rows: null })) });
      },
    };
  }

  findSession(session: SessionId): SimSession {
    const known = this.sessions.get(session);
    if (known) return known;
    const sql = createSessionSql(() => made.object.clearAlarm());
    const made: SimSession = {
      sql,
      object: new SimObject<SessionLife>(this, `session ${session.slice(-3)}`, {
        create: (scope) => this.#createSession(made, scope),
        ring: ({ runtime }) => ringAlarm(runtime),
      }),
    };
    this.sessions.set(session, made);
    return made;
  }

  #createSession({ sql, object }: SimSession, scope: Scope): SessionLife {
    const { scheduler } = this;
    const reached = this.d1.reachedBy(scope, { scheduler, fails: () => this.faults.d1Fails, hangs: true });
    const projection = createProjection(reached, { pause: (ms) => scheduler.sleep(scope, ms, "D1 pause") });
    const runtime = new SessionRuntime({
      ...createQuietPorts(this, scope),
      sql,
      setAlarm: (at) => object.setAlarm(at),
      model: createSlowModel(this, scope, { longest: () => 20_000 }),
      projection: () => projection,
      usageArchive: () => this.#archive(scope),
    });
    return { scope, runtime, service: serveSession(runtime) };
  }

  #archive(scope: Scope): UsageArchive {
    return createUsageArchive({
      keepUsage: (kept) => this.callTenant(scope, "keep", (tenant) => tenantCalls.keepUsage(tenant, kept)),
      endThrowaway: (ended) => this.callTenant(scope, "end", (tenant) => tenantCalls.endThrowaway(tenant, ended)),
    });
  }

  async step(): Promise<boolean> {
    const went = await this.scheduler.step();
    await this.hashing.settle();
    return went;
  }

  /** I56: each alarm and request of the tenant's object has a bounded cost. */
  checkCost(): void {
    for (const each of this.spent) {
      // A request that deletes does what two alarms do.
      const alarms = each.of === "alarm" ? 1 : 2;
      const sessions = alarms * AN_ALARM;
      const isFew = each.noted <= sessions && each.asked <= sessions;
      this.violations.check(
        isFew && isWithin(each, findMostCost(ERASURES * sessions, alarms)),
        "I56",
        () => `a step cost ${JSON.stringify(each)}`,
      );
    }
  }

  /** From now on nothing fails and nothing dies. */
  calm(): void {
    for (const name of Object.keys(this.faults) as (keyof Faults)[]) this.faults[name] = 0;
  }
}
