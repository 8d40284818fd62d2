/** What happens before a call and after a turn so that requests fit and cost little: what the app does, without a model. */
import { limitOf, type ModelLimits, plannedNext } from "../context/budget";
import { planGuard } from "../context/guard";
import { isGentle, mayMakeRoom } from "../context/ladder";
import type { CompactPlan, Plan } from "../context/plan";
import { planCompaction } from "../context/planner";
import type { Policy } from "../context/policy";
import { planRefused } from "../context/refused";
import { planResults } from "../context/results-rung";
import type { CompactionTrigger } from "../domain/compaction-events";
import type { Played } from "./played";

/** Dropping voids the provider's count, and the next measure is a padded estimate: it may take a second look. */
const GUARD_ROUNDS = 3;

export interface RoomSetup {
  readonly policy: Policy;
  /** Off in the lab only. */
  readonly guard: boolean;
  /** The soft trigger is looked at before each call, as the lab's simulator does, whatever the policy says. */
  readonly eachCall: boolean;
}

interface Room {
  readonly session: Played;
  readonly setup: RoomSetup;
  readonly limits: ModelLimits;
  /** Carries a plan out. */
  readonly take: (plan: CompactPlan) => void;
}

export class RoomMaker {
  readonly #room: Room;

  constructor(room: Room) {
    this.#room = room;
  }

  /** Before a call: old results cleared, room made as the policy says, and what must fit. False: nothing helps. */
  prepare(): boolean {
    const { policy, guard } = this.#room.setup;
    this.#take(planResults({ state: this.#room.session.state, limits: this.#room.limits, policy }));
    if (guard) this.#take(planRefused({ state: this.#room.session.state, limits: this.#room.limits, policy }));
    this.#makeRoom();
    return !guard || this.#fit();
  }

  /** Between turns, in production in the background: it is done before the next message comes. */
  afterTurn(): void {
    const { policy, eachCall } = this.#room.setup;
    const completed = this.#room.session.state.turn === null && this.#room.session.state.last_turn?.status === "completed";
    if (completed && policy.trigger.at === "after_response" && !eachCall) this.#soft();
  }

  #soft(): void {
    this.#take(this.#plan("threshold"));
  }

  /** As the app does (`make-room`). */
  #makeRoom(): void {
    const trigger = this.#roomTrigger();
    const plan = trigger && mayMakeRoom(this.#room.setup.policy, trigger) ? this.#plan(trigger) : null;
    if (plan?.kind !== "compact") return;
    if (plan.rungs.some(({ rung }) => rung === "summarize") || isGentle(plan)) this.#take(plan);
  }

  #roomTrigger(): CompactionTrigger | null {
    const { policy, eachCall, guard } = this.#room.setup;
    if (guard && plannedNext(this.#room.session.state, this.#room.limits.model) > this.#limit) return "inline";
    const isFirst = this.#room.session.state.turn?.rounds === 0;
    const { at } = policy.trigger;
    return eachCall || at === "each_call" || (at === "before_turn" && isFirst) ? "threshold" : null;
  }

  /** What is still too much, the guard drops. */
  #fit(): boolean {
    for (let round = 0; round < GUARD_ROUNDS; round++) {
      const plan = planGuard({ state: this.#room.session.state, limits: this.#room.limits, policy: this.#room.setup.policy });
      if (plan.kind === "none") return true;
      if (plan.kind === "cannot_fit") return false;
      this.#take(plan);
    }
    return plannedNext(this.#room.session.state, this.#room.limits.model) <= this.#limit;
  }

  #plan(trigger: CompactionTrigger): Plan {
    const { state, now } = this.#room.session;
    return planCompaction({ state, limits: this.#room.limits, policy: this.#room.setup.policy, trigger, now });
  }

  #take(plan: Plan): void {
    if (plan.kind === "compact") this.#room.take(plan);
  }

  get #limit(): number {
    return limitOf(this.#room.limits) ?? Number.POSITIVE_INFINITY;
  }
}
