import { serveSession } from "../../scripts/support/serve-session";
import type { WholeSessionApi } from "../../src/app/control-api";
import { takeCall, withCallLimit } from "../../src/app/models/limit-calls";
import type { ChatModel } from "../../src/app/ports";
import type { RateGrant } from "../../src/app/rate-grants";
import { createRateMeter, type RateMeter } from "../../src/app/rate-meter";
import type { SlotMeter } from "../../src/app/slot-meter";
import type { WholeTenantApi } from "../../src/app/whole-tenant-api";
import { type AuditLog, createAuditLog } from "../../src/audit/audit-log";
import { type LimitSet, NO_LIMITS } from "../../src/contract/limits";
import type { SessionId } from "../../src/domain/ids";
import { ok } from "../../src/lib/result";
import { within } from "../../src/lib/timer";
import { ringAlarm } from "../../src/session/alarm";
import type { Sql } from "../../src/session/log/sql";
import { SessionRuntime } from "../../src/session/runtime";
import { sessionCalls } from "../../src/session/service";
import { createRateWindows } from "../../src/tenant/limits/rate-windows";
import { createDirectory, type Directory } from "../../src/tenant/shared/directory";
import { world as buildApi, principal, TENANT } from "../http/support";
import { countingIds } from "../support/builders";
import { createMigratedSql } from "../tenant/memory-sql";
import { ResetError, SimObject } from "./file-world";
import { createQuietPorts, createSessionSql, createSlowModel } from "./quiet-session";
import { Random } from "./random";
import { RateRules } from "./rate-rules";
import { Scheduler, Scope } from "./scheduler";
import { SlotWatch } from "./slot-watch";
import { Stats } from "./stats";
import { Violations } from "./violation";

/** After this time a call has failed (`src/wiring.ts`). */
const TAKE_MS = 5_000;

interface SessionLife {
  readonly scope: Scope;
  readonly runtime: SessionRuntime;
  readonly service: WholeSessionApi;
}

interface SimSession {
  readonly sql: Sql;
  readonly object: SimObject<SessionLife>;
  /** The isolate of its present life. */
  isolate: Isolate | null;
}

/** A process of the platform. What it knows of rates and slots, and the requests and objects in it, end with it. */
export interface Isolate {
  readonly scope: Scope;
  readonly rates: RateMeter;
  readonly slots: SlotMeter;
  readonly app: ReturnType<typeof buildApi>["app"];
  /** Requests that were not answered yet. */
  readonly requests: Set<(error: Error) => void>;
}

interface Faults {
  slow: number;
  tenantCrashes: number;
  sessionCrashes: number;
  isolateCrashes: number;
  /** A call about slots comes a second time. */
  repeats: number;
}

export class LimitWorld {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly stats = new Stats();
  readonly violations = new Violations();
  readonly platform = new Scope("platform");
  readonly faults: Faults;
  readonly limits: LimitSet;
  readonly sql = createMigratedSql();
  readonly windows = createRateWindows(this.sql);
  readonly directory: Directory = createDirectory(this.sql);
  readonly audit: AuditLog;
  readonly rules: RateRules;
  readonly slots: SlotWatch;
  readonly tenant: SimObject<{ readonly scope: Scope }>;
  readonly sessions = new Map<SessionId, SimSession>();
  readonly newId = countingIds();
  /** How many isolates serve the tenant. One comes about with the first request that it serves. */
  readonly places: number;
  readonly #isolates = new Map<number, Isolate>();
  #made = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
    this.scheduler = new Scheduler(this.random);
    const { random } = this;
    this.faults = {
      slow: random.pick([0, 0, 0.05, 0.3]),
      tenantCrashes: random.pick([0, 0, 0.01, 0.04]),
      sessionCrashes: random.pick([0, 0.01, 0.04]),
      isolateCrashes: random.pick([0, 0, 0.01]),
      repeats: random.pick([0, 0, 0.2]),
    };
    this.limits = {
      ...NO_LIMITS,
      tenant: {
        requests_per_minute: random.pick([3, 20, 60]),
        model_calls_per_minute: random.pick([1, 5, 40]),
        sessions: random.pick([2, 4, 100]),
        concurrent_turns: random.pick([1, 2, 4, 25]),
      },
      key: { requests_per_minute: random.pick([2, 30, 1_000]), concurrent_turns: random.pick([1, 3, 1_000]) },
    };
    this.audit = createAuditLog({ sql: this.sql, owner: () => TENANT, now: () => this.scheduler.now });
    this.rules = new RateRules(this);
    this.slots = new SlotWatch(this);
    this.tenant = new SimObject(this, "tenant", { create: (scope) => ({ scope }), ring: () => {} });
    this.places = random.pick([1, 3, 3, 20, 500]);
  }

  /** A call of the tenant's object about rates or slots, with the time limit of `wiring`. */
  withinLimit<T>(scope: Scope, call: Promise<T>): Promise<T> {
    const { scheduler } = this;
    return within(TAKE_MS, (ms, work) => scheduler.timer(scope, { ms, label: "a call hangs" }, work), call);
  }

  /** Any isolate: the platform chooses for each request, and for each life of an object. */
  isolate(): Isolate {
    const place = this.random.int(0, this.places - 1);
    const isolate = this.#isolates.get(place) ?? this.#createIsolate();
    this.#isolates.set(place, isolate);
    return isolate;
  }

  get isolates(): readonly Isolate[] {
    return [...this.#isolates.values()];
  }

  #createIsolate(): Isolate {
    const scope = new Scope(`isolate ${++this.#made}`);
    const rates = this.rules.watch(
      scope,
      createRateMeter({
        ask: (_, asks) => {
          const grant = () => this.sql.transaction(() => this.windows.grant(asks, this.scheduler.now));
          return this.rules.watchAsk(scope, asks, () => this.withinLimit(scope, this.#grant(scope, grant)));
        },
        now: () => this.scheduler.now,
        background: () => {},
        max: 100,
      }),
    );
    const { app } = buildApi({
      tenant: this.#reachTenant(scope),
      deps: {
        authenticate: async () => ({ ...principal(), limits: this.limits }),
        requestRates: rates,
        now: () => this.scheduler.now,
        newId: this.newId,
        sessions: (_, session) => this.#reachSession(scope, session),
      },
    });
    return { scope, rates, slots: this.slots.createMeter(scope), app, requests: new Set() };
  }

  #grant(scope: Scope, grant: () => readonly RateGrant[]): Promise<readonly RateGrant[]> {
    return this.tenant.call(scope, "rates", () => {
      const granted = grant();
      this.rules.noteGrants(scope, granted);
      return granted;
    });
  }

  /** The calls of the tenant's object that the clients' requests need. */
  #reachTenant(scope: Scope): Partial<WholeTenantApi> {
    const run = <T>(label: string, work: () => T): Promise<T> => this.tenant.call(scope, label, () => this.sql.transaction(work));
    return {
      registerSession: (input) =>
        run("register", () =>
          this.directory.register({ ...input, at: this.scheduler.now, most: { tenant: this.limits.tenant.sessions, end_user: null } }),
        ),
      forgetSession: (session) => run("forget", () => ok(this.directory.forget(session))),
    };
  }

  #reachSession(scope: Scope, id: SessionId): WholeSessionApi {
    const { object } = this.findSession(id);
    const calls = Object.entries(sessionCalls).map(([name, call]) => [
      name,
      (...input: readonly unknown[]) =>
        object.call(scope, name, ({ runtime }): unknown => Reflect.apply(call, undefined, [runtime, ...input])),
    ]);
    // As `serveSession` does, over the network.
    return Object.fromEntries(calls) as WholeSessionApi;
  }

  findSession(id: SessionId): SimSession {
    const known = this.sessions.get(id);
    if (known) return known;
    const sql = createSessionSql(() => made.object.clearAlarm());
    const object = new SimObject<SessionLife>(this, `session ${id.slice(-3)}`, {
      create: (scope) => this.#createSession(made, scope),
      ring: ({ runtime }) => ringAlarm(runtime),
    });
    const made: SimSession = { sql, object, isolate: null };
    this.sessions.set(id, made);
    return made;
  }

  #createSession(session: SimSession, scope: Scope): SessionLife {
    const { scheduler } = this;
    const isolate = this.isolate();
    session.isolate = isolate;
    const ports = { limits: async () => this.limits, rates: isolate.rates, now: () => scheduler.now };
    const runtime = new SessionRuntime({
      ...createQuietPorts(this, scope),
      sql: session.sql,
      setAlarm: (at) => session.object.setAlarm(at),
      model: withCallLimit(this.#model(scope), () => takeCall({ tenant: TENANT, end_user: null, key: null }, ports)),
      limits: { read: async () => this.limits, slots: this.slots.reachedBy(scope, isolate.slots) },
      acts: () => ({ record: (id, acts) => this.#record(scope, id, acts) }),
    });
    return { scope, runtime, service: serveSession(runtime) };
  }

  /** As `recordSessionActs` of the tenant's object does. */
  #record(scope: Scope, session: SessionId, acts: Parameters<WholeTenantApi["recordSessionActs"]>[1]): Promise<void> {
    return this.tenant.call(scope, "acts", () => {
      this.stats.count("deliveries of acts");
      this.sql.transaction(() => {
        for (const { seq, at, actor, request_id, subject } of acts)
          this.audit.append({ actor, request_id, nonce: `${session}:${seq}` }, subject, at);
      });
    });
  }

  #model(scope: Scope): ChatModel {
    const { random, stats } = this;
    const words = (): number => {
      stats.count("model calls");
      // Some turns outlast the leases of their slots.
      return random.pick([1, 1, 1, 5]);
    };
    return createSlowModel(this, scope, { words, longest: () => random.pick([5_000, 40_000]) });
  }

  /** One request, to any isolate. Rejects when the isolate dies before the answer. */
  ask(method: string, path: string, body?: object): Promise<Response> {
    const isolate = this.isolate();
    return new Promise((resolve, reject) => {
      isolate.requests.add(reject);
      const headers = { authorization: "Bearer lh_test_a-key", "content-type": "application/json", prefer: "respond-async" };
      const asked = isolate.app.request(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      void Promise.resolve(asked)
        .then(resolve, reject)
        .finally(() => isolate.requests.delete(reject));
    });
  }

  /** An isolate dies with its blocks, its requests and the objects in it. */
  crashIsolate(): void {
    const dead = this.isolate();
    this.stats.count("isolate crashes");
    for (const [place, isolate] of this.#isolates) if (isolate === dead) this.#isolates.delete(place);
    this.rules.noteLoss();
    this.scheduler.kill(dead.scope);
    for (const { object, isolate } of this.sessions.values()) if (isolate === dead) object.crash();
    for (const fail of dead.requests) fail(new ResetError("the isolate died"));
  }

  /** From now on nothing fails and nothing dies. */
  calm(): void {
    for (const name of Object.keys(this.faults) as (keyof Faults)[]) this.faults[name] = 0;
  }
}
