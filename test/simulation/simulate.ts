/** One run from one seed: people talk while faults occur, then everything works and running work ends. */

import { readEvents } from "../../src/session/log/event-log";
import { ReusedTenantSql } from "../tenant/memory-sql";
import { checkAtRest, checkErased } from "./final-rules";
import { checkStoredFrames } from "./frame-rules";
import { meddle } from "./keeper";
import type { LogRules } from "./log-rules";
import { calm } from "./profile";
import { Reader, Shown } from "./reader";
import { SimD1 } from "./sim-d1";
import { SimErasures } from "./sim-erasures";
import type { Stats } from "./stats";
import { Users } from "./users";
import type { Violation } from "./violation";
import { CALLER, World } from "./world";

/** Steps while people act, and maximum steps until everything must have ended. */
const ACTIVE_STEPS = 400;
const CALM_STEPS = 4_000;

export interface RunResult {
  readonly seed: number;
  readonly steps: number;
  readonly violation: Violation | null;
  /** The events of the run, in order, one line each. */
  readonly trace: readonly string[];
  readonly stats: Stats;
}

/** The probability of each step that a full disk has room again. */
const DISK_CLEARS = 0.05;
const FULL_STEPS = 200;

/** One database of each kind for all runs of a process; see `SimD1.clear`. */
let shared: { readonly d1: SimD1; readonly tenant: ReusedTenantSql } | null = null;

export async function simulate(seed: number): Promise<RunResult> {
  shared ??= { d1: new SimD1(), tenant: new ReusedTenantSql() };
  const { d1, tenant } = shared;
  d1.clear();
  const world = new World(seed, { d1, tenantSql: tenant.empty() });
  const { log } = world;
  const users = new Users(world);
  const shown = new Shown(world);
  const readers = Array.from({ length: world.profile.readers }, () => new Reader(world, shown));
  const run = { world, log, users, readers };
  void users.begin().then(() => {
    for (const reader of readers) void reader.listen();
  });
  await act(run);
  if (world.profile.staysFull && world.hasNoViolation) await stayFull(run);
  await rest(run);
  if (world.violations.found.length === 0) await checkAtRest(run);
  if (world.hasNoViolation && world.profile.erases) await erase(run);
  const [violation] = world.violations.found;
  return { seed, steps: world.scheduler.steps, violation: violation ?? null, trace: world.scheduler.trace, stats: world.stats };
}

interface Run {
  readonly world: World;
  readonly log: LogRules;
  readonly users: Users;
  readonly readers: readonly Reader[];
}

async function act({ world, log }: Run): Promise<void> {
  const { scheduler, random, profile } = world;
  for (let step = 0; step < ACTIVE_STEPS && world.hasNoViolation; step++) {
    if (!(await scheduler.step())) return;
    strike(world);
    const { progress } = log.turns;
    log.afterStep();
    const isFurther = log.replayed.turn !== null && log.turns.progress > progress;
    if (isFurther && profile.deathsOnProgress > 0 && random.chance(profile.deathsOnProgress)) world.crash();
    const isSummarising = profile.meddles > 0 && log.replayed.compaction.lease !== null;
    if (isSummarising && random.chance(profile.meddles)) void meddle(world);
  }
}

function strike(world: World): void {
  const { random, profile } = world;
  if (random.chance(profile.crash)) world.crash();
  if (random.chance(profile.consumerCrash)) world.queue.crashConsumer();
  if (random.chance(profile.rebuildCrash)) world.rebuilder.crash();
  if (profile.budgetChanges > 0 && random.chance(profile.budgetChanges)) world.budgets.change();
  if (profile.hookChanges > 0 && random.chance(profile.hookChanges)) world.hooks.change();
  if (random.chance(world.diskIsFull ? DISK_CLEARS : profile.diskFills)) world.diskIsFull = !world.diskIsFull;
}

/** No new requests, and no more faults. */
async function rest({ world, log, users, readers }: Run): Promise<void> {
  users.closing = true;
  for (const reader of readers) reader.closing = true;
  for (const reader of readers) reader.leave();
  calm(world.profile);
  world.budgets.calm();
  world.diskIsFull = false;
  // The last life records what the one before it left open, and the rows follow that too.
  if (log.replayed.lifecycle === "open") void world.wake().service.items(CALLER, { after: null, limit: 1, order: "asc" });
  for (let step = 0; world.hasNoViolation; step++) {
    if (!(await world.scheduler.step())) break;
    log.afterStep();
    world.violations.check(step < CALM_STEPS, "I14", () => "it never comes to rest");
  }
  if (!world.hasNoViolation) return;
  const life = world.wake();
  life.runtime.buffer.flush();
  for (const reader of readers) reader.compare(life);
  checkStoredFrames(world);
}

/**
 * I14: while the disk is full, no model is called whose output could not be recorded, whatever the alarm does, and
 * stored data is readable.
 */
async function stayFull({ world, log, users }: Run): Promise<void> {
  const { scheduler, stats, violations } = world;
  users.closing = true;
  world.diskIsFull = true;
  const asked = (): number => ["turn", "title"].reduce((sum, purpose) => sum + (stats.counts.get(`${purpose} requests`) ?? 0), 0);
  const before = asked();
  for (let step = 0; step < FULL_STEPS && world.hasNoViolation; step++) {
    if (!(await scheduler.step())) break;
    log.afterStep();
  }
  violations.check(asked() === before, "I14", () => `${asked() - before} models were asked over a full disk`);
  stats.count("runs that stayed full");
  if (log.replayed.lifecycle !== "open") return;
  const page = { after: null, limit: 5, order: "asc" } as const;
  const read = await world.wake().service.items(CALLER, page);
  violations.check(read.ok, "I14", () => `over a full disk a list of messages was answered ${JSON.stringify(read)}`);
}

/** Begins an erasure, and what meets it: failures, a rebuild, and late jobs. */
function beginErasure(world: World): SimErasures {
  const tenant = new SimErasures(world, world.archive.sql);
  const { profile, random } = world;
  if (random.chance(0.5)) void tenant.erase(world.clients).catch(() => world.stats.count("erase lost"));
  else void tenant.eraseUnder(world.clients, { match: "*", none_match: null });
  if (random.chance(0.5)) profile.d1Fails = 0.7;
  profile.wipeCuts = 0.5;
  if (random.chance(0.5)) {
    world.stats.count("rebuilds during an erasure");
    void world.rebuilder.begin(true);
  }
  if (random.chance(0.5)) world.queue.deliverLate();
  return tenant;
}

async function erase(run: Run): Promise<void> {
  const { world } = run;
  const { profile, random } = world;
  const crash = random.chance(0.5) ? 0.1 : 0;
  const cut = random.pick([0, 0.05]);
  const tenant = beginErasure(world);
  for (let step = 0; world.hasNoViolation; step++) {
    if (!(await world.scheduler.step())) break;
    if (step <= 30 && random.chance(crash)) world.crash();
    if (random.chance(cut)) world.rebuilder.crash();
    if (step > 30) {
      profile.d1Fails = 0;
      profile.wipeCuts = 0;
    }
    world.violations.check(step < CALM_STEPS, "I17", () => "an erased session never comes to rest");
  }
  world.stats.count("erased");
  world.violations.check(tenant.left === 0, "I17", () => "the tenant's object still has an erased session");
  await checkErased(run);
  if (world.hasNoViolation) await comeLate(run);
}

/** I17: jobs, rebuilds and an erasure that come after the erasure bring nothing back, and write nothing. */
async function comeLate(run: Run): Promise<void> {
  const { world } = run;
  const { random, sql, violations, stats } = world;
  const readLog = (): string => JSON.stringify(readEvents(sql, 0, Number.MAX_SAFE_INTEGER));
  const before = readLog();
  const asked = (): number => [...stats.counts].reduce((sum, [what, count]) => sum + (what.endsWith("requests") ? count : 0), 0);
  const askedBefore = asked();
  world.queue.deliverLate();
  stats.count("rebuilds after an erasure");
  void world.rebuilder.begin(true);
  const crash = random.pick([0, 0.1]);
  for (let step = 0; world.hasNoViolation && (await world.scheduler.step()); step++) {
    if (step <= 30 && random.chance(crash)) world.crash();
    violations.check(step < CALM_STEPS, "I17", () => "what comes after an erasure never comes to rest");
  }
  violations.check(readLog() === before, "I17", () => "what came after an erasure wrote to the log");
  violations.check(asked() === askedBefore, "I17", () => "a model was asked after an erasure");
  await checkErased(run);
}
