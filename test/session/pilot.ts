/** Answers every model call of a life until none is open, and processes its compactions as the queue's consumer does. */

import { runCompaction } from "../../src/app/compaction/run-compaction";
import type { ModelRequest, ModelStreamPart } from "../../src/app/ports";
import { estimateParts } from "../../src/context/item-tokens";
import { estimateTokens } from "../../src/context/tokens";
import type { CompactionId } from "../../src/domain/ids";
import { CALLER, type Life, settle } from "./life";

/** The reply to a request, and how it ends. */
export type Answer = (request: ModelRequest) => readonly ModelStreamPart[];

export interface Answers {
  readonly turn: Answer;
  readonly summary: Answer;
}

/** More calls than any of these stories can have, so that a loop fails. */
const ENDLESS = 1_000;

/** Approximately what a provider would count. */
export const countBytes = ({ system, messages, tools }: ModelRequest): number =>
  messages.reduce((sum, { parts }) => sum + estimateParts(parts), estimateTokens(system ?? "") + estimateTokens(JSON.stringify(tools)));

export const saying =
  (text: string): Answer =>
  (request) => [
    { type: "text", text },
    { type: "finish", finish: "stop", usage: { input: countBytes(request), output: estimateTokens(text), cached: 0, reasoning: 0 } },
  ];

export const failing: Answer = () => [{ type: "failure", failure: { kind: "unavailable", status: 503 } }];

export class Pilot {
  /** Every request that a model received, in order. */
  readonly asked: ModelRequest[] = [];
  readonly #life: Life;
  readonly #answers: Answers;
  #answered = 0;

  constructor(life: Life, answers: Answers) {
    this.#life = life;
    this.#answers = answers;
  }

  get summaries(): ModelRequest[] {
    return this.asked.filter(({ purpose }) => purpose === "compaction");
  }

  get turns(): ModelRequest[] {
    return this.asked.filter(({ purpose }) => purpose === "turn");
  }

  /** Sends a message, and runs until nothing is waiting. */
  async say(text: string): Promise<void> {
    await this.#life.send(text);
    await this.goOn();
  }

  async goOn(): Promise<void> {
    while (await this.#step()) if (this.asked.length > ENDLESS) throw new Error("the session never comes to rest");
  }

  async #step(): Promise<boolean> {
    const { calls, jobs } = this.#life;
    const call = calls[this.#answered];
    if (call) {
      this.#answered += 1;
      call.say(...this.#answer(call.request));
      await settle();
      return true;
    }
    const job = jobs.shift();
    if (job) await this.#workOff(job as CompactionId);
    return job !== undefined;
  }

  #answer(request: ModelRequest): readonly ModelStreamPart[] {
    this.asked.push(request);
    return request.purpose === "compaction" ? this.#answers.summary(request) : this.#answers.turn(request);
  }

  async #workOff(compaction: CompactionId): Promise<void> {
    const { service: session, time } = this.#life;
    const answer = (request: ModelRequest) => this.#answer(request);
    const model = {
      async *stream(request: ModelRequest) {
        yield* answer(request);
      },
      render: async () => ({ url: "", body: "" }),
    };
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    await runCompaction(
      { ...CALLER, compaction },
      { session, model, clock: time.now, schedule: time.schedule, random: () => 0, isSuspended: async () => false, log },
    );
    await settle();
  }
}
