/** I48: the turns that run, beside the slots that the tenant's object has leased. */
import { LEASE_MARGIN_MS, LEASE_MS, type SlotAsk, type SlotCall, type SlotGrant } from "../../src/app/slot-grants";
import { createSlotMeter, type SlotMeter, type SlotRule } from "../../src/app/slot-meter";
import type { SessionId } from "../../src/domain/ids";
import { isRunning, type SessionState } from "../../src/domain/state";
import { createSlotLeases } from "../../src/tenant/limits/slot-leases";
import { TENANT } from "../http/support";
import type { LimitWorld } from "./limit-world";
import type { Scope } from "./scheduler";

/** How long an isolate goes on alone after the tenant's object was out of reach (`src/app/slot-meter.ts`). */
const ALONE_MS = 5_000;
/** A turn that is recovered later than this after a crash may be one too many (docs/limit-exactness.md). */
const RECOVERED_MS = 40_000;
/** By then every lease has ended. */
const ALL_ENDED_MS = LEASE_MS + LEASE_MARGIN_MS;

/** A session whose turn runs. */
interface Running {
  readonly life: Scope;
  readonly since: number;
  /** When the life before was last seen at work. Null: this life has admitted the turn. */
  readonly leftAt: number | null;
  seenAt: number;
  /** The documented exactness lets the turn run beyond the limit. */
  isLoose: boolean;
}

/** What one isolate's calls came to. */
interface Reached {
  failedAt: number;
  /** When the newest call that was answered was sent. */
  answeredAt: number;
}

const isAtWork = ({ lifecycle, turn, queue }: SessionState): boolean =>
  lifecycle === "open" && (isRunning(turn) || queue.some((waiting) => waiting.turn !== null));

export class SlotWatch {
  readonly #running = new Map<SessionId, Running>();
  readonly #reached = new Map<Scope, Reached>();
  /** The number of each isolate's newest ask. An older one is answered with what is known. */
  readonly #newest = new Map<string, number>();
  readonly world: LimitWorld;

  constructor(world: LimitWorld) {
    this.world = world;
  }

  /** The slots of an isolate. */
  createMeter(scope: Scope): SlotMeter {
    const { scheduler, newId } = this.world;
    return createSlotMeter({ ask: (_, call) => this.#ask(scope, call), now: () => scheduler.now, newId: () => newId("ses"), max: 100 });
  }

  /** The slots of its isolate, as one life of a session reaches them. An answer that comes after its end is read by no one. */
  reachedBy(life: Scope, meter: SlotMeter): SlotMeter {
    const { stats } = this.world;
    const whileAlive = <T>(answer: Promise<T>): Promise<T> =>
      new Promise((resolve) => void answer.then((value) => life.alive && resolve(value)));
    return {
      take: async (owner, holder, rules) => {
        const refused = await whileAlive(meter.take(owner, holder, rules));
        if (rules.length > 0) stats.count(refused ? `slots refused: ${refused.of}` : "slots taken");
        return refused;
      },
      report: (...input) => whileAlive(meter.report(...input)),
      release: (...input) => whileAlive(meter.release(...input)),
    };
  }

  #reach(scope: Scope): Reached {
    const known = this.#reached.get(scope) ?? { failedAt: Number.NEGATIVE_INFINITY, answeredAt: Number.NEGATIVE_INFINITY };
    this.#reached.set(scope, known);
    return known;
  }

  /** One call over the network. Some come a second time, up to two minutes later. */
  async #ask(scope: Scope, call: SlotCall): Promise<readonly SlotGrant[]> {
    const { random, scheduler, tenant, faults, platform, stats } = this.world;
    const reached = this.#reach(scope);
    const sentAt = scheduler.now;
    if (random.chance(faults.repeats))
      scheduler.timer(platform, { ms: random.int(0, 120_000), label: "a call comes again" }, () => {
        stats.count("calls repeated");
        this.#take(call);
      });
    try {
      const answer = await this.world.withinLimit(
        scope,
        tenant.call(scope, "slots", () => this.#take(call)),
      );
      reached.answeredAt = Math.max(reached.answeredAt, sentAt);
      return answer;
    } catch (error) {
      reached.failedAt = scheduler.now;
      throw error;
    }
  }

  /** Only for what runs already are more slots leased than the limit. */
  #take(call: SlotCall): readonly SlotGrant[] {
    const { sql, scheduler, violations, stats } = this.world;
    return sql.transaction(() => {
      const leases = createSlotLeases(sql, (name) => name);
      const read = (): readonly number[] => call.asks.map((ask) => leases.readLeased(ask, scheduler.now));
      const before = read();
      const answer = leases.take(call, scheduler.now);
      for (const [index, leased] of read().entries()) {
        const ask = call.asks[index];
        const isNewest = ask && (this.#newest.get(call.isolate) ?? 0) < ask.number;
        if (isNewest) this.#checkRefused(ask, answer[index], leased);
        if (!ask || leased <= Math.max(ask.limit, before[index] ?? 0)) continue;
        stats.count("leased beyond the limit");
        violations.check(
          answer[index]?.slots === ask.use,
          "I48",
          () => `${leased} slots of the ${ask.of} are leased, and its limit is ${ask.limit}`,
        );
      }
      const numbers = call.asks.map(({ number }) => number);
      this.#newest.set(call.isolate, Math.max(this.#newest.get(call.isolate) ?? 0, ...numbers));
      return answer;
    });
  }

  /** Nothing is refused before all slots are leased, and few of them may be unused. */
  #checkRefused({ what, of, id, limit, use, need }: SlotAsk, granted: SlotGrant | undefined, leased: number): void {
    const { sql, stats, violations, scheduler } = this.world;
    if (!granted || granted.slots >= use + need) return;
    stats.count("asks for slots refused");
    const query = "SELECT coalesce(sum(spare), 0) AS spare FROM slot_leases WHERE subject = ? AND ends_at > ?";
    const spare = sql.rows<{ spare: number }>(query, `${what} ${of} ${id}`, scheduler.now)[0]?.spare ?? 0;
    const isFull = leased >= limit && spare <= Math.floor(limit / 10);
    violations.check(isFull, "I48", () => `${leased} slots of ${limit} are leased, ${spare} of them spare, and one is refused`);
  }

  /** Each step: no more turns run than the limit, beside those of which the tenant's object could not know in time. */
  check(): void {
    const { sessions, violations, limits, stats } = this.world;
    for (const [id, { object, isolate }] of sessions) {
      const { life } = object;
      if (life && isolate && isAtWork(life.runtime.state)) this.#see(id, life.scope, isolate.scope);
      else if (life) this.#running.delete(id);
    }
    const running = [...this.#running].filter(([id]) => sessions.get(id)?.object.life).map(([, each]) => each);
    const loose = running.filter(({ isLoose }) => isLoose).length;
    const most = Math.min(limits.tenant.concurrent_turns ?? running.length, limits.key.concurrent_turns ?? running.length);
    if (running.length === most) stats.count("steps at the limit");
    if (running.length > most) stats.count("steps beyond the limit");
    violations.check(running.length - loose <= most, "I48", () => `${running.length} turns run, ${loose} of them unknown, and ${most} may`);
  }

  #see(id: SessionId, life: Scope, isolate: Scope): void {
    const { now } = this.world.scheduler;
    const { failedAt, answeredAt } = this.#reach(isolate);
    const last = this.#running.get(id);
    const isNew = last?.life !== life;
    const known: Running = !isNew ? last : { life, since: now, leftAt: last?.seenAt ?? null, seenAt: now, isLoose: last?.isLoose ?? false };
    this.#running.set(id, known);
    if (isNew && last) this.world.stats.count("turns recovered");
    const isCounted = answeredAt >= known.since;
    const isLate = known.leftAt !== null && !isCounted && now - known.leftAt > RECOVERED_MS;
    known.isLoose ||= failedAt + ALONE_MS >= known.since || isLate;
    known.seenAt = now;
  }

  /** At rest: all slots have come back, so that each isolate gets every one of the limit. */
  async checkAtRest(): Promise<void> {
    const { limits, violations, isolates, scheduler } = this.world;
    const limit = limits.tenant.concurrent_turns ?? 0;
    const rules: readonly SlotRule[] = [{ what: "turns", of: "tenant", id: "", limit }];
    for (const { slots } of isolates) {
      scheduler.now += ALL_ENDED_MS;
      const holders = Array.from({ length: limit }, (_, n) => ({ id: `rest-${n}`, life: "rest" }));
      const taken = Promise.all(holders.map((holder) => slots.take(TENANT, holder, rules)));
      while (await scheduler.step());
      const refused = (await taken).filter((each) => each !== null).length;
      violations.check(refused === 0, "I48", () => `${refused} of ${limit} slots did not come back`);
      for (const holder of holders) void slots.release(TENANT, holder, rules);
      while (await scheduler.step());
    }
  }
}
