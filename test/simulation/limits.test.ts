/**
 * A tenant with limits and an audit log, with everything going wrong around it (docs/simulated-tenants.md): isolates, sessions and the tenant's object
 * die, and calls are slow. Clients talk, open, change and erase sessions through the HTTP API. Then everything works, and it comes to rest.
 */
import { verifyAudit } from "../../scripts/audit/verify";
import { CHAIN } from "../../src/app/audit-chain";
import { parseId, type SessionId } from "../../src/domain/ids";
import { readEvents } from "../../src/session/log/event-log";
import { hasSchema } from "../../src/session/log/log-schema";
import { TENANT } from "../http/support";
import { LimitWorld } from "./limit-world";
import { Scope } from "./scheduler";
import { testSeeds } from "./test-seeds";

const SEEDS_IN_TESTS = 25;
const MOST_SEEDS = 150;
const ACTIVE_STEPS = 700;
const CALM_STEPS = 20_000;
const CLIENTS = 5;
const ACTING = { actor: { kind: "key", id: "key_client" }, request_id: "erasure" } as const;

/** The acts that a session's log shows, by the kinds of their events. */
const ACTS = new Map([
  ["SettingsChanged", "session.settings_changed"],
  ["PinsSet", "pins.set"],
  ["SessionErased", "erasure.requested"],
]);

class Clients {
  closing = false;
  readonly #open: SessionId[] = [];
  /** Texts of requests that were refused. */
  readonly refused: string[] = [];
  #texts = 0;
  #scopes = 0;
  readonly world: LimitWorld;

  constructor(world: LimitWorld) {
    this.world = world;
  }

  async sit(): Promise<void> {
    const { scheduler, platform, random } = this.world;
    while (!this.closing) {
      await scheduler.sleep(platform, random.int(0, random.pick([200, 20_000])), "a client thinks");
      if (!this.closing) await this.#act().catch(() => this.world.stats.count("requests lost"));
    }
  }

  async #act(): Promise<void> {
    const { random } = this.world;
    if (this.#open.length === 0 || random.chance(0.15)) return this.#begin();
    const session = random.pick(this.#open);
    const text = `text-${++this.#texts};`;
    switch (random.weighted({ send: 5, patch: 3, pins: 2, read: 2, erase: 0.5 })) {
      case "send":
        return this.#note(text, await this.world.ask("POST", `/v1/sessions/${session}/messages`, { content: text }));
      case "patch":
        return this.#note(text, await this.world.ask("PATCH", `/v1/sessions/${session}`, { title: text }));
      case "pins":
        return this.#note(text, await this.world.ask("PUT", `/v1/sessions/${session}/pins`, { pins: [text] }));
      case "read":
        return void (await this.world.ask("GET", `/v1/sessions/${session}`));
      case "erase":
        return this.#erase(session);
    }
  }

  #note(text: string, { status }: Response): void {
    this.world.stats.count(`answered ${status}`);
    if (status >= 400 && status < 500) this.refused.push(text);
  }

  async #begin(): Promise<void> {
    const answer = await this.world.ask("POST", "/v1/sessions", { title: "T" });
    this.world.stats.count(`opened: ${answer.status}`);
    if (!answer.ok) return;
    const { id } = (await answer.json()) as { readonly id: string };
    const session = parseId("ses", id);
    if (session) this.#open.push(session);
  }

  /** As the tenant's object erases: again and again, until every store has reported. */
  async #erase(session: SessionId): Promise<void> {
    const { world } = this;
    this.#open.splice(this.#open.indexOf(session), 1);
    const scope = new Scope(`erasure ${++this.#scopes}`);
    for (;;) {
      const caller = { tenant: TENANT, session, act: ACTING };
      const erased = await world
        .findSession(session)
        .object.call(scope, "erase", ({ service }) => service.erase(caller, true))
        .catch(() => null);
      if (erased?.ok && erased.value.stores.every(({ status }) => status === "erased")) break;
      await world.scheduler.sleep(world.platform, 15_000, "the tenant's alarm");
    }
    world.sql.rows("DELETE FROM sessions WHERE id = ?", session);
    world.stats.count("sessions erased");
  }
}

/** What each session's log had of acts, kept beyond its erasure. */
class Acts {
  readonly #seen = new Map<SessionId, number>();
  /** By session: the acts in order, each as its action and its event. */
  readonly done = new Map<SessionId, string[]>();
  readonly world: LimitWorld;

  constructor(world: LimitWorld) {
    this.world = world;
  }

  /** Each step. An erasure empties the log, but not before the tenant's object has answered. */
  look(): void {
    for (const [id, { sql }] of this.world.sessions) {
      if (!hasSchema(sql)) continue;
      const seen = this.#seen.get(id) ?? 0;
      for (const { type, seq } of readEvents(sql, seen, 1_000)) {
        this.#seen.set(id, seq);
        const action = ACTS.get(type);
        if (action) this.done.set(id, [...(this.done.get(id) ?? []), `${action} ${seq}`]);
      }
    }
  }

  /** I47: each act is in the tenant's audit log once, in the order of its session, and the chain holds. */
  check(): void {
    const { audit, violations, stats } = this.world;
    const query = { after: null, limit: 100_000, order: "asc", action: null, actor: null, target: null, from: null, to: null } as const;
    const { data, head, anchor } = audit.read(query);
    for (const [id, done] of this.done) {
      const recorded = data.filter(({ target }) => target.id === id).map(({ action, details }) => `${action} ${details?.event_seq}`);
      violations.check(recorded.join() === done.join(), "I47", () => `the acts of ${id} are ${done}, and the audit log has ${recorded}`);
      stats.count("acts", done.length);
    }
    const known = [...this.done.values()].flat().length;
    violations.check(known === data.length, "I47", () => `${known} acts were done, and the audit log has ${data.length}`);
    const lines = [{ chain: CHAIN, owner: TENANT, anchor }, ...data, { head }];
    const verdict = verifyAudit(lines.map((line) => JSON.stringify(line)).join("\n"));
    violations.check(verdict.ok, "I47", () => `the chain does not hold: ${JSON.stringify(verdict)}`);
  }
}

/** I46: a request that was refused has left nothing, and no more sessions are there than the limit. */
function checkRefused(world: LimitWorld, clients: Clients): void {
  const texts = [...world.sessions.values()].flatMap(({ sql }) =>
    hasSchema(sql) ? sql.all<{ text: string }>("SELECT text FROM bodies").map(({ text }) => text) : [],
  );
  const stored = texts.join("\n");
  const [left] = clients.refused.filter((text) => stored.includes(text));
  world.violations.check(left === undefined, "I46", () => `a refused request left ${left}`);
}

function checkSessions(world: LimitWorld): void {
  const most = world.limits.tenant.sessions ?? 0;
  const count = world.directory.count();
  world.violations.check(count <= most, "I46", () => `there are ${count} sessions, and ${most} may be`);
}

/** No session is there that the directory did not let in. */
function checkEntered(world: LimitWorld): void {
  for (const [id, { sql, object }] of world.sessions) {
    if (!hasSchema(sql) || object.wake().runtime.state.lifecycle !== "open") continue;
    world.violations.check(world.directory.has(id), "I46", () => `${id} is open, and the directory has it not`);
  }
}

function crashSome(world: LimitWorld): void {
  const { random, faults } = world;
  if (random.chance(faults.tenantCrashes)) world.tenant.crash();
  if (random.chance(faults.isolateCrashes)) world.crashIsolate();
  for (const { object } of world.sessions.values()) if (random.chance(faults.sessionCrashes / 4)) object.crash();
}

async function simulate(seed: number): Promise<{ readonly world: LimitWorld; readonly violation: string | null }> {
  const world = new LimitWorld(seed);
  const { violations, scheduler } = world;
  const [clients, acts] = [new Clients(world), new Acts(world)];
  for (let n = 0; n < CLIENTS; n++) void clients.sit();
  const step = async (): Promise<boolean> => {
    const isGoingOn = violations.found.length === 0 && (await scheduler.step());
    acts.look();
    world.rules.check();
    world.slots.check();
    checkSessions(world);
    return isGoingOn;
  };
  for (let n = 0; n < ACTIVE_STEPS && (await step()); n++) crashSome(world);
  world.calm();
  clients.closing = true;
  for (let n = 0; await step(); n++) violations.check(n < CALM_STEPS, "I14", () => "it never comes to rest");
  if (violations.found.length === 0) {
    acts.check();
    checkRefused(world, clients);
    checkEntered(world);
    world.rules.checkAtRest();
    await world.slots.checkAtRest();
  }
  return { world, violation: violations.found[0]?.message ?? null };
}

testSeeds({
  title: "limits are never exceeded, a refused request leaves nothing, and each act is in the audit log once, whatever fails",
  file: "test/simulation/limits.test.ts",
  simulate,
  seeds: SEEDS_IN_TESTS,
  mostSeeds: MOST_SEEDS,
  tried: [
    "slots taken",
    "slots refused: tenant",
    "slots refused: key",
    "asks for slots refused",
    "steps at the limit",
    "leased beyond the limit",
    "turns recovered",
    "calls repeated",
    "requests admitted",
    "requests refused",
    "model_calls admitted",
    "model_calls refused",
    "blocks granted",
    "blocks refused",
    "whole minutes that refused",
    "admitted alone",
    "admitted late",
    "opened: 201",
    "opened: 429",
    "answered 429",
    "answered 202",
    "answered 200",
    "sessions erased",
    "acts",
    "requests lost",
    "isolate crashes",
    "tenant crashes",
    "session crashes",
  ],
});
