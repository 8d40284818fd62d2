/**
 * Plays one conversation, call by call, through the real commands, events and state. The provider counts every request
 * with a true tokenizer.
 */

import { toPolicy } from "../../src/context/policy-choice";
import { DEFAULT_POLICY } from "../../src/context/presets";
import { Sizing, toUpperBound } from "../../src/context/sizing";
import type { ModelCall } from "../../src/domain/commands";
import type { CallUsage } from "../../src/domain/model-call";
import { toModelCall } from "../lab/engine/model-calls";
import { LabSession } from "../lab/engine/session";
import { LAB_MODEL } from "../lab/engine/setup";
import { type Caller, type Spoken, StepPlayer } from "../lab/engine/step-player";
import { countTokens, trueTokens } from "../lab/true-tokens.ts";
import { planSteps } from "../replay/plan.ts";
import type { Conversation } from "../replay/recording.ts";
import type { Corpus } from "./corpora.ts";
import { countView } from "./count-view.ts";

/** One request: the provider's count, and the estimate made before it was sent. */
export interface Estimate {
  /** Requests of the session whose count was reported before this one. */
  readonly reports: number;
  readonly counted: number;
  /** The estimate as it is shown. */
  readonly expected: number;
  /** The estimate plus its bound, which the guard and every decision use. */
  readonly planned: number;
}

export interface Played {
  readonly name: string;
  /** Each request as if the session had no report yet, like the first request of an imported history. */
  readonly before: readonly Estimate[];
  /** Each request except a session's first, with the provider's count of every earlier one. */
  readonly after: readonly Estimate[];
}

/** `factor`: the ratio of the provider's count to o200k's count. */
export function playCorpus({ name, conversations }: Corpus, factor: number): Played {
  const play = (reports: boolean) => conversations.flatMap((conversation) => playConversation(conversation, { factor, reports }));
  return { name, before: play(false), after: play(true).filter(({ reports }) => reports > 0) };
}

interface Provider {
  readonly factor: number;
  /** False: the provider never reports its count. */
  readonly reports: boolean;
}

function playConversation(conversation: Conversation, provider: Provider): readonly Estimate[] {
  const { system = null } = conversation;
  const policy = { policyText: DEFAULT_POLICY, policy: toPolicy(DEFAULT_POLICY), recall: false };
  const session = new LabSession({ model: LAB_MODEL.id, system, ...policy, segments: trueTokens });
  const calls = new CountedCalls(session, provider);
  const player = new StepPlayer({ session, calls, tally: { turns: 0, refused: 0 } });
  for (const step of planSteps(conversation)) player.play(step);
  return calls.estimates;
}

/** Calls to a model with an unlimited window. */
class CountedCalls implements Caller {
  readonly estimates: Estimate[] = [];
  readonly #session: LabSession;
  readonly #provider: Provider;

  constructor(session: LabSession, provider: Provider) {
    this.#session = session;
    this.#provider = provider;
  }

  prepare(): boolean {
    return true;
  }

  call({ drafts, text }: Spoken): boolean {
    const session = this.#session;
    const { factor, reports } = this.#provider;
    const input = Math.round(countView(session.view()) * factor);
    const measured = new Sizing(session.state, LAB_MODEL).next();
    const of = { reports: reports ? this.estimates.length : 0, counted: input };
    this.estimates.push({ ...of, expected: measured.tokens, planned: toUpperBound(measured) });
    const output = Math.round(countTokens(text) * factor);
    const call = this.#toCall(reports ? { input, cached: 0, output, reasoning: 0 } : null);
    session.tick();
    const reply = drafts.find((draft) => draft.kind === "assistant") ?? null;
    const calls = drafts.filter((draft) => draft.kind === "tool_call").map((item) => ({ item }));
    const finish = calls.length > 0 ? "tool_calls" : "stop";
    session.execute({ at: session.now, type: "RecordAssistant", ...session.run(), call, reply, calls, finish });
    return true;
  }

  fail(): void {
    throw new Error("a call without a window always has room");
  }

  afterTurn(): void {
    // Nothing is compacted. The tokens of a summary are counted by its own call.
  }

  #toCall(usage: CallUsage | null): ModelCall {
    const call = toModelCall(this.#session.state, { usage, rent: 0 });
    return { ...call, outcome: "stop" };
  }
}
