/**
 * An isolate's side of the slots: it lets turns and streams run on the leases that it has, and asks the tenant's object for another when they
 * are used up. What holds a slot reports again and again that it runs, which also renews the leases.
 */
import type { Clock } from "./ports";
import { shareOfLimit } from "./rate-meter";
import { BEAT_MS, type SlotAnswer, type SlotAsk, type SlotCall, type SlotSubject } from "./slot-grants";
import {
  addLease,
  applyKept,
  countFree,
  hold,
  isRenewalDue,
  listKeeps,
  newPool,
  type Pool,
  type SlotHolder,
  shrinkTo,
  tryHold,
  unhold,
} from "./slot-pool";

export interface SlotRule extends SlotSubject {
  readonly limit: number;
}

interface SlotMeterDeps {
  /** Asks the tenant's object. It may throw: then this isolate goes on as if it were the only one. */
  readonly ask: (owner: string, call: SlotCall) => Promise<SlotAnswer>;
  readonly now: Clock;
  readonly newId: () => string;
  /** The most subjects that are kept. The leases of one that is dropped end by themselves. */
  readonly max: number;
}

/** `owner`: the tenant. */
export interface SlotMeter {
  /** Takes a slot of each rule that the holder has none of, or none at all. Returns the rule that refused, and null: taken. */
  take(owner: string, holder: SlotHolder, rules: readonly SlotRule[]): Promise<SlotRule | null>;
  /** Reports what runs: it has its slots, also beyond the limit. One that is not heard of for `HOLD_MS` loses them. Renews leases. */
  report(owner: string, holder: SlotHolder, rules: readonly SlotRule[]): Promise<void>;
  /** Gives slots back: here at once, and to the tenant's object where few are left. */
  release(owner: string, holder: SlotHolder, rules: readonly SlotRule[]): Promise<void>;
}

/** How long it is believed that no slot is left. */
const FULL_MS = 1_000;
/** How long the tenant's object is not asked after it was out of reach. */
const ALONE_MS = 5_000;
/** After this time an ask is taken for lost. */
const ASK_MS = 5_000;

interface Found {
  readonly rule: SlotRule;
  readonly pool: Pool;
}

class Meter implements SlotMeter {
  readonly #deps: SlotMeterDeps;
  readonly #pools = new Map<string, Pool>();

  constructor(deps: SlotMeterDeps) {
    this.#deps = deps;
  }

  async take(owner: string, holder: SlotHolder, rules: readonly SlotRule[]): Promise<SlotRule | null> {
    const wanted = rules.map((rule) => this.#find(owner, rule)).filter(({ pool }) => pool.holds.get(holder.id)?.life !== holder.life);
    const lacking = wanted.filter((one) => !this.#hold(one, holder));
    const now = this.#deps.now();
    const full = lacking.find(({ rule, pool }) => pool.holds.size >= rule.limit || pool.fullUntil > now);
    if (lacking.length > 0 && !full) await this.#send(owner, { lacking, isRunning: false });
    const refused = full ?? lacking.find((one) => !this.#hold(one, holder));
    if (!refused) return null;
    await this.#release(owner, holder, wanted);
    return refused.rule;
  }

  async report(owner: string, holder: SlotHolder, rules: readonly SlotRule[]): Promise<void> {
    const now = this.#deps.now();
    const found = rules.map((rule) => this.#find(owner, rule));
    for (const { pool } of found) hold(pool, holder, now);
    const reached = found.filter(({ pool }) => pool.aloneUntil <= now);
    const due = reached.filter(({ pool }) => isRenewalDue(pool, now));
    for (const { pool } of due) {
      pool.renewAt = now + BEAT_MS;
      shrinkTo(pool, pool.peak);
      pool.peak = pool.holds.size;
    }
    const lacking = reached.filter(({ pool }) => pool.askingUntil <= now && countFree(pool, now) < 0);
    if (due.length + lacking.length > 0) await this.#send(owner, { lacking, isRunning: true, renewed: due });
  }

  release(owner: string, holder: SlotHolder, rules: readonly SlotRule[]): Promise<void> {
    const found = rules.map((rule) => this.#find(owner, rule));
    return this.#release(owner, holder, found);
  }

  async #release(owner: string, holder: SlotHolder, found: readonly Found[]): Promise<void> {
    const now = this.#deps.now();
    const freed = found.filter(({ pool }) => unhold(pool, holder));
    const renewed = freed.filter(({ pool }) => pool.isTight && countFree(pool, now) > 0);
    for (const { pool } of renewed) {
      shrinkTo(pool, pool.holds.size);
      pool.fullUntil = 0;
    }
    if (renewed.length > 0) await this.#send(owner, { lacking: [], isRunning: false, renewed });
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

  /** One slot for a request, all that lack for what runs, and beside them a part of the limit, unless another ask is under way. */
  #toAsk({ rule, pool }: Found, isRunning: boolean): SlotAsk {
    const now = this.#deps.now();
    const need = isRunning ? Math.max(0, -countFree(pool, now)) : 1;
    const beside = isRunning || pool.askingUntil > now ? 0 : shareOfLimit(rule.limit);
    pool.askingUntil = now + ASK_MS;
    return { ...rule, lease: this.#deps.newId(), need, want: need + beside, isRunning };
  }

  async #send(
    owner: string,
    {
      lacking,
      isRunning,
      renewed = [],
    }: { readonly lacking: readonly Found[]; readonly isRunning: boolean; readonly renewed?: readonly Found[] },
  ): Promise<void> {
    const sentAt = this.#deps.now();
    const asks = lacking.map((one) => this.#toAsk(one, isRunning));
    const pools = [...new Set([...lacking, ...renewed].map(({ pool }) => pool))];
    const sent = pools.map((pool) => ({ pool, keeps: listKeeps(pool) }));
    try {
      const answer = await this.#deps.ask(owner, { keeps: sent.flatMap(({ keeps }) => keeps), asks });
      for (const { pool, keeps } of sent) applyKept(pool, keeps, answer, sentAt);
      for (const [index, { rule, pool }] of lacking.entries()) {
        const grant = answer.grants[index];
        if (!grant) continue;
        addLease(pool, grant, { limit: rule.limit, sentAt });
        if (grant.slots === 0 && !isRunning) pool.fullUntil = this.#deps.now() + FULL_MS;
      }
    } catch {
      for (const pool of pools) pool.aloneUntil = this.#deps.now() + ALONE_MS;
    } finally {
      for (const { pool } of lacking) pool.askingUntil = 0;
    }
  }
}

export const createSlotMeter = (deps: SlotMeterDeps): SlotMeter => new Meter(deps);
