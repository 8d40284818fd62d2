/**
 * Plays one recording under the default policy, call by call through the real commands, plans and views, in its own
 * window, and measures the distance of each request from the limit by the provider's count. A seed draws the order of
 * the conversations, the ids of calls and the lengths of summaries. The provider refuses requests above the limit.
 */

import { type ModelLimits, toRequestLimit } from "../../src/context/budget";
import type { CompactPlan } from "../../src/context/plan";
import { toSummaryCap } from "../../src/context/proposal";
import { Sizing, toUpperBound } from "../../src/context/sizing";
import type { ModelCall } from "../../src/domain/commands";
import type { CoveredRange } from "../../src/domain/compaction-events";
import { RoomMaker } from "../../src/evaluate/room-maker";
import { runPlan } from "../../src/evaluate/run-plan";
import { countView } from "../estimates/count-view.ts";
import { base62 } from "../estimates/material.ts";
import { recordReply, toModelCall } from "../lab/engine/model-calls";
import { LabSession } from "../lab/engine/session";
import { LAB_MODEL, type Setup, toLimits } from "../lab/engine/setup";
import { type Caller, type Spoken, StepPlayer } from "../lab/engine/step-player";
import { countTokens, trueTokens } from "../lab/true-tokens.ts";
import { planSteps } from "../replay/plan.ts";
import type { Conversation, RecordedMessage } from "../replay/recording.ts";
import { createRandom, type Random } from "../support/random.ts";

export interface Margin {
  readonly calls: number;
  /** Requests above the limit by the provider's count. */
  readonly overflows: number;
  /** Turns that were not sent, because nothing made room. */
  readonly refused: number;
  /** Changes of the view. */
  readonly epochs: number;
  /** The largest request that was sent, as a share of the limit. */
  readonly nearest: number;
  /** The largest excess of a request over its planned size, in tokens. Negative when no request reached its planned size. */
  readonly short: number;
  /** Requests whose count differed from the estimate by more than the stated bound. */
  readonly outside: number;
}

export interface Run {
  readonly conversations: readonly Conversation[];
  readonly window: number;
  readonly seed: number;
  readonly setup: Setup;
}

export function playMargin({ conversations, window, seed, setup }: Run): Margin {
  const random = createRandom(seed);
  const { policyText, policy, recall } = setup;
  const system = conversations.find((conversation) => conversation.system)?.system ?? null;
  const limits = toLimits(window, setup.prices);
  const settings = { model: LAB_MODEL.id, system, policyText, policy, recall, segments: trueTokens };
  const session = new SeededSession(settings, { random, most: toSummaryCap(limits, policy) });
  const calls = new CountedCalls({ session, setup, limits });
  const tally = { turns: 0, refused: 0 };
  const player = new StepPlayer({ session, calls, tally });
  for (const conversation of shuffle(conversations, random)) {
    for (const step of planSteps(withNewIds(conversation, random))) player.play(step);
  }
  return { ...calls.margin, refused: tally.refused };
}

function shuffle<T>(values: readonly T[], random: Random): readonly T[] {
  const left = [...values];
  return values.flatMap(() => left.splice(random.between(0, left.length - 1), 1));
}

/** As dense as any provider's ids, and longer than most, because a reply's count does not include ids. */
function withNewIds(conversation: Conversation, random: Random): Conversation {
  const known = new Map<string, string>();
  const renewed = (id: string): string => {
    const made = known.get(id) ?? `call_${base62(random, random.between(8, 32))}`;
    known.set(id, made);
    return made;
  };
  const messages = conversation.messages.map((message): RecordedMessage => {
    if (message.role === "tool") return { ...message, tool_call_id: renewed(message.tool_call_id) };
    if (message.role !== "assistant" || !message.tool_calls) return message;
    return { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, id: renewed(call.id) })) };
  });
  return { ...conversation, messages };
}

/** Summaries of a twentieth to a quarter of their source, within the policy's limit. */
class SeededSession extends LabSession {
  readonly #random: Random;
  readonly #most: number;

  constructor(settings: ConstructorParameters<typeof LabSession>[0], { random, most }: { readonly random: Random; readonly most: number }) {
    super(settings);
    this.#random = random;
    this.#most = most;
  }

  override recordedLength(range: CoveredRange): number {
    const read = this.transcript(range).reduce((sum, tokens) => sum + tokens, 0);
    return Math.max(1, Math.min(this.#most, Math.round((read * this.#random.between(5, 25)) / 100)));
  }
}

interface Stage {
  readonly session: LabSession;
  readonly setup: Setup;
  readonly limits: ModelLimits;
}

class CountedCalls implements Caller {
  readonly #stage: Stage;
  readonly #room: RoomMaker;
  #margin: Omit<Margin, "refused"> = { calls: 0, overflows: 0, epochs: 0, nearest: 0, short: Number.NEGATIVE_INFINITY, outside: 0 };

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#room = new RoomMaker({ ...stage, take: (plan) => this.#take(plan) });
  }

  get margin(): Omit<Margin, "refused"> {
    return this.#margin;
  }

  prepare(): boolean {
    return this.#room.prepare();
  }

  afterTurn(): void {
    this.#room.afterTurn();
  }

  call({ drafts, text }: Spoken): boolean {
    const { session, limits } = this.#stage;
    const input = countView(session.view());
    const limit = toRequestLimit(limits) ?? Number.POSITIVE_INFINITY;
    const fits = input <= limit;
    const measured = new Sizing(session.state, LAB_MODEL).next();
    const { calls, overflows, nearest, short, outside } = this.#margin;
    this.#margin = {
      ...this.#margin,
      calls: calls + 1,
      overflows: overflows + (fits ? 0 : 1),
      nearest: Math.max(nearest, input / limit),
      short: Math.max(short, input - toUpperBound(measured)),
      outside: outside + (Math.abs(input - measured.tokens) > measured.error_bound ? 1 : 0),
    };
    const usage = fits ? { input, cached: 0, output: countTokens(text), reasoning: 0 } : null;
    const call = toModelCall(session.state, { usage, rent: 0 });
    session.tick();
    if (fits) recordReply(session, drafts, call);
    else this.fail("overflow", call);
    return fits;
  }

  fail(kind: "overflow" | "cannot_fit", call: ModelCall | null): void {
    const { session } = this.#stage;
    const failure = { kind, status: kind === "overflow" ? 400 : null };
    session.execute({ at: session.now, type: "FailTurn", ...session.run(), call, failure, partial: null });
  }

  #take(plan: CompactPlan): void {
    const { session, limits, setup } = this.#stage;
    const { policy, countsChain } = setup;
    this.#margin = { ...this.#margin, epochs: this.#margin.epochs + 1 };
    const readPrefix = () => ({ input: new Sizing(session.state, LAB_MODEL).raw, cached: 0 });
    runPlan(plan, { session, readPrefix, limits, policy, countsChain, summariser: null });
  }
}
