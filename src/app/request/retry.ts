/**
 * What a call that failed leaves to do: the same again after a while, another model, or nothing. Only where nothing was heard of the
 * answer. Pure: the time, the chance and what was spent so far are given.
 */
import type { TurnFailure, TurnFailureKind } from "../../domain/events";

interface Remedy {
  /** The same request may succeed a little later. */
  readonly again: boolean;
  /** Another model may take what this one did not. */
  readonly elsewhere: boolean;
}

const AGAIN: Remedy = { again: true, elsewhere: true };
const ELSEWHERE: Remedy = { again: false, elsewhere: true };
const NOTHING: Remedy = { again: false, elsewhere: false };

/** `overflow` and `output_cap` are first met by what mends them (`rescue`, `reply-caps`): here is what is left after that. */
const remedies: Readonly<Record<TurnFailureKind, Remedy>> = {
  rate_limit: AGAIN,
  unavailable: AGAIN,
  /** Before the first token: after it, something was heard. */
  timeout: AGAIN,
  overflow: ELSEWHERE,
  cannot_fit: ELSEWHERE,
  output_cap: ELSEWHERE,
  payload: ELSEWHERE,
  quota: ELSEWHERE,
  media: ELSEWHERE,
  invalid_param: ELSEWHERE,
  auth: ELSEWHERE,
  refused: ELSEWHERE,
  unknown_model: ELSEWHERE,
  /** The adapter threw: the next model may have another. */
  internal: ELSEWHERE,
  /** Closed by whoever asked: nobody waits any more. */
  aborted: NOTHING,
  round_limit: NOTHING,
  storage_full: NOTHING,
  crashed: NOTHING,
};

export const mayHelpAgain = (kind: TurnFailureKind): boolean => remedies[kind].again;
export const mayHelpElsewhere = (kind: TurnFailureKind): boolean => remedies[kind].elsewhere;

/** Calls of one model for one answer: the first, and two more. */
export const CALLS_OF_ONE_MODEL = 3;
/** Calls for one answer that came to nothing, over all its models; what an overflow's rescue asks again is counted by itself. */
export const FAILED_CALLS = 8;
/** Raw tokens that calls which came to nothing asked for one answer: a request of a full large window is not sent many times. */
export const FAILED_TOKENS = 2_000_000;
/** How long the calls of one answer that came to nothing may have taken before no model is asked the same again. */
export const FAILED_MS = 5 * 60_000;
/** The same over all answers of a turn, which may have many rounds of tools: three answers' worth. */
const TURN_FAILED_CALLS = 3 * FAILED_CALLS;
const TURN_FAILED_TOKENS = 3 * FAILED_TOKENS;
/** A person waits: all waits for one answer together. */
export const PATIENCE_MS = 60_000;

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 20_000;
/** What is added to the wait that a provider asks for, so that not everybody comes back at once. */
const AFTER_ASKED_MS = 1_000;

/** What all answers of a turn have cost so far without coming to anything, in one life of the object. */
export interface VainSpend {
  calls: number;
  /** Raw, estimated. */
  tokens: number;
}

/** The same of one answer. */
export class Efforts {
  calls = 0;
  tokens = 0;
  waitedMs = 0;
  tookMs = 0;

  readonly ofTurn: VainSpend;

  constructor(ofTurn: VainSpend = { calls: 0, tokens: 0 }) {
    this.ofTurn = ofTurn;
  }

  /** `ms`: how long the call took. */
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
   * Milliseconds until the same model is asked again, counted as waited; null: it is not. `calls`: how often it was asked. Exponential with
   * full jitter; what the provider asks for is waited in full, or not at all where it is longer than anybody waits.
   */
  nextWait(failure: TurnFailure, by: { readonly calls: number; readonly random: () => number }): number | null {
    if (!mayHelpAgain(failure.kind) || by.calls >= CALLS_OF_ONE_MODEL || this.tookMs >= FAILED_MS || this.isSpent) return null;
    const ms = waitOf(failure.retry_after_ms ?? null, by);
    if (this.waitedMs + ms > PATIENCE_MS) return null;
    this.waitedMs += ms;
    return ms;
  }
}

function waitOf(asked: number | null, { calls, random }: { readonly calls: number; readonly random: () => number }): number {
  if (asked !== null) return Math.ceil(asked + random() * AFTER_ASKED_MS);
  return Math.ceil(random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (calls - 1)));
}
