/**
 * An isolate's side of the slots: it lets turns and streams run on the leases that it has, and asks the tenant's object for another when they
 * are used up. What holds a slot reports again and again that it runs, which also renews the leases.
 */
import type { Clock } from "./ports";
import { BEAT_MS, type SlotAsk, type SlotCall, type SlotGrant, type SlotSubject } from "./slot-grants";
import {
  applyLease,
  countFree,
  giveUp,
  hasSurplus,
  hold,
  isRenewalDue,
  newPool,
  type Pool,
  type SlotHolder,
  tryHold,
  unhold,
} from "./slot-pool";

export interface SlotRule extends SlotSubject {
  readonly limit: number;
}

interface SlotMeterDeps {
  /** Asks the tenant's object. It may throw: then this isolate goes on as if it were the only one. One grant for each ask. */
  readonly ask: (owner: string, call: SlotCall) => Promise<readonly SlotGrant[]>;
  readonly now: Clock;
  readonly newId: () => string;
  /** The most subjects that are kept. The lease of one that is dropped ends by itself. */
  readonly max: number;
}

/** `owner`: the tenant. */
export interface SlotMeter {
  /** Takes a slot of each rule that the holder has none of, or none at all. Returns the rule that refused, and null: taken. */
  take(owner: string, holder: SlotHolder, rules: readonly SlotRule[]): Promise<SlotRule | null>;
  /** Reports what runs: it has its slots, also beyond the limit. One that is not heard of for `HOLD_MS` loses them. Renews leases. */
  report(owner: string, holder: SlotHolder, rules: readonly SlotRule[]): Promise<void>;
  /** Gives slots back: here at once, and to the tenant's object what this isolate may not keep as spare. */
  release(owner: string, holder: SlotHolder, rules: readonly SlotRule[]): Promise<void>;
}

/** An isolate asks for spare slots: this part of those that it has in use. */
const SPARE_PART = 0.25;
/** How long it is believed that no slot is left. */
const FULL_MS = 1_000;
/** How long the tenant's object is not asked after it was out of reach. */
const ALONE_MS = 5_000;

interface Found {
  readonly rule: SlotRule;
  readonly pool: Pool;
}

class Meter implements SlotMeter {
  readonly #deps: SlotMeterDeps;
  readonly #pools = new Map<string, Pool>();
  readonly #isolate: string;
  #asked = 0;

  constructor(deps: SlotMeterDeps) {
    this.#deps = deps;
    this.#isolate = deps.newId();
  }

  async take(owner: string, holder: SlotHolder, rules: readonly SlotRule[]): Promise<SlotRule | null> {
    const wanted = rules.map((rule) => this.#find(owner, rule)).filter(({ pool }) => pool.holds.get(holder.id)?.life !== holder.life);
    for (;;) {
      const lacking = wanted.filter((one) => !this.#hold(one, holder));
      if (lacking.length === 0) return null;
      const now = this.#deps.now();
      const full = lacking.find(({ rule, pool }) => pool.holds.size >= rule.limit || pool.fullUntil > now);
      if (full) {
        await this.#release(owner, holder, wanted);
        return full.rule;
      }
      for (const { pool } of lacking) pool.waiting += 1;
      await this.#send(owner, lacking);
      for (const { pool } of lacking) pool.waiting -= 1;
    }
  }

  async report(owner: string, holder: SlotHolder, rules: readonly SlotRule[]): Promise<void> {
    const now = this.#deps.now();
    const found = rules.map((rule) => this.#find(owner, rule));
    for (const { pool } of found) hold(pool, holder, now);
    const reached = found.filter(({ pool }) => pool.aloneUntil <= now && !pool.asking);
    const due = reached.filter(({ pool }) => isRenewalDue(pool, now) || countFree(pool, now) < 0);
    for (const { pool } of due) pool.renewAt = now + BEAT_MS;
    await this.#send(owner, due);
  }

  release(owner: string, holder: SlotHolder, rules: readonly SlotRule[]): Promise<void> {
    const found = rules.map((rule) => this.#find(owner, rule));
    return this.#release(owner, holder, found);
  }

  async #release(owner: string, holder: SlotHolder, found: readonly Found[]): Promise<void> {
    const freed = found.filter(({ pool }) => unhold(pool, holder));
    await Promise.all(freed.map(({ pool }) => pool.asking));
    const left = freed.filter(({ pool }) => !pool.asking && hasSurplus(pool, this.#deps.now()));
    for (const { pool } of left) pool.fullUntil = 0;
    await this.#send(owner, left);
  }

  /** The newest is kept last, so the first of the map is the one to drop, unless something holds it. */
  #find(owner: string, rule: SlotRule): Found {
    const name = `${owner} ${rule.what} ${rule.of} ${rule.id}`;
    const pool = this.#pools.get(name) ?? newPool();
    this.#pools.delete(name);
    this.#pools.set(name, pool);
    const [oldest] = this.#pools;
    if (this.#pools.size > this.#deps.max && oldest && oldest[1].holds.size === 0) this.#pools.delete(oldest[0]);
    return { rule, pool };
  }

  #hold({ rule: { limit }, pool }: Found, holder: SlotHolder): boolean {
    return tryHold(pool, holder, { limit, now: this.#deps.now() });
  }

  /** Waits for an answer about each. What comes while an ask is under way waits for its answer, and then asks together. */
  async #send(owner: string, found: readonly Found[]): Promise<void> {
    const idle = found.filter(({ pool }) => !pool.asking);
    if (idle.length > 0) {
      const asking = this.#ask(owner, idle);
      for (const { pool } of idle) pool.asking = asking;
    }
    await Promise.all(found.map(({ pool }) => pool.asking));
  }

  async #ask(owner: string, found: readonly Found[]): Promise<void> {
    const sentAt = this.#deps.now();
    const asks = found.map((one) => this.#toAsk(one, sentAt));
    try {
      const grants = await this.#deps.ask(owner, { isolate: this.#isolate, asks });
      const now = this.#deps.now();
      for (const [index, { pool }] of found.entries()) {
        const [grant, ask] = [grants[index], asks[index]];
        if (!grant || !ask) throw new Error("The tenant's object left an ask without a grant");
        applyLease(pool, grant, sentAt);
        if (grant.slots < ask.use + ask.need) pool.fullUntil = now + FULL_MS;
      }
    } catch {
      for (const { pool } of found) pool.aloneUntil = this.#deps.now() + ALONE_MS;
    } finally {
      for (const { pool } of found) pool.asking = null;
    }
  }

  #toAsk({ rule, pool }: Found, now: number): SlotAsk {
    const use = pool.holds.size;
    const spare = Math.ceil((use + pool.waiting) * SPARE_PART);
    const keep = Math.max(0, Math.min(countFree(pool, now), Math.ceil(Math.min(spare, pool.spare) / 2)));
    giveUp(pool, keep);
    return { ...rule, number: ++this.#asked, use, keep, need: pool.waiting, spare };
  }
}

export const createSlotMeter = (deps: SlotMeterDeps): SlotMeter => new Meter(deps);
