/**
 * Decides what happens next. Every await of a port is a gate that stays closed until it is chosen, every timer waits
 * for the clock, and only the scheduler moves the clock. So every interleaving is possible, and one seed always gives
 * the same one.
 */
import type { Random } from "./random";

const START = 1_700_000_000_000;

/** Everything that dies together: a life of the object, a queue consumer, the clients. Promises that wait in a dead scope never settle. */
export class Scope {
  alive = true;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

interface Gate {
  readonly scope: Scope;
  readonly label: string;
  readonly weight: number;
  /** The external effect of opening the gate, which happens even if the waiting scope has died. Null: none. */
  readonly effect: (() => void) | null;
  readonly open: () => void;
}

interface Timer {
  readonly scope: Scope;
  readonly due: number;
  readonly label: string;
  readonly work: () => void;
}

/** The probability that the clock jumps to a timer that far ahead, while other events are possible. */
const JUMPS: readonly (readonly [ms: number, chance: number])[] = [
  [2_000, 0.2],
  [20_000, 0.05],
  [5 * 60_000, 0.02],
];

export class Scheduler {
  now: number;
  steps = 0;
  readonly trace: string[] = [];
  #gates: Gate[] = [];
  #timers: Timer[] = [];

  readonly random: Random;
  readonly #start: number;

  constructor(random: Random, start = START) {
    this.random = random;
    this.#start = start;
    this.now = start;
  }

  /** Settles when the gate is chosen. Gates with a greater weight are chosen earlier. */
  gate(scope: Scope, label: string, options: { readonly weight?: number; readonly effect?: () => void } = {}): Promise<void> {
    return new Promise((resolve) => {
      // What reaches a dead scope from outside wakes nothing in it.
      if (!scope.alive) return;
      this.#gates.push({ scope, label, weight: options.weight ?? 1, effect: options.effect ?? null, open: resolve });
    });
  }

  timer(scope: Scope, wait: { readonly ms: number; readonly label: string }, work: () => void): () => void {
    if (!scope.alive) return () => {};
    const timer: Timer = { scope, due: this.now + Math.max(0, wait.ms), label: wait.label, work };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((known) => known !== timer);
    };
  }

  sleep(scope: Scope, ms: number, label: string): Promise<void> {
    return new Promise((resolve) => {
      this.timer(scope, { ms, label }, resolve);
    });
  }

  /** How a call of another object or service goes wrong: it fails, or as often it is never answered. */
  goWrong(message: string): Promise<never> {
    return this.random.chance(0.5) ? new Promise(() => {}) : Promise.reject(new Error(message));
  }

  /** Nothing in the scope continues. Effects that it had sent may still arrive. */
  kill(scope: Scope): void {
    scope.alive = false;
    this.#timers = this.#timers.filter((timer) => timer.scope !== scope);
    const sent = this.#gates.filter((gate) => gate.scope === scope && gate.effect !== null && this.random.chance(0.5));
    this.#gates = this.#gates.filter((gate) => gate.scope !== scope);
    const world = new Scope(`${scope.name}, sent before its end`);
    for (const { label, effect } of sent) this.#gates.push({ scope: world, label, weight: 0.3, effect, open: () => {} });
  }

  /** Runs one event, or a few at once, and everything that follows without waiting. Returns false when nothing is left. */
  async step(): Promise<boolean> {
    // A call outside of a step may have woken the object. Its work runs first, because an object dies only between
    // steps.
    if (this.#isIdle()) await settle();
    if (this.#isIdle()) return false;
    const timer = this.#nextTimer();
    this.steps++;
    const jump = timer ? (JUMPS.find(([ms]) => timer.due - this.now <= ms)?.[1] ?? 0) : 0;
    if (timer && (this.#gates.length === 0 || this.random.chance(jump))) this.#fire(timer);
    else this.#openSome();
    await settle();
    return true;
  }

  #isIdle(): boolean {
    return this.#gates.length === 0 && this.#timers.length === 0;
  }

  #nextTimer(): Timer | null {
    let next: Timer | null = null;
    for (const timer of this.#timers) if (!next || timer.due < next.due) next = timer;
    return next;
  }

  #fire(timer: Timer): void {
    this.#timers = this.#timers.filter((known) => known !== timer);
    this.now = Math.max(this.now, timer.due);
    this.trace.push(`${this.steps} t+${this.now - this.#start} ${timer.scope.name}: timer ${timer.label}`);
    timer.work();
  }

  #openSome(): void {
    const count = this.random.chance(0.12) ? this.random.int(2, 4) : 1;
    for (let opened = 0; opened < count && this.#gates.length > 0; opened++) this.#openOne();
    this.now += this.random.int(0, 40);
  }

  #openOne(): void {
    let left = this.random.next() * this.#gates.reduce((sum, gate) => sum + gate.weight, 0);
    const found = this.#gates.findIndex((gate) => {
      left -= gate.weight;
      return left < 0;
    });
    const [gate] = this.#gates.splice(Math.max(0, found), 1);
    if (!gate) return;
    this.trace.push(`${this.steps} t+${this.now - this.#start} ${gate.scope.name}: ${gate.label}`);
    gate.effect?.();
    gate.open();
  }
}

/** Lets every promise settle that can. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
