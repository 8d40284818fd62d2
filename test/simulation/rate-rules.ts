/** I46: what isolates admit, beside what the tenant's object granted them. */
import type { RateAsk, RateGrant } from "../../src/app/rate-grants";
import { windowEnd } from "../../src/app/rate-grants";
import type { RateMeter, RateRule, RateState } from "../../src/app/rate-meter";
import type { LimitWorld } from "./limit-world";
import type { Scope } from "./scheduler";

/** One rate in one minute of the clock. */
interface Minute {
  readonly limit: number;
  admitted: number;
  /** What the tenant's object granted of it. */
  granted: number;
  /** Isolates that the tenant's object did not answer: each admits alone, up to the limit. */
  readonly alone: Set<Scope>;
  /** Requests that were refused. */
  refused: number;
  /** False where units came with an answer that was lost, or may have been taken over the end of a minute. */
  isWhole: boolean;
}

/** One rate in one isolate. */
interface Held {
  granted: number;
  admitted: number;
  isAlone: boolean;
}

export class RateRules {
  readonly #minutes = new Map<string, Minute>();
  readonly #held = new Map<Scope, Map<string, Held>>();
  readonly world: LimitWorld;

  constructor(world: LimitWorld) {
    this.world = world;
  }

  #minute(subject: string, endsAt: number, limit: number): Minute {
    const name = `${subject} until ${endsAt}`;
    const known = this.#minutes.get(name) ?? { limit, admitted: 0, granted: 0, alone: new Set<Scope>(), refused: 0, isWhole: true };
    this.#minutes.set(name, known);
    return known;
  }

  #find(scope: Scope, subject: string): Held {
    const held = this.#held.get(scope) ?? new Map<string, Held>();
    this.#held.set(scope, held);
    const known = held.get(subject) ?? { granted: 0, admitted: 0, isAlone: false };
    held.set(subject, known);
    return known;
  }

  /** The meter of an isolate, with each of its admissions counted. */
  watch(scope: Scope, meter: RateMeter): RateMeter {
    return {
      admit: async (owner, rules) => {
        const { stats, scheduler } = this.world;
        const begun = windowEnd(scheduler.now);
        const admission = await meter.admit(owner, rules);
        const [kind] = rules.map(({ subject }) => subject.split(" ")[0]);
        stats.count(`${kind} ${admission.refused ? "refused" : "admitted"}`);
        if (admission.refused) this.#noteRefused(admission.refused, rules);
        else this.#noteAdmitted(scope, rules, begun);
        return admission;
      },
    };
  }

  #noteRefused({ of, ends_at }: RateState, rules: readonly RateRule[]): void {
    for (const { subject, limit } of rules.filter((rule) => rule.of === of)) this.#minute(subject, ends_at, limit).refused += 1;
  }

  /** A request that waits over the end of its minute has units of either. */
  #noteAdmitted(scope: Scope, rules: readonly RateRule[], begun: number): void {
    const ended = windowEnd(this.world.scheduler.now);
    if (ended !== begun) this.world.stats.count("admitted late");
    for (const { subject, limit } of rules) {
      this.#find(scope, subject).admitted += 1;
      if (ended === begun) this.#minute(subject, begun, limit).admitted += 1;
      else for (const end of [begun, ended]) this.#minute(subject, end, limit).isWhole = false;
    }
  }

  /** An ask of an isolate. One that fails loosens the minute in which it ends. */
  async watchAsk(scope: Scope, asks: readonly RateAsk[], ask: () => Promise<readonly RateGrant[]>): Promise<readonly RateGrant[]> {
    const begun = windowEnd(this.world.scheduler.now);
    try {
      const grants = await ask();
      if (windowEnd(this.world.scheduler.now) !== begun) this.noteLoss(begun);
      return grants;
    } catch (error) {
      this.noteLoss(begun);
      this.world.stats.count("admitted alone");
      for (const { subject, limit } of asks) {
        this.#find(scope, subject).isAlone = true;
        this.#minute(subject, windowEnd(this.world.scheduler.now), limit).alone.add(scope);
      }
      throw error;
    }
  }

  /** Called in the transaction of the grant. */
  noteGrants(scope: Scope, grants: readonly RateGrant[]): void {
    for (const { subject, granted, left, ends_at } of grants) {
      this.#find(scope, subject).granted += granted;
      const limit = this.#limitOf(subject);
      const minute = this.#minute(subject, ends_at, limit);
      minute.granted += granted;
      this.world.stats.count(granted === 0 ? "blocks refused" : "blocks granted");
      this.world.violations.check(
        minute.granted <= limit && minute.granted + left === limit,
        "I46",
        () => `${minute.granted} of ${subject} were granted in a minute, ${left} are said to be left, and its limit is ${limit}`,
      );
    }
  }

  /** Units of this minute may be lost. */
  noteLoss(endsAt = windowEnd(this.world.scheduler.now)): void {
    for (const [name, minute] of this.#minutes) if (name.endsWith(` until ${endsAt}`)) minute.isWhole = false;
  }

  #limitOf(subject: string): number {
    const { tenant, key } = this.world.limits;
    if (subject.startsWith("model_calls")) return tenant.model_calls_per_minute ?? 0;
    return (subject.startsWith("requests key") ? key : tenant).requests_per_minute ?? 0;
  }

  /** Each step. */
  check(): void {
    const { violations } = this.world;
    for (const [name, { limit, admitted, alone }] of this.#minutes) {
      const most = limit * (1 + alone.size);
      violations.check(admitted <= most, "I46", () => `${admitted} of ${name} were admitted, and ${most} may be`);
    }
    for (const [scope, held] of this.#held)
      for (const [subject, { granted, admitted, isAlone }] of held)
        violations.check(
          isAlone || admitted <= granted,
          "I46",
          () => `${scope.name} admitted ${admitted} of ${subject}, and was granted ${granted}`,
        );
  }

  /** At rest: where a minute refused requests and lost nothing, at least nine tenths of its limit were admitted. */
  checkAtRest(): void {
    const { violations, stats } = this.world;
    for (const [name, { limit, admitted, refused, isWhole, alone }] of this.#minutes) {
      if (refused === 0 || !isWhole || alone.size > 0) continue;
      stats.count("whole minutes that refused");
      violations.check(
        admitted >= Math.floor(limit * 0.9),
        "I46",
        () => `${refused} of ${name} were refused, and ${admitted} of ${limit} admitted`,
      );
    }
  }
}
