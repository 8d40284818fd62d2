/**
 * A holder's side of a rate: it admits from the blocks that it has, and asks the tenant's object for another when one is used up. A window
 * that has nothing left is not asked for again, so a flood costs the tenant's object nothing.
 */
import { setNewest } from "./known-answers";
import type { Background, Clock } from "./ports";
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
  /** Units that were used and not reported. Below 0: units that were asked for as used at once, and are not used yet. */
  unreported: number;
  /** The size of the last block that was asked for. */
  wanted: number;
  /** With so few units left, another block is asked for in the background. Below 0: never, because the last one had no more than was needed. */
  askAt: number;
  /** Requests that wait for units. */
  waiting: number;
  /** The ask that is under way. */
  asking: Promise<void> | null;
}

interface RateMeterDeps {
  /** Asks the tenant's object. It may throw: then this holder admits up to the whole limit in this window. */
  readonly ask: (owner: string, asks: readonly RateAsk[]) => Promise<readonly RateGrant[]>;
  readonly now: Clock;
  /** Keeps an ask alive beside its caller. */
  readonly background: Background;
  /** The most subjects that are kept. One that is dropped loses what its blocks still have. */
  readonly max: number;
}

export interface RateMeter {
  /** Takes one unit of each rule, or none. `owner`: the tenant. */
  admit<Of extends string>(owner: string, rules: readonly RateRule<Of>[]): Promise<Admission<Of>>;
}

/**
 * How often a request waits for an answer. One is enough for most, and two where it came while another was asked for. More are needed only where the
 * tenant's object is late with the next minute.
 */
const MOST_ROUNDS = 5;
/** A holder whose minutes are alike begins each with this part of what it used in the one before, */
const FIRST_PART = 0.1;
/** and every holder with this part of the limit at least, where others have not so much unused already. */
const FIRST_SHARE = 0.005;

const newBlock = (limit: number, endsAt: number): Block => ({
  limit,
  endsAt,
  units: 0,
  left: limit,
  isUsedUp: false,
  used: 0,
  usedBefore: 0,
  unreported: 0,
  wanted: 0,
  askAt: -1,
  waiting: 0,
  asking: null,
});

/** Begins a window. The requests that wait, wait for it. */
const beginWindow = (block: Block, endsAt: number, usedBefore: number): void =>
  void Object.assign(block, newBlock(block.limit, endsAt), { usedBefore, waiting: block.waiting, asking: block.asking });

function toState<Of extends string>({ of, limit }: RateRule<Of>, block: Block): RateState<Of> {
  return { of, limit, remaining: block.units + block.left, ends_at: block.endsAt };
}

/** Adds a grant. One of a window that has ended admits only the requests that asked for it. `need`: of the ask. */
function addGrant(block: Block, grant: RateGrant, need: number): void {
  if (grant.ends_at > block.endsAt) beginWindow(block, grant.ends_at, block.used);
  const isPast = grant.ends_at < block.endsAt;
  const units = isPast ? Math.min(need, grant.granted) : grant.granted;
  block.units += units;
  block.unreported -= Math.min(need, units);
  if (isPast) return;
  block.askAt = grant.granted > need ? Math.floor((grant.granted - need) / 2) : -1;
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
    const listLacking = () => held.filter(({ block }) => !taken.some((unit) => unit.block === block));
    let lacking = listLacking();
    addWaiting(lacking, 1);
    for (let round = 0; round < MOST_ROUNDS && lacking.length > 0 && lacking.every(({ block }) => !block.isUsedUp); round++) {
      await this.#refill(owner, lacking);
      addWaiting(lacking, -1);
      taken.push(...lacking.flatMap(takeFrom));
      lacking = listLacking();
      addWaiting(lacking, 1);
    }
    addWaiting(lacking, -1);
    this.#askAhead(owner, held);
    // The others may be short only because they were not asked for.
    const refused = lacking.find(({ block }) => block.isUsedUp) ?? lacking[0] ?? null;
    if (refused) for (const unit of taken) giveBack(unit);
    return { refused: refused && toState(refused.rule, refused.block), states: held.map(({ rule, block }) => toState(rule, block)) };
  }

  #find(owner: string, { subject, limit }: RateRule): Block {
    const name = `${owner} ${subject}`;
    const now = this.#deps.now();
    const block = this.#blocks.get(name) ?? newBlock(limit, windowEnd(now));
    setNewest(this.#blocks, [name, block], this.#deps.max);
    if (block.endsAt <= now) {
      const isNext = block.endsAt + RATE_WINDOW_MS > now;
      beginWindow(block, windowEnd(now), isNext ? block.used : 0);
    }
    if (limit > block.limit) block.isUsedUp = false;
    block.limit = limit;
    return block;
  }

  /** Asks for a block before the last one is used up, so that a holder that uses many hardly ever waits. */
  #askAhead(owner: string, held: readonly Held[]): void {
    const low = held.filter(({ block }) => !block.isUsedUp && !block.asking && block.units <= block.askAt);
    if (low.length > 0) this.#deps.background(this.#begin(owner, low));
  }

  #begin(owner: string, blocks: readonly Held[]): Promise<void> {
    const asking = this.#ask(owner, blocks);
    for (const { block } of blocks) block.asking = asking;
    return asking;
  }

  /** Waits for a block of each. Requests that come while an ask is under way wait for its answer, and then ask together for what they lack. */
  async #refill(owner: string, lacking: readonly Held[]): Promise<void> {
    const idle = lacking.filter(({ block }) => !block.asking);
    if (idle.length > 0) void this.#begin(owner, idle);
    await Promise.all(lacking.map(({ block }) => block.asking));
  }

  async #ask(owner: string, lacking: readonly Held[]): Promise<void> {
    const asks = lacking.map(({ rule, block }) => toAsk(rule, block));
    try {
      const grants = await this.#deps.ask(owner, asks);
      for (const [index, { block }] of lacking.entries()) {
        const [grant, ask] = [grants[index], asks[index]];
        if (grant && ask) addGrant(block, grant, ask.need);
        else admitAlone(block);
      }
    } catch {
      for (const { block } of lacking) admitAlone(block);
    } finally {
      for (const { block } of lacking) block.asking = null;
    }
  }
}

interface Held {
  readonly rule: RateRule;
  readonly block: Block;
}

function addWaiting(lacking: readonly Held[], requests: 1 | -1): void {
  for (const { block } of lacking) block.waiting += requests;
}

/** What a block lacks. It grows with use, so that a holder that uses much asks seldom. What was used is reported once, also if the ask is lost. */
function toAsk({ subject, limit }: RateRule, block: Block): RateAsk {
  const used = Math.max(0, block.unreported);
  block.unreported -= used;
  block.wanted = Math.max(block.waiting, Math.ceil(limit * FIRST_SHARE), Math.ceil(block.usedBefore * FIRST_PART), block.wanted * 2);
  return { subject, limit, need: block.waiting, want: block.wanted, used, ends_at: block.endsAt };
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
  block.unreported += 1;
  return [{ block, endsAt: block.endsAt }];
}

/** A unit of a window that has ended is not one of the next. */
function giveBack({ block, endsAt }: Unit): void {
  if (block.endsAt !== endsAt) return;
  block.units += 1;
  block.used -= 1;
  block.unreported -= 1;
}

export const createRateMeter = (deps: RateMeterDeps): RateMeter => new Meter(deps);
