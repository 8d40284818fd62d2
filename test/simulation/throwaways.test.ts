/**
 * Throwaway sessions with everything going wrong around them (docs/simulated-tenants.md): Workers answer stateless requests and die, sessions and the
 * tenant's object die, and D1 fails. Then everything works, two hours pass, and nothing may be left but what the sessions used.
 */
import { roundCost } from "../../src/domain/call-totals";
import type { ErasedUsage } from "../../src/domain/erased-usage";
import type { SessionId } from "../../src/domain/ids";
import { readEvents } from "../../src/session/log/event-log";
import { hasSchema } from "../../src/session/log/log-schema";
import type { Files } from "../../src/tenant/files/files";
import { LEFT_OF_ERASED, readRows } from "../read-model/rows";
import { TENANT } from "../support/builders";
import { Scope } from "./scheduler";
import { SimD1 } from "./sim-d1";
import { testSeeds } from "./test-seeds";
import { ThrowawayWorld } from "./throwaway-world";

const SEEDS_IN_TESTS = 25;
const MOST_SEEDS = 300;
const ACTIVE_STEPS = 400;
const CALM_STEPS = 4_000;
const HOUR_MS = 60 * 60 * 1_000;
/** A session that is being ended is tried again within a minute, and the alarm may find its object dead once more. */
const SLACK_MS = 5 * 60_000;

const OPEN = { model: "big", policy: "oneclaw", system: null, tools: null, title: null, metadata: {}, throwaway: true } as const;
const user = (text: string) => ({ role: "user" as const, parts: [{ type: "text" as const, text }] });
const ASK = {
  after: null,
  results: [],
  messages: [user("one"), { role: "assistant" as const, parts: [{ type: "text" as const, text: "a" }], calls: [] }, user("two")],
  run: true,
  tools: [{ name: "look", parameters: { type: "object" } }],
  idempotency: null,
} as const;

/** Stateless requests, one Worker each. */
class Workers {
  readonly asked: SessionId[] = [];
  readonly #alive = new Set<Scope>();
  closing = false;

  readonly world: ThrowawayWorld;

  constructor(world: ThrowawayWorld) {
    this.world = world;
  }

  async sit(): Promise<void> {
    const { scheduler, platform } = this.world;
    for (let n = 0; n < 6 && !this.closing; n++) {
      await scheduler.sleep(platform, this.world.random.int(0, 30_000), "a client thinks");
      const worker = new Scope(`worker ${this.asked.length + 1}`);
      this.#alive.add(worker);
      void this.#answer(worker).then(
        () => this.#alive.delete(worker),
        () => this.world.stats.count("requests lost"),
      );
    }
  }

  crash(): void {
    const { scheduler, random, stats } = this.world;
    const worker = [...this.#alive][random.int(0, Math.max(0, this.#alive.size - 1))];
    if (!worker) return;
    stats.count("worker crashes");
    scheduler.kill(worker);
    this.#alive.delete(worker);
  }

  async #answer(worker: Scope): Promise<void> {
    const { world } = this;
    const { random, stats } = world;
    const session = world.newId("ses");
    this.asked.push(session);
    if (random.chance(0.5)) await this.#bringFile(worker, session);
    // A request that cannot be taken: it says nothing.
    const isRefused = random.chance(0.1);
    const respond = isRefused ? { ...ASK, messages: [] } : ASK;
    try {
      const begun = await world.callSession(worker, session, "respond", (service, caller) =>
        service.openAndRespond(caller, { open: OPEN, respond }),
      );
      stats.count(begun.ok ? "begun" : `refused: ${begun.error.code}`);
      if (!begun.ok) await this.#refuse(worker, session);
      const turn = begun.ok ? begun.value.turn_id : null;
      if (turn && random.chance(0.7)) {
        const ended = await world.callSession(worker, session, "wait", (service, caller) => service.waitForTurn(caller, turn));
        stats.count(ended.ok ? `turn ${ended.value.status}` : ended.error.code);
      }
      // A client may come back to a session by the id that a message's id holds.
      if (turn && random.chance(0.1))
        await world.callSession(worker, session, "submit", (service, caller) =>
          service.submit(caller, { ...user("three"), run: true, onBusy: "interrupt", tools: null, idempotency: null }),
        );
    } finally {
      await world.callSession(worker, session, "erase", (service, caller) => service.erase(caller, false));
    }
  }

  /** A file that came with a refused request ends with the refusal, not hours later. */
  async #refuse(worker: Scope, session: SessionId): Promise<void> {
    const { sql, violations } = this.world;
    await this.world.releaseFiles(worker, session);
    const kept = sql.rows("SELECT 1 FROM file_refs JOIN files ON id = file WHERE session = ? AND state != 'removed'", session);
    violations.check(kept.length === 0, "I38", () => `${session} was refused, and ${kept.length} files of it stay`);
  }

  /** Its Worker may die between the first byte and the note that the session uses it. */
  async #bringFile(worker: Scope, session: SessionId): Promise<void> {
    const { world } = this;
    const file = world.newId("fil");
    const step = (label: string, work: (files: Files, at: number) => void) =>
      world.tenant.call(worker, label, async ({ files, removal }) => {
        world.sql.transaction(() => work(files, world.scheduler.now));
        await removal.resume();
      });
    await step("begin a file", (files, at) => files.begin({ file, name: null, media_type: "image/png", bytes: 1, throwaway: session }, at));
    await step("finish a file", (files, at) => files.finish({ file, stored: { sha256: "", tokens: 1 }, idempotency: null }, at));
    await step("use a file", (files, at) => files.use({ session, files: [file], throwaway: "owns" }, at));
    world.stats.count("files brought");
  }
}

/** Each step: no session stays that had no event for an hour, where nothing keeps it from ending. */
function checkTimes(world: ThrowawayWorld, calmAt: number): void {
  const { violations, scheduler } = world;
  for (const [id, session] of world.sessions) {
    if (!hasSchema(session.sql)) continue;
    session.updatedAt = readEvents(session.sql, 0, 1_000).at(-1)?.at ?? session.updatedAt;
    const over = Math.max(session.updatedAt + HOUR_MS, calmAt) + SLACK_MS;
    violations.check(scheduler.now <= over, "I38", () => `${id} stays after an hour`);
  }
}

/** The sums that D1 shows are those of all ledgers, and a request leaves no row of its own. */
async function checkUsage({ violations, d1, sessions }: ThrowawayWorld): Promise<void> {
  const { results } = await d1.direct.prepare("SELECT * FROM erased_usage").all<ErasedUsage & { session_id: string }>();
  const ledgers = [...sessions.values()].flatMap(({ ledger }) => ledger ?? []);
  for (const sum of ["calls", "failed", "input", "output", "cost", "unpriced"] as const) {
    const [shown, made] = [results, ledgers].map((rows) => roundCost(rows.reduce((total, row) => total + row[sum], 0)));
    violations.check(shown === made, "I38", () => `the ledgers have ${sum} ${made}, and ${shown} are shown`);
  }
  const own = results.filter(({ session_id }) => sessions.has(session_id as SessionId));
  violations.check(own.length === 0, "I38", () => `a row of ${own[0]?.session_id} is left`);
}

async function checkAtRest(world: ThrowawayWorld): Promise<void> {
  const { violations, d1, sql } = world;
  await checkUsage(world);
  for (const [id, { sql: own, object }] of world.sessions) {
    violations.check(!hasSchema(own) && object.alarmAt === null, "I38", () => `something of ${id} is left in its object`);
    const rows = await readRows(d1.direct, { tenant: TENANT, session: id });
    const left = Object.entries(rows).filter(([, found]) => Object.keys(found).length > 0);
    violations.check(left.length === 0, "I38", () => `rows of ${id} are left in ${left.map(([table]) => table)}`);
  }
  const buried = await d1.direct.prepare(`SELECT count(*) AS n FROM ${LEFT_OF_ERASED[0]}`).all<{ n: number }>();
  violations.check(buried.results[0]?.n === 0, "I38", () => "a tombstone is left in D1");
  const kept = ["sessions", "erasures", "unsent_usage", "file_refs", "files"].filter(
    (table) => sql.rows(`SELECT * FROM ${table}`).length > 0,
  );
  violations.check(kept.length === 0, "I38", () => `the tenant's object keeps ${kept}`);
}

/** Requests while things fail. */
async function act(world: ThrowawayWorld): Promise<void> {
  const { random, faults, violations, scheduler } = world;
  const workers = new Workers(world);
  for (let n = 0; n < 3; n++) void workers.sit();
  for (let step = 0; step < ACTIVE_STEPS && violations.found.length === 0; step++) {
    if (!(await scheduler.step())) break;
    if (random.chance(faults.tenantCrashes)) world.tenant.crash();
    for (const { object } of world.sessions.values()) if (random.chance(faults.sessionCrashes)) object.crash();
    if (random.chance(faults.workerCrashes)) workers.crash();
  }
  workers.closing = true;
}

let shared: SimD1 | null = null;

async function simulate(seed: number): Promise<{ readonly world: ThrowawayWorld; readonly violation: string | null }> {
  shared ??= new SimD1();
  shared.clear();
  const world = new ThrowawayWorld(seed, shared);
  const { violations, scheduler } = world;
  await act(world);
  world.calm();
  const calmAt = scheduler.now;
  for (let step = 0; violations.found.length === 0 && (await scheduler.step()); step++) {
    checkTimes(world, calmAt);
    violations.check(step < CALM_STEPS, "I14", () => "it never comes to rest");
  }
  if (violations.found.length === 0) await checkAtRest(world);
  return { world, violation: violations.found[0]?.message ?? null };
}

const TRIED = [
  "begun",
  "refused: invalid",
  "turn completed",
  "turn awaiting_tools",
  "files brought",
  "requests lost",
  "tenant crashes",
  "session crashes",
  "worker crashes",
  "sessions ended",
];

testSeeds({
  title: "nothing of a throwaway session is left but what it used, whatever fails",
  file: "test/simulation/throwaways.test.ts",
  simulate,
  seeds: SEEDS_IN_TESTS,
  mostSeeds: MOST_SEEDS,
  tried: TRIED,
});
