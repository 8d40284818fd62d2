/**
 * Tenants that move between three databases with everything going wrong around them (docs/simulated-tenants.md): movers, sessions and the tenant's
 * object die, databases fail, and people talk and erase. Then everything works, the last move ends, and the tenant is in one database only.
 */
import { beginMove, cancelMove, findWait } from "../../src/app/placement";
import { moveStep } from "../../src/app/projection/move-tenant";
import type { SessionId } from "../../src/domain/ids";
import { databaseFor } from "../../src/read-model/database-for";
import { createRebuildRows } from "../../src/read-model/rebuild";
import { TABLES } from "../../src/read-model/store";
import { readRows, rebuildSession } from "../read-model/rows";
import { TENANT } from "../support/builders";
import { type Databases, MoveWorld, NAMES } from "./move-world";
import { Scope } from "./scheduler";
import { SimD1 } from "./sim-d1";
import { testSeeds } from "./test-seeds";
import { UsageWatch } from "./usage-watch";

const SEEDS_IN_TESTS = 28;
const MOST_SEEDS = 300;
const ACTIVE_STEPS = 1_200;
/** Twelve movers may compare a hundred sessions, a few rows a step. */
const CALM_STEPS = 60_000;

const OPEN = { model: "big", policy: "oneclaw", system: null, tools: null, title: null, metadata: {} } as const;
const SAY = {
  role: "user",
  parts: [{ type: "text", text: "hello" }],
  run: true,
  onBusy: "queue",
  tools: null,
  idempotency: null,
} as const;

/** People who talk in sessions and erase some. */
class People {
  closing = false;
  readonly #open: SessionId[] = [];
  /** Sessions that someone began to erase: lists may have them or not. */
  readonly leaving = new Set<SessionId>();
  readonly world: MoveWorld;
  readonly usage: UsageWatch;
  #scopes = 0;

  constructor(world: MoveWorld) {
    this.world = world;
    this.usage = new UsageWatch(world);
  }

  async sit(): Promise<void> {
    const { scheduler, platform, random } = this.world;
    while (!this.closing) {
      await scheduler.sleep(platform, random.int(0, 20_000), "a client thinks");
      if (!this.closing) await this.#act(new Scope(`client ${++this.#scopes}`)).catch(() => this.world.stats.count("requests lost"));
    }
  }

  async #act(scope: Scope): Promise<void> {
    const { world } = this;
    if (this.#open.length < 3 || world.random.chance(0.1)) return this.#begin(scope);
    const session = world.random.pick(this.#open);
    if (world.random.chance(0.2)) return this.erase(scope, session);
    await world.findSession(session).object.call(scope, "submit", ({ service }) => service.submit({ tenant: TENANT, session }, SAY));
    world.stats.count("messages");
  }

  async #begin(scope: Scope): Promise<void> {
    const { world } = this;
    const session = world.newId("ses");
    const opened = await world
      .findSession(session)
      .object.call(scope, "open", ({ service }) => service.open({ tenant: TENANT, session }, OPEN));
    if (opened.ok) this.#open.push(session);
  }

  /** The tenant's alarm repeats an erasure until every store has reported. */
  async erase(scope: Scope, session: SessionId): Promise<void> {
    const { world } = this;
    this.leaving.add(session);
    this.#open.splice(this.#open.indexOf(session), 1);
    for (;;) {
      const call = world
        .findSession(session)
        .object.call(scope, "erase", ({ service }) => service.erase({ tenant: TENANT, session }, true));
      const erased = await call.catch(() => null);
      if (erased?.ok && erased.value.stores.every(({ status }) => status === "erased")) break;
      await world.scheduler.sleep(world.platform, 15_000, "the tenant's alarm");
    }
    world.erased.add(session);
    world.stats.count("sessions erased");
    await checkErased(world, session);
  }

  /** A Worker that lists the sessions, by what its isolate knows. */
  async read(): Promise<void> {
    const { world } = this;
    const { scheduler, random, violations, stats } = world;
    const scope = new Scope("reader");
    const isolate = world.isolate(scope);
    while (!this.closing) {
      await scheduler.sleep(scope, random.int(0, 15_000), "a reader waits");
      const due = [...world.sessions.keys()].map((session) => [session, world.readTicked(session)] as const);
      try {
        const db = await databaseFor(isolate, TENANT);
        const { results } = await db
          .prepare("SELECT id, last_seq FROM sessions WHERE tenant_id = ?")
          .bind(TENANT)
          .all<{ id: string; last_seq: number }>();
        stats.count("lists read");
        for (const [session, seq] of due) {
          const row = results.find(({ id }) => id === session);
          const isShown = this.leaving.has(session) || seq === 0 || (row !== undefined && row.last_seq >= seq);
          violations.check(isShown, "I40", () => `a list has ${session} up to ${row?.last_seq}, and ${seq} was written`);
        }
        await this.usage.read(isolate);
      } catch {
        stats.count("lists failed");
      }
    }
  }
}

/** Operators who move the tenant, often many at once, one step after the other, cancel, and go on where another one ended. */
class Movers {
  closing = false;
  readonly #scopes: Scope[] = [];
  #count = 0;
  readonly world: MoveWorld;

  constructor(world: MoveWorld) {
    this.world = world;
  }

  crash(): void {
    const [oldest] = this.#scopes.splice(0, 1);
    if (!oldest) return;
    this.world.stats.count("movers die");
    this.world.scheduler.kill(oldest);
    this.start();
  }

  start(): void {
    const scope = new Scope(`mover ${++this.#count}`);
    this.#scopes.push(scope);
    void this.#move(scope);
  }

  async #move(scope: Scope): Promise<void> {
    const { scheduler, random, placements } = this.world;
    while (placements.read().move || !this.closing) {
      const isDone = await this.#step(scope);
      const wait = findWait(placements.read(), scheduler.now);
      await scheduler.sleep(scope, Math.max(wait, isDone ? random.int(0, 500) : 2_000), "the mover waits");
    }
  }

  /** Begins, cancels or goes on with a move. Returns false for a step that failed. */
  async #step(scope: Scope): Promise<boolean> {
    const { world } = this;
    const { scheduler, random, stats, placements, sql } = world;
    const now = scheduler.now;
    const at = placements.read();
    const decided = random.chance(0.01) && !this.closing ? cancelMove(at, now) : beginMove(at, random.pick([...NAMES]), now);
    if (decided.ok && decided.value !== at) {
      sql.transaction(() => placements.place({ after: at.version, placement: decided.value }));
      stats.count(decided.value.move?.cancelled ? "moves cancelled" : "moves begun");
    }
    const stepped = await moveStep(world.movePorts(scope), TENANT).catch(() => null);
    if (!stepped) stats.count("steps failed");
    const next = placements.read();
    if (next.database !== at.database) stats.count("switches");
    if (at.move && !next.move) stats.count("moves ended");
    return stepped !== null;
  }
}

const countSessionRows = async (world: MoveWorld, name: (typeof NAMES)[number], session: SessionId): Promise<number> => {
  const rows = await readRows(world.databases[name].direct, { tenant: TENANT, session });
  return Object.values(rows).reduce((sum, found) => sum + Object.keys(found).length, 0);
};

async function checkErased(world: MoveWorld, session: SessionId): Promise<void> {
  for (const name of NAMES) {
    const left = await countSessionRows(world, name, session);
    world.violations.check(left === 0, "I40", () => `${name} has ${left} rows of ${session}, whose erasure is done`);
  }
}

const HELD = [
  ...TABLES.map(({ name }) => name),
  "tenants",
  "models",
  "erased_usage",
  "usage_bounds",
  "usage_days",
  "usage_day_sums",
  "session_tombstones",
];

/** What a database still has of the tenant. */
async function findHeld(world: MoveWorld, name: (typeof NAMES)[number]): Promise<readonly string[]> {
  const held: string[] = [];
  for (const table of HELD) {
    const counted = world.databases[name].direct.prepare(`SELECT count(*) AS n FROM ${table} WHERE tenant_id IN (?1, 'scratch/' || ?1)`);
    const { results } = await counted.bind(TENANT).all<{ n: number }>();
    if (results[0]?.n !== 0) held.push(table);
  }
  return held;
}

/** The session's rows are what its log says. */
async function checkEqual(world: MoveWorld, name: (typeof NAMES)[number], session: SessionId): Promise<void> {
  const at = { tenant: TENANT, session };
  const { service } = world.findSession(session).object.wake();
  const readLog = (after: number) => service.exportLog(at, { after, limit: 500 });
  const rows = createRebuildRows(world.databases[name].direct);
  const compared = await rebuildSession({ rows, readLog, now: () => world.scheduler.now }, at);
  const [difference] = compared.ok ? compared.value.differences : [];
  world.violations.check(difference === undefined, "I40", () => `${session} differs: ${JSON.stringify(difference)}`);
}

async function checkAtRest(world: MoveWorld): Promise<void> {
  const { violations } = world;
  const placed = world.placements.read();
  violations.check(placed.move === null, "I40", () => `the move stays in ${placed.move?.phase}`);
  for (const name of NAMES) {
    const held = name === placed.database ? [] : await findHeld(world, name);
    violations.check(held.length === 0, "I40", () => `${name} has rows in ${held}, and the tenant is in ${placed.database}`);
  }
  const here = NAMES.find((name) => name === placed.database) ?? "DB";
  for (const session of world.sessions.keys()) {
    if (world.erased.has(session)) await checkErased(world, session);
    else await checkEqual(world, here, session);
  }
}

let shared: Databases | null = null;

async function clear(databases: Databases): Promise<void> {
  for (const database of Object.values(databases)) {
    database.clear();
    for (const table of ["tenants", "models", "usage_bounds"]) await database.direct.prepare(`DELETE FROM ${table}`).all();
  }
}

function crashSome(world: MoveWorld, movers: Movers): void {
  const { random, faults } = world;
  if (random.chance(faults.tenantCrashes)) world.tenant.crash();
  for (const { object } of world.sessions.values()) if (random.chance(faults.sessionCrashes / 4)) object.crash();
  if (random.chance(faults.moverCrashes)) movers.crash();
}

async function simulate(seed: number): Promise<{ readonly world: MoveWorld; readonly violation: string | null }> {
  shared ??= { DB: new SimD1(), DB_2: new SimD1(), DB_3: new SimD1() };
  await clear(shared);
  const world = new MoveWorld(seed, shared);
  const { violations, scheduler } = world;
  const [people, movers] = [new People(world), new Movers(world)];
  for (let n = 0; n < 3; n++) void people.sit();
  for (let n = 0; n < 2; n++) void people.read();
  void people.usage.ring(() => people.closing);
  const step = async (): Promise<boolean> => {
    const isGoingOn = violations.found.length === 0 && (await scheduler.step());
    people.usage.look();
    return isGoingOn;
  };
  for (let started = 0; started < world.movers; started++) movers.start();
  if (world.movers > 10) world.stats.count("more than ten movers");
  for (let n = 0; n < ACTIVE_STEPS && (await step()); n++) crashSome(world, movers);
  world.calm();
  people.closing = true;
  movers.closing = true;
  for (let n = 0; await step(); n++) violations.check(n < CALM_STEPS, "I14", () => "it never comes to rest");
  if (violations.found.length === 0) await checkAtRest(world);
  if (violations.found.length === 0) await people.usage.checkAtRest(world.settled());
  return { world, violation: violations.found[0]?.message ?? null };
}

const TRIED = [
  "messages",
  "sessions erased",
  "lists read",
  "moves begun",
  "moves cancelled",
  "moves ended",
  "switches",
  "months removed",
  "removals cut off",
  "sums of what is left",
  "steps failed",
  "more than ten movers",
  "movers die",
  "tenant crashes",
  "session crashes",
];

testSeeds({
  title: "a tenant is in one database after a move, and lists miss nothing meanwhile, whatever fails",
  file: "test/simulation/moves.test.ts",
  simulate,
  seeds: SEEDS_IN_TESTS,
  mostSeeds: MOST_SEEDS,
  tried: TRIED,
});
