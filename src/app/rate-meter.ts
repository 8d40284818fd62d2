/**
 * A holder's side of a rate: it admits from the blocks that it has, and asks the tenant's object for another when one is used up. A window
 * that has nothing left is not asked for again, so a flood costs the tenant's object nothing.
 */
import type { Clock } from "./ports";
import { RATE_WINDOW_MS, type RateAsk, type RateGrant, windowEnd } from "./rate-grants";

/** One limit that applies to a caller. `of`: what the limit is named by in an answer. */
export interface RateRule<Of extends string = string> {
  readonly of: Of;
  readonly subject: string;
  readonly limit: number;
}

/** Where a limit stands, as far as this holder knows. Other holders may have used some of `remaining`. */
export interface RateState<Of extends string = string> {
  readonly of: Of;
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends, in epoch milliseconds. */
  readonly ends_at: number;
}

/** `refused`: the first limit that has nothing left. Null: admitted. */
interface Admission<Of extends string = string> {
  readonly refused: RateState<Of> | null;
  readonly states: readonly RateState<Of>[];
}

interface Block {
  limit: number;
  endsAt: number;
  units: number;
  /** What the window had left for all holders when this one last asked. */
  left: number;
  /** True when the window has nothing left. */
  isUsedUp: boolean;
  used: number;
  usedBefore: number;
  /** The size of the last block that was asked for. */
  wanted: number;
}

interface RateMeterDeps {
  /** Asks the tenant's object. It may throw: then this holder admits up to the whole limit in this window. */
  readonly ask: (owner: string, asks: readonly RateAsk[]) => Promise<readonly RateGrant[]>;
  readonly now: Clock;
  /** The smallest block that is asked for. */
  readonly smallest: (limit: number) => number;
  /** The most subjects that are kept. One that is dropped loses what its blocks still have. */
  readonly max: number;
}

export interface RateMeter {
  /** Takes one unit of each rule, or none. `owner`: the tenant. */
  admit<Of extends string>(owner: string, rules: readonly RateRule<Of>[]): Promise<Admission<Of>>;
}

/** The part of a limit that an isolate asks for at least: then a window is asked for at most about twenty times by each. */
export const shareOfLimit = (limit: number): number => Math.max(1, Math.ceil(limit / 20));

const newBlock = (limit: number, endsAt: number): Block => ({
  limit,
  endsAt,
  units: 0,
  left: limit,
  isUsedUp: false,
  used: 0,
  usedBefore: 0,
  wanted: 0,
});

function toState<Of extends string>({ of, limit }: RateRule<Of>, block: Block): RateState<Of> {
  return { of, limit, remaining: block.units + block.left, ends_at: block.endsAt };
}

/** Adds a grant. One of a window that has ended admits only the request that asked for it. */
function addGrant(block: Block, grant: RateGrant): void {
  if (grant.ends_at > block.endsAt) Object.assign(block, newBlock(block.limit, grant.ends_at), { usedBefore: block.used });
  const isPast = grant.ends_at < block.endsAt;
  block.units += isPast ? Math.min(1, grant.granted) : grant.granted;
  if (isPast) return;
  block.left = grant.left;
  block.isUsedUp = grant.left === 0;
}

/** Without the tenant's object, this holder admits as if it were the only one. */
function admitAlone(block: Block): void {
  block.left = 0;
  block.units = Math.max(block.units, block.limit - block.used);
  block.isUsedUp = true;
}

class Meter implements RateMeter {
  readonly #deps: RateMeterDeps;
  readonly #blocks = new Map<string, Block>();

  constructor(deps: RateMeterDeps) {
    this.#deps = deps;
  }

  async admit<Of extends string>(owner: string, rules: readonly RateRule<Of>[]): Promise<Admission<Of>> {
    const held = rules.map((rule) => ({ rule, block: this.#find(owner, rule) }));
    // What is there is taken before the others are asked for, so that no other request takes it meanwhile.
    const taken = held.flatMap(takeFrom);
    const lacking = held.filter(({ block }) => !taken.some((unit) => unit.block === block));
    if (lacking.length > 0 && lacking.every(({ block }) => !block.isUsedUp)) {
      await this.#refill(owner, lacking);
      taken.push(...lacking.flatMap(takeFrom));
    }
    const short = lacking.filter(({ block }) => !taken.some((unit) => unit.block === block));
    // The others may be short only because they were not asked for.
    const refused = short.find(({ block }) => block.isUsedUp) ?? short[0] ?? null;
    if (refused) for (const unit of taken) giveBack(unit);
    return { refused: refused && toState(refused.rule, refused.block), states: held.map(({ rule, block }) => toState(rule, block)) };
  }

  /** The newest is kept last, so the first of the map is the one to drop. */
  #find(owner: string, { subject, limit }: RateRule): Block {
    const name = `${owner} ${subject}`;
    const now = this.#deps.now();
    const block = this.#blocks.get(name) ?? newBlock(limit, windowEnd(now));
    this.#blocks.delete(name);
    this.#blocks.set(name, block);
    const [oldest] = this.#blocks.keys();
    if (this.#blocks.size > this.#deps.max && oldest !== undefined) this.#blocks.delete(oldest);
    if (block.endsAt <= now) {
      const isNext = block.endsAt + RATE_WINDOW_MS > now;
      Object.assign(block, newBlock(limit, windowEnd(now)), { usedBefore: isNext ? block.used : 0 });
    }
    if (limit > block.limit) block.isUsedUp = false;
    block.limit = limit;
    return block;
  }

  async #refill(owner: string, lacking: readonly { readonly rule: RateRule; readonly block: Block }[]): Promise<void> {
    const asks = lacking.map(({ rule: { subject, limit }, block }) => ({ subject, limit, want: this.#size(block) }));
    try {
      const grants = await this.#deps.ask(owner, asks);
      for (const { rule, block } of lacking) {
        const grant = grants.find(({ subject }) => subject === rule.subject);
        if (grant) addGrant(block, grant);
      }
    } catch {
      for (const { block } of lacking) admitAlone(block);
    }
  }

  /** Grows with use, so that a holder that uses the same in each minute asks once a minute. */
  #size(block: Block): number {
    block.wanted = Math.max(this.#deps.smallest(block.limit), block.usedBefore, block.wanted * 2);
    return block.wanted;
  }
}

/** A unit that was taken, and the end of its window. */
interface Unit {
  readonly block: Block;
  readonly endsAt: number;
}

function takeFrom({ block }: { readonly block: Block }): readonly Unit[] {
  if (block.units === 0) return [];
  block.units -= 1;
  block.used += 1;
  return [{ block, endsAt: block.endsAt }];
}

/** A unit of a window that has ended is not one of the next. */
function giveBack({ block, endsAt }: Unit): void {
  if (block.endsAt !== endsAt) return;
  block.units += 1;
  block.used -= 1;
}

export const createRateMeter = (deps: RateMeterDeps): RateMeter => new Meter(deps);
