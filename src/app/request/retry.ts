/**
 * Decides what to do after a failed call that produced no output: ask the same model again after a wait, ask another model, or stop. Pure:
 * time, randomness and past costs are arguments.
 */
import type { TurnFailure, TurnFailureKind } from "../../domain/events";

interface Remedy {
  /** A repetition of the request may succeed a little later. */
  readonly again: boolean;
  /** Another model may accept the request. */
  readonly elsewhere: boolean;
}

const AGAIN: Remedy = { again: true, elsewhere: true };
const ELSEWHERE: Remedy = { again: false, elsewhere: true };
const NOTHING: Remedy = { again: false, elsewhere: false };

/** `overflow` and `output_cap` are first handled by `recover-overflow` and `reply-caps`; this table says what is left after that. */
const remedies: Readonly<Record<TurnFailureKind, Remedy>> = {
  rate_limit: AGAIN,
  unavailable: AGAIN,
  /** A timeout before the first token. After it there was output, and nothing is retried. */
  timeout: AGAIN,
  overflow: ELSEWHERE,
  cannot_fit: ELSEWHERE,
  output_cap: ELSEWHERE,
  payload: ELSEWHERE,
  quota: ELSEWHERE,
  media: ELSEWHERE,
  invalid_param: ELSEWHERE,
  auth: ELSEWHERE,
  not_found: ELSEWHERE,
  region: ELSEWHERE,
  refused: ELSEWHERE,
  unknown_model: ELSEWHERE,
  /** The adapter threw; the next model may use another adapter. */
  internal: ELSEWHERE,
  /** The caller aborted the call, so nothing waits for it. */
  aborted: NOTHING,
  round_limit: NOTHING,
  no_progress: NOTHING,
  /** Another model may cost less, but the client has to know that its budget is used up. */
  budget: NOTHING,
  suspended: NOTHING,
  storage_full: NOTHING,
  crashed: NOTHING,
};

export const mayRetryModel = (kind: TurnFailureKind): boolean => remedies[kind].again;
export const mayTryOtherModel = (kind: TurnFailureKind): boolean => remedies[kind].elsewhere;

/** Calls of one model for one answer: the first and two retries. */
export const CALLS_OF_ONE_MODEL = 3;
/** Failed calls for one answer, over all its models. Calls repeated after an overflow recovery are counted separately. */
export const FAILED_CALLS = 8;
/** Raw estimated tokens of failed calls for one answer: the request of a full, large window is not sent many times. */
export const FAILED_TOKENS = 2_000_000;
/** Total duration of failed calls for one answer after which no model is asked the same again. */
export const FAILED_MS = 5 * 60_000;
/** The limits over all answers of a turn, which may have many rounds of tools: three times those of one answer. */
const TURN_FAILED_CALLS = 3 * FAILED_CALLS;
const TURN_FAILED_TOKENS = 3 * FAILED_TOKENS;
/** The sum of all waits for one answer, because a person waits for it. */
export const PATIENCE_MS = 60_000;

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 20_000;
/** Random time added to the wait that a provider asks for, so that not all clients return at once. */
const AFTER_ASKED_MS = 1_000;

/** What failed calls of all answers of a turn have cost, within one life of the object. */
export interface TurnRetrySpend {
  calls: number;
  /** Raw estimate. */
  tokens: number;
}

/** Counts what failed calls have cost for one answer, and for its turn. */
export class RetryBudget {
  calls = 0;
  tokens = 0;
  waitedMs = 0;
  tookMs = 0;

  readonly ofTurn: TurnRetrySpend;

  constructor(ofTurn: TurnRetrySpend = { calls: 0, tokens: 0 }) {
    this.ofTurn = ofTurn;
  }

  /** Counts a failed call. `estimate`: its raw tokens; `ms`: its duration. */
  failed(estimate: number, ms: number): void {
    this.calls += 1;
    this.tokens += estimate;
    this.tookMs += ms;
    this.ofTurn.calls += 1;
    this.ofTurn.tokens += estimate;
  }

  get isSpent(): boolean {
    const { calls, tokens } = this.ofTurn;
    return this.calls >= FAILED_CALLS || this.tokens >= FAILED_TOKENS || calls >= TURN_FAILED_CALLS || tokens >= TURN_FAILED_TOKENS;
  }

  /**
   * Milliseconds until the same model is asked again, added to the total wait; null: it is not asked again. `calls`: how often it was
   * asked. The wait is exponential with full jitter. A wait that the provider asks for is kept in full, or the model is not asked again if
   * the wait is too long.
   */
  nextWait(failure: TurnFailure, by: { readonly calls: number; readonly random: () => number }): number | null {
    if (!mayRetryModel(failure.kind) || by.calls >= CALLS_OF_ONE_MODEL || this.tookMs >= FAILED_MS || this.isSpent) return null;
    const ms = chooseWait(failure.retry_after_ms ?? null, by);
    if (this.waitedMs + ms > PATIENCE_MS) return null;
    this.waitedMs += ms;
    return ms;
  }
}

function chooseWait(asked: number | null, { calls, random }: { readonly calls: number; readonly random: () => number }): number {
  if (asked !== null) return Math.ceil(asked + random() * AFTER_ASKED_MS);
  return Math.ceil(random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (calls - 1)));
}
