/** What people see of requests that were sent, and of how two differ: plain data. */
import type { PolicyChoice } from "../context/policy-choice";
import type { ViewDiff } from "../context/view-diff";
import type { CompactionTrigger } from "../domain/compaction-events";
import type { CallOutcome } from "../domain/events";
import type { CompactionId, TurnId } from "../domain/ids";
import type { ContextPart, TokenFigure } from "./session-views";

/** A request of the session. `turn` null: the next one. `call` counts a turn's calls from 1; null: the last one that has a request. */
export interface RequestRef {
  readonly turn: TurnId | null;
  readonly call: number | null;
}

/** One call of a model that a turn made. */
export interface TurnCall {
  readonly n: number;
  /** Of the event that recorded it. */
  readonly seq: number;
  readonly purpose: "turn";
  readonly model: string;
  readonly epoch: number;
  readonly outcome: CallOutcome;
  /** SHA-256 of the body that was sent, hexadecimal; null: nothing was sent, or it was not known when the call ended. */
  readonly digest: string | null;
}

export interface DigestCheck {
  readonly recorded: string | null;
  readonly rebuilt: string;
  /** Null: none was recorded. */
  readonly matches: boolean | null;
  /**
   * Why it does not match, as far as that is known. `redacted`: something in it was redacted since; `not_recorded`: an older build did not
   * record with which settings of the model it was sent; null: it matches, or this build builds it otherwise.
   */
  readonly reason: "redacted" | "not_recorded" | null;
}

/** What a request may weigh, and what its parts do. */
export interface ContextWeights {
  readonly context_window: number | null;
  /** What the policy takes an unknown window to be; null: it is known, or the policy takes it for nothing. */
  readonly assumed_window: number | null;
  readonly limit: number | null;
  readonly reserve: number | null;
  readonly total: TokenFigure;
  readonly parts: readonly ContextPart[];
}

/** A request that was sent, made again from the log. */
export interface PastContext extends ContextWeights {
  readonly turn_id: TurnId;
  /** Which of `calls` this is. */
  readonly call: number;
  readonly calls: readonly TurnCall[];
  readonly model: string;
  /** As it was. */
  readonly policy: PolicyChoice;
  readonly epoch: number;
  /** The last event that it was built on. */
  readonly seq: number;
  /** Epoch milliseconds; null: not known. */
  readonly sent_at: number | null;
  readonly request: { readonly url: string | null; readonly body: string };
  readonly digest: DigestCheck;
}

/** One of the two requests that are compared. `turn_id` null: the next one. */
export interface DiffSide {
  readonly turn_id: TurnId | null;
  readonly call: number | null;
  readonly seq: number;
  readonly model: string;
  readonly epoch: number;
  /** Estimated; so are all figures of a comparison, by one measure. */
  readonly tokens: number;
}

/** A change of the view between the two. */
export interface EpochStep {
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly trigger: CompactionTrigger;
  readonly compaction: CompactionId | null;
}

export interface ContextDiff extends ViewDiff {
  readonly from: DiffSide;
  readonly to: DiffSide;
  /** In order; the newest `MAX_LISTED`. */
  readonly epochs: readonly EpochStep[];
}
