/** What happens around one model call: what the app does before it, the provider that counts true tokens, and what is recorded. */
import { limitOf, type ModelLimits, measureNext, rawViewTokens } from "../context/budget";
import { planGuard } from "../context/guard";
import { isGentle, mayMakeRoom } from "../context/ladder";
import type { Plan } from "../context/plan";
import { planCompaction, rentOfCall } from "../context/planner";
import { planResults } from "../context/results-rung";
import type { ModelCall } from "../domain/commands";
import type { CompactionTrigger } from "../domain/compaction-events";
import type { ItemDraft } from "../domain/message";
import type { CallUsage } from "../domain/model-call";
import { findMalformed } from "./check-request";
import { carryOut } from "./compact";
import type { Ledger } from "./ledger";
import { PromptCache } from "./prompt-cache";
import { tokensOf } from "./segments";
import type { LabSession } from "./session";
import { LAB_MODEL, type Setup } from "./setup";
import type { Caller, Spoken } from "./step-player";

/** Dropping voids the provider's count, and the next measure is a padded estimate: it may take a second look. */
const GUARD_ROUNDS = 3;

export class ModelCalls implements Caller {
  readonly #session: LabSession;
  readonly #setup: Setup;
  readonly #limits: ModelLimits;
  readonly #ledger: Ledger;
  readonly #cache: PromptCache;

  constructor(by: { readonly session: LabSession; readonly setup: Setup; readonly limits: ModelLimits; readonly ledger: Ledger }) {
    this.#session = by.session;
    this.#cache = new PromptCache(by.session.segments);
    this.#setup = by.setup;
    this.#limits = by.limits;
    this.#ledger = by.ledger;
  }

  /** Before a call: old results cleared, room made as the policy says, and what must fit. False: nothing helps. */
  prepare(): boolean {
    const { policy, guard } = this.#setup;
    this.#take(planResults({ state: this.#session.state, limits: this.#limits, policy }));
    this.#makeRoom();
    return !guard || this.#fit();
  }

  /** Between turns, in production in the background: it is done before the next message comes. */
  afterTurn(): void {
    const { policy, eachCall } = this.#setup;
    const completed = this.#session.state.turn === null && this.#session.state.last_turn?.status === "completed";
    if (completed && policy.trigger.at === "after_response" && !eachCall) this.#soft();
  }

  /** False: the provider refused it as too long, and the turn has failed. */
  call({ drafts, text }: Spoken): boolean {
    const session = this.#session;
    const view = session.view();
    const request = session.request();
    const input = tokensOf(request);
    const output = session.segments.count(text);
    const fits = input <= this.#limit;
    const usage = fits ? { input, cached: this.#cache.read(request), output, reasoning: 0 } : null;
    const { record, state } = session;
    this.#ledger.called({ record, view: state.view, request, reply: text, malformed: findMalformed(view), input, usage });
    const call = this.#callOf(usage);
    session.tick();
    if (!usage) this.fail("overflow", call);
    else this.#record(drafts, call);
    return fits;
  }

  fail(kind: "overflow" | "cannot_fit", call: ModelCall | null): void {
    const failure = { kind, status: kind === "overflow" ? 400 : null };
    this.#session.execute({ at: this.#session.now, type: "FailTurn", ...this.#session.run(), call, failure, partial: null });
  }

  #record(drafts: readonly ItemDraft[], call: ModelCall): void {
    const reply = drafts.find((draft) => draft.kind === "assistant") ?? null;
    const calls = drafts.filter((draft) => draft.kind === "tool_call").map((item) => ({ item }));
    const finish = calls.length > 0 ? "tool_calls" : "stop";
    this.#session.execute({ at: this.#session.now, type: "RecordAssistant", ...this.#session.run(), call, reply, calls, finish });
  }

  #callOf(usage: CallUsage | null): ModelCall {
    const { state, now } = this.#session;
    return {
      turn: state.turn?.id ?? null,
      purpose: "turn",
      model: LAB_MODEL,
      epoch: state.view.epoch,
      up_to: state.next_position - 1,
      usage,
      estimate: rawViewTokens(state),
      request_digest: null,
      outcome: usage ? "stop" : "overflow",
      ms: 0,
      lease: null,
      rent: rentOfCall({ state, limits: this.#limits, policy: this.#setup.policy, now }),
    };
  }

  #soft(): void {
    this.#take(this.#plan("threshold"));
  }

  /** As the app does (`make-room`). */
  #makeRoom(): void {
    const trigger = this.#roomTrigger();
    const plan = trigger && mayMakeRoom(this.#setup.policy, trigger) ? this.#plan(trigger) : null;
    if (plan?.kind !== "compact") return;
    if (plan.rungs.some(({ rung }) => rung === "summarize") || isGentle(plan)) this.#take(plan);
  }

  #roomTrigger(): CompactionTrigger | null {
    const { policy, eachCall, guard } = this.#setup;
    if (guard && measureNext(this.#session.state, LAB_MODEL).tokens > this.#limit) return "inline";
    const isFirst = this.#session.state.turn?.rounds === 0;
    const { at } = policy.trigger;
    return eachCall || at === "each_call" || (at === "before_turn" && isFirst) ? "threshold" : null;
  }

  /** What is still too much, the guard drops. */
  #fit(): boolean {
    for (let round = 0; round < GUARD_ROUNDS; round++) {
      const plan = planGuard({ state: this.#session.state, limits: this.#limits, policy: this.#setup.policy });
      if (plan.kind === "none") return true;
      if (plan.kind === "cannot_fit") return false;
      this.#take(plan);
    }
    return measureNext(this.#session.state, LAB_MODEL).tokens <= this.#limit;
  }

  #plan(trigger: CompactionTrigger): Plan {
    const { state, now } = this.#session;
    return planCompaction({ state, limits: this.#limits, policy: this.#setup.policy, trigger, now });
  }

  #take(plan: Plan): void {
    if (plan.kind !== "compact") return;
    const { policy, countsChain } = this.#setup;
    const shop = { session: this.#session, cache: this.#cache, limits: this.#limits, policy, countsChain };
    this.#ledger.compacted(plan, carryOut(plan, shop));
  }

  get #limit(): number {
    return limitOf(this.#limits) ?? Number.POSITIVE_INFINITY;
  }
}
