/**
 * Holds the session to its tenant's limits (docs/tenant-limits.md), and has its slots of concurrent turns: from when a turn is accepted until no
 * turn runs and none waits in the queue. A turn that waits for its client has none. The committed state alone says whether the session has
 * slots, so every end of a turn frees them.
 */
import type { Log } from "../app/ports";
import type { Outcome } from "../app/session-api";
import type { Schedule } from "../app/session-ports";
import { BEAT_MS } from "../app/slot-grants";
import type { SlotMeter, SlotRule } from "../app/slot-meter";
import { listSlotRules, toSlotRefusal } from "../app/slot-rules";
import type { LimitSet } from "../contract/limits";
import { findTurnKey } from "../domain/call-owner";
import type { KeyId, TenantId, TurnId } from "../domain/ids";
import type { TextRef } from "../domain/message";
import { isRunning, type SessionState } from "../domain/state";
import { toErrorName } from "../lib/error-name";
import { err } from "../lib/result";

export interface LimitPorts {
  /** Null: none. An answer may be cached. */
  readonly read: (tenant: TenantId) => Promise<LimitSet | null>;
  /** This isolate's slots of turns. */
  readonly slots: SlotMeter;
}

interface LimitedHost {
  readonly state: SessionState;
  readonly content: { readRefText(ref: TextRef | null): string | null };
  readonly deps: {
    /** Absent: no tenant has limits. */
    readonly limits?: LimitPorts;
    readonly incarnation: string;
    readonly schedule: Schedule;
    readonly background: (work: Promise<void>) => void;
    readonly log: Log;
  };
}

/** True while a turn runs, or the next one is about to start. */
const isAtWork = ({ lifecycle, turn, queue }: SessionState): boolean =>
  lifecycle === "open" && (isRunning(turn) || queue.some((waiting) => waiting.turn !== null));

const isIn = (rules: readonly SlotRule[], { of, id }: SlotRule): boolean => rules.some((rule) => rule.of === of && rule.id === id);

export class SessionLimits {
  readonly #host: LimitedHost;
  #known: LimitSet | null = null;
  #isKnown = false;
  #held: readonly SlotRule[] = [];
  /** The turn whose slots are held. */
  #turn: TurnId | null = null;
  /** The rule that had no slot when slots were last taken. */
  #refused: SlotRule | null = null;
  /** Requests under way that may start a turn. */
  #entering = 0;
  #taking: Promise<void> = Promise.resolve();
  #stopBeats: (() => void) | null = null;

  constructor(host: LimitedHost) {
    this.#host = host;
  }

  /** The most messages of the session. Null: no limit. */
  get messages(): number | null {
    return this.#known?.tenant.messages_per_session ?? null;
  }

  /** Looks the limits up. While that fails, the last known ones hold: chat goes on without the tenant's object. */
  async learn(): Promise<void> {
    const { tenant } = this.#host.state;
    const { limits, log } = this.#host.deps;
    if (!limits || !tenant) return;
    try {
      this.#known = await limits.read(tenant);
      this.#isKnown = true;
    } catch (error) {
      log.warn("limits_unknown", { error: toErrorName(error) });
    }
  }

  /** Serves a request that may start a turn. It takes the slots of that turn first, unless the session has them. */
  async enter<T>(key: KeyId | undefined, call: () => T | Promise<T>): Promise<T> {
    if (!this.#host.deps.limits) return await call();
    await this.learn();
    this.#entering += 1;
    try {
      this.#taking = this.#taking.then(() => this.#take(key));
      await this.#taking;
      return await call();
    } finally {
      this.#entering -= 1;
      this.settle();
    }
  }

  /** Judges a request's transaction that starts a turn, before it is committed. Null: it may. */
  refuse(before: SessionState, after: SessionState): Outcome<never> | null {
    if (this.#entering === 0 || isAtWork(before) || !isAtWork(after)) return null;
    const lacking = this.#list(after, findTurnKey(after)).filter((rule) => !isIn(this.#held, rule));
    const refused = this.#refused && isIn(lacking, this.#refused) ? this.#refused : lacking[0];
    return refused ? err(toSlotRefusal(refused)) : null;
  }

  /** Takes or frees slots as the committed state says. Call it after every commit. */
  settle(): void {
    const { state, deps } = this.#host;
    if (!deps.limits) return;
    if (!isAtWork(state)) {
      if (this.#entering === 0) this.#free();
    } else if (state.turn && state.turn.id !== this.#turn) {
      this.#turn = state.turn.id;
      if (this.#isKnown) this.#keep();
      else deps.background(this.learn().then(() => this.#keep()));
    }
  }

  #list({ settings }: SessionState, key: KeyId | undefined): readonly SlotRule[] {
    const end_user = this.#host.content.readRefText(settings.end_user ?? null);
    return this.#known ? listSlotRules("turns", { key, end_user }, this.#known) : [];
  }

  /** A request of one key may let a turn of another go on, or begin its own: then each slot is taken alone, and the turn decides. */
  async #take(key: KeyId | undefined): Promise<void> {
    const { state } = this.#host;
    if (isAtWork(state)) return;
    const own = this.#list(state, key);
    const waiting = state.turn ? this.#list(state, state.turn.key).filter((rule) => !isIn(own, rule)) : [];
    const groups = waiting.length === 0 ? [own] : [...own, ...waiting].map((rule) => [rule]);
    for (const group of groups) {
      const rules = group.filter((rule) => !isIn(this.#held, rule));
      if (rules.length === 0) continue;
      this.#refused = await this.#takeRules(rules);
      if (!this.#refused) this.#held = [...this.#held, ...rules];
    }
  }

  /** Null: taken. Where the tenant's object cannot say, the turn runs, and is counted with its next report. */
  async #takeRules(rules: readonly SlotRule[]): Promise<SlotRule | null> {
    try {
      return await this.#meter((slots, ...place) => slots.take(...place, rules));
    } catch (error) {
      this.#host.deps.log.warn("slots_unknown", { error: toErrorName(error) });
      return null;
    }
  }

  /** Has the slots of the turn that runs, and no others. It is not refused: it was accepted. */
  #keep(): void {
    const { state } = this.#host;
    if (!isAtWork(state)) return;
    const rules = this.#list(state, findTurnKey(state));
    const others = this.#held.filter((rule) => !isIn(rules, rule));
    this.#held = rules;
    if (others.length > 0) this.#later((slots, ...place) => slots.release(...place, others));
    if (rules.length > 0) this.#report();
  }

  #report(): void {
    const rules = this.#held;
    this.#later((slots, ...place) => slots.report(...place, rules));
    this.#stopBeats?.();
    this.#stopBeats = this.#host.deps.schedule(BEAT_MS, () => this.#report());
  }

  #free(): void {
    const rules = this.#held;
    this.#stopBeats?.();
    this.#stopBeats = null;
    this.#held = [];
    this.#turn = null;
    if (rules.length > 0) this.#later((slots, ...place) => slots.release(...place, rules));
  }

  #later(work: (slots: SlotMeter, ...place: SlotPlace) => Promise<void>): void {
    const { background, log } = this.#host.deps;
    const done = this.#meter(work).catch((error: unknown) => log.warn("slots_unknown", { error: toErrorName(error) }));
    background(done.then(() => undefined));
  }

  /** Null where there is no tenant to ask. */
  async #meter<T>(work: (slots: SlotMeter, ...place: SlotPlace) => Promise<T>): Promise<T | null> {
    const { state, deps } = this.#host;
    const { tenant, session } = state;
    return deps.limits && tenant && session ? await work(deps.limits.slots, tenant, { id: session, life: deps.incarnation }) : null;
  }
}

type SlotPlace = readonly [owner: TenantId, holder: Parameters<SlotMeter["take"]>[1]];
