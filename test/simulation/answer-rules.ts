/**
 * I26: how often a model is called for one answer, when it may be called again, and the requested length of the reply.
 * After a first token there is no further call.
 */
import type { ModelFailure, ModelRequest } from "../../src/app/ports";
import type { SessionState } from "../../src/domain/state";
import type { Violations } from "./violation";

/** As docs/turns.md says it: calls that fail, what an overflow asks again, and the one that answers. */
const MOST_CALLS = 8 + 2 + 1;

interface Answer {
  calls: number;
  spoke: boolean;
  /** By model: the time from which it may be called again. */
  readonly notBefore: Map<string, number>;
  /** By model: the maximum reply tokens that it was found to accept. */
  readonly caps: Map<string, number>;
}

/** One answer of a turn, in one life of its object. Its position is assigned when the answer is recorded. */
const toKey = ({ turn, next_position }: SessionState): string => JSON.stringify([turn?.id, turn?.incarnation, next_position]);

export class AnswerRules {
  readonly #answers = new Map<string, Answer>();

  readonly violations: Violations;
  readonly now: () => number;

  constructor(violations: Violations, now: () => number) {
    this.violations = violations;
    this.now = now;
  }

  /** Called when a turn's request is sent. Returns a function that receives the outcome. */
  begin({ model, maxOutput }: ModelRequest, state: SessionState): { said(): void; failed(failure: ModelFailure, asked: number): void } {
    const answer = this.#readAnswer(state);
    const { violations } = this;
    answer.calls += 1;
    violations.check(!answer.spoke, "I26", () => `${model.id} is asked for an answer of which something was said`);
    violations.check(answer.calls <= MOST_CALLS, "I26", () => `${answer.calls} calls for one answer`);
    const early = (answer.notBefore.get(model.id) ?? 0) - this.now();
    violations.check(early <= 0, "I26", () => `${model.id} is asked ${early} ms before the time that it named`);
    const cap = answer.caps.get(model.id);
    const fits = cap === undefined || (maxOutput !== null && maxOutput <= cap);
    violations.check(fits, "I26", () => `${model.id} takes a reply of ${cap} tokens and is asked for ${maxOutput}`);
    return {
      said: () => {
        answer.spoke = true;
      },
      failed: ({ kind, retry_after_ms = 0, limit }, asked) => {
        answer.notBefore.set(model.id, this.now() + retry_after_ms);
        if (kind === "output_cap") answer.caps.set(model.id, Math.min(limit ?? asked - 1, asked - 1));
      },
    };
  }

  #readAnswer(state: SessionState): Answer {
    const key = toKey(state);
    const known = this.#answers.get(key);
    if (known) return known;
    const answer: Answer = { calls: 0, spoke: false, notBefore: new Map(), caps: new Map() };
    this.#answers.set(key, answer);
    return answer;
  }
}
