/**
 * Makes room before a call and after a turn, so that requests fit and cost little. It does what the app does, without a
 * model.
 */
import { type ModelLimits, toRequestLimit, toSizing } from "../context/budget";
import { planGuard } from "../context/guard";
import { mayApplyWithoutModel, mayMakeRoom } from "../context/ladder";
import type { CompactPlan, Plan } from "../context/plan";
import { planRefused } from "../context/plan-refused";
import { planCompaction } from "../context/planner";
import type { Policy } from "../context/policy";
import { planResults } from "../context/results-rung";
import type { CompactionTrigger } from "../domain/compaction-events";
import type { ReplayedSession } from "./replayed-session";

/** Dropping invalidates the provider's count, and the next measure is a padded estimate. So one round may not be enough. */
const GUARD_ROUNDS = 3;

export interface RoomSetup {
  readonly policy: Policy;
  /** False in the lab only. */
  readonly guard: boolean;
  /** True when the soft trigger is checked before each call, whatever the policy says. Used by the lab only. */
  readonly eachCall: boolean;
}

interface Room {
  readonly session: ReplayedSession;
  readonly setup: RoomSetup;
  readonly limits: ModelLimits;
  /** Carries out a plan. */
  readonly take: (plan: CompactPlan) => void;
}

export class RoomMaker {
  readonly #room: Room;

  constructor(room: Room) {
    this.#room = room;
  }

  /**
   * Prepares a call: clears old results, makes room as the policy says, and drops what does not fit. False when the request
   * does not fit even so.
   */
  prepare(): boolean {
    const { policy, guard } = this.#room.setup;
    this.#take(planResults({ state: this.#room.session.state, limits: this.#room.limits, policy }));
    if (guard) this.#take(planRefused({ state: this.#room.session.state, limits: this.#room.limits, policy }));
    this.#makeRoom();
    return !guard || this.#fit();
  }

  /** Runs between turns. Production does this in the background; here it is done before the next message. */
  afterTurn(): void {
    const { policy, eachCall } = this.#room.setup;
    const completed = this.#room.session.state.turn === null && this.#room.session.state.last_turn?.status === "completed";
    if (completed && policy.trigger.at === "after_response" && !eachCall) this.#soft();
  }

  #soft(): void {
    this.#take(this.#plan("threshold"));
  }

  /** Follows the app's rules (`make-room`). */
  #makeRoom(): void {
    const trigger = this.#roomTrigger();
    const plan = trigger && mayMakeRoom(this.#room.setup.policy, trigger) ? this.#plan(trigger) : null;
    if (plan?.kind !== "compact") return;
    if (plan.rungs.some(({ rung }) => rung === "summarize") || mayApplyWithoutModel(plan)) this.#take(plan);
  }

  #roomTrigger(): CompactionTrigger | null {
    const { policy, eachCall, guard } = this.#room.setup;
    if (guard && this.#planned > this.#limit) return "inline";
    const isFirst = this.#room.session.state.turn?.calls === 0;
    const { at } = policy.trigger;
    return eachCall || at === "each_call" || (at === "before_turn" && isFirst) ? "threshold" : null;
  }

  /** Lets the guard drop what is still too much. False when the request does not fit even so. */
  #fit(): boolean {
    for (let round = 0; round < GUARD_ROUNDS; round++) {
      const plan = planGuard({ state: this.#room.session.state, limits: this.#room.limits, policy: this.#room.setup.policy });
      if (plan.kind === "none") return true;
      if (plan.kind === "cannot_fit") {
        if (plan.tight) this.#take(plan.tight);
        return plan.tight !== undefined;
      }
      this.#take(plan);
    }
    return this.#planned <= this.#limit;
  }

  #plan(trigger: CompactionTrigger): Plan {
    const { state, now } = this.#room.session;
    return planCompaction({ state, limits: this.#room.limits, policy: this.#room.setup.policy, trigger, now });
  }

  #take(plan: Plan): void {
    if (plan.kind === "compact") this.#room.take(plan);
  }

  get #planned(): number {
    const { session, limits } = this.#room;
    return toSizing({ state: session.state, limits }).planned();
  }

  get #limit(): number {
    return toRequestLimit(this.#room.limits) ?? Number.POSITIVE_INFINITY;
  }
}
