/** Plays one model call: the app's steps before it, the provider that counts true tokens, and the recording of the reply. */

import { type ModelLimits, toRequestLimit } from "../../../src/context/budget";
import { INSTRUCTION_TOKENS } from "../../../src/context/economy";
import type { CompactPlan } from "../../../src/context/plan";
import { toCallCacheReadCost } from "../../../src/context/planner";
import { Sizing } from "../../../src/context/sizing";
import type { ModelCall } from "../../../src/domain/commands";
import type { NewItem } from "../../../src/domain/message";
import type { CallUsage } from "../../../src/domain/model-call";
import type { SessionState } from "../../../src/domain/state";
import { PromptCache } from "../../../src/evaluate/prompt-cache";
import { RoomMaker } from "../../../src/evaluate/room-maker";
import { runPlan } from "../../../src/evaluate/run-plan";
import { type Segment, sumTokens } from "../../../src/evaluate/segments";
import type { Summariser } from "../../../src/evaluate/summariser";
import { findMalformed } from "./check-request";
import { filler } from "./filler";
import type { Ledger } from "./ledger";
import type { LabSession } from "./session";
import { LAB_MODEL, type Setup } from "./setup";
import type { Caller, Spoken } from "./step-player";

export class ModelCalls implements Caller {
  readonly #session: LabSession;
  readonly #setup: Setup;
  readonly #limits: ModelLimits;
  readonly #ledger: Ledger;
  readonly #room: RoomMaker;
  #cache: PromptCache<Segment>;
  readonly #summariser: Summariser | null;

  constructor(by: { readonly session: LabSession; readonly setup: Setup; readonly limits: ModelLimits; readonly ledger: Ledger }) {
    this.#session = by.session;
    this.#setup = by.setup;
    this.#cache = this.#emptyCache();
    this.#summariser = by.setup.summariser?.() ?? null;
    this.#room = new RoomMaker({ ...by, take: (plan) => this.#take(plan) });
    this.#limits = by.limits;
    this.#ledger = by.ledger;
  }

  beforeTurn(turn: number): void {
    const { cold } = this.#setup;
    if (cold === null || turn % cold !== 0) return;
    this.#session.pause();
    this.#cache = this.#emptyCache();
  }

  /** The cache before the session's first call. */
  #emptyCache(): PromptCache<Segment> {
    const cache = new PromptCache(this.#session.segments, this.#setup.cacheStep ?? undefined);
    if (this.#setup.sharedPrefix) for (const head of this.#session.heads()) cache.read(head);
    return cache;
  }

  prepare(): boolean {
    return this.#room.prepare();
  }

  afterTurn(): void {
    this.#room.afterTurn();
  }

  /** False when the provider refused the request as too long and the turn failed. */
  call({ drafts, text }: Spoken): boolean {
    const session = this.#session;
    const view = session.view();
    const request = session.request();
    const input = sumTokens(request);
    const output = session.segments.count(text);
    const fits = input <= this.#limit;
    const usage = fits ? { input, cached: this.#cache.read(request), output, reasoning: 0 } : null;
    const { record, state } = session;
    this.#ledger.called({ record, view: state.view, request, reply: text, malformed: findMalformed(view), input, usage });
    const call = this.#toCall(usage);
    session.tick();
    if (!usage) this.fail("overflow", call);
    else recordReply(session, drafts, call);
    return fits;
  }

  fail(kind: "overflow" | "cannot_fit", call: ModelCall | null): void {
    const failure = { kind, status: kind === "overflow" ? 400 : null };
    this.#session.execute({ at: this.#session.now, type: "FailTurn", ...this.#session.run(), call, failure, partial: null });
  }

  #toCall(usage: CallUsage | null): ModelCall {
    const { state, now } = this.#session;
    return toModelCall(state, { usage, rent: toCallCacheReadCost({ state, limits: this.#limits, policy: this.#setup.policy, now }) });
  }

  #take(plan: CompactPlan): void {
    const { policy, countsChain } = this.#setup;
    const session = this.#session;
    const instruction = session.segments.of("user", filler(INSTRUCTION_TOKENS, "instruction"));
    const readPrefix = (to: number) => {
      const request = [...session.request(to), instruction];
      return { input: sumTokens(request), cached: this.#cache.read(request) };
    };
    const summariser = this.#summariser;
    this.#ledger.compacted(plan, runPlan(plan, { session, readPrefix, limits: this.#limits, policy, countsChain, summariser }));
  }

  get #limit(): number {
    return toRequestLimit(this.#limits) ?? Number.POSITIVE_INFINITY;
  }
}

/** A turn's call, as it is recorded. */
export const toModelCall = (
  state: SessionState,
  { usage, rent }: { readonly usage: CallUsage | null; readonly rent: number },
): ModelCall => ({
  turn: state.turn?.id ?? null,
  purpose: "turn",
  model: LAB_MODEL.id,
  epoch: state.view.epoch,
  up_to: state.next_position - 1,
  usage,
  estimate: new Sizing(state, LAB_MODEL).raw,
  request_digest: null,
  outcome: usage ? "stop" : "overflow",
  ms: 0,
  lease: null,
  rent,
});

/** The model's reply in a running turn. */
export function recordReply(session: LabSession, drafts: readonly NewItem[], call: ModelCall): void {
  const reply = drafts.find((draft) => draft.kind === "assistant") ?? null;
  const calls = drafts.filter((draft) => draft.kind === "tool_call").map((item) => ({ item }));
  const finish = calls.length > 0 ? "tool_calls" : "stop";
  session.execute({ at: session.now, type: "RecordAssistant", ...session.run(), call, reply, calls, finish });
}
