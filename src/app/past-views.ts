/** What clients see of past requests, and of how two requests differ: plain data. */
import type { PolicyChoice } from "../context/policy-choice";
import type { ViewDiff } from "../context/view-diff";
import type { TokenFigure } from "../contract/tokens";
import type { CompactionTrigger } from "../domain/compaction-events";
import type { CallOutcome } from "../domain/events";
import type { CompactionId, TurnId } from "../domain/ids";
import type { ContextPart } from "./session-views";

/**
 * Names a request of the session. `turn` null: the next request. `call` counts a turn's calls from 1; null: the last one that has a
 * request.
 */
export interface RequestRef {
  readonly turn: TurnId | null;
  readonly call: number | null;
}

/** One model call that a turn made. */
export interface TurnCall {
  readonly n: number;
  /** The seq of the event that recorded it. */
  readonly seq: number;
  readonly purpose: "turn";
  readonly model: string;
  readonly epoch: number;
  readonly outcome: CallOutcome;
  /** SHA-256 of the body that was sent, hexadecimal. Null when no body was sent, or the digest was not known yet when the call ended. */
  readonly digest: string | null;
}

export interface DigestCheck {
  readonly recorded: string | null;
  readonly rebuilt: string;
  /** Null when no digest was recorded. */
  readonly matches: boolean | null;
  /**
   * Why the digests differ. `redacted`: content of the request was redacted since; `not_recorded`: an older build did not record the
   * model's settings; null: they match, or this build builds the request differently.
   */
  readonly reason: "redacted" | "not_recorded" | null;
}

/** The limit of a request, and the weights of its parts. */
export interface ContextWeights {
  readonly context_window: number | null;
  /** The window that the policy assumes for an unknown one. Null when the window is known, or the policy assumes none. */
  readonly assumed_window: number | null;
  readonly limit: number | null;
  readonly reserve: number | null;
  readonly total: TokenFigure;
  readonly parts: readonly ContextPart[];
}

/** A past request, rebuilt from the log. */
export interface PastContext extends ContextWeights {
  readonly turn_id: TurnId;
  /** Which of `calls` this is, from 1. */
  readonly call: number;
  readonly calls: readonly TurnCall[];
  readonly model: string;
  /** The policy at that time. */
  readonly policy: PolicyChoice;
  readonly epoch: number;
  /** The last event that the request was built on. */
  readonly seq: number;
  /** Epoch milliseconds. Null when it is not known. */
  readonly sent_at: number | null;
  readonly request: { readonly url: string | null; readonly body: string };
  readonly digest: DigestCheck;
}

/** One of the two compared requests. `turn_id` null: the next request. */
export interface DiffSide {
  readonly turn_id: TurnId | null;
  readonly call: number | null;
  readonly seq: number;
  readonly model: string;
  readonly epoch: number;
  /** Estimated. All figures of a comparison are, by one measure. */
  readonly tokens: number;
}

/** A change of the view between the two requests. */
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
  /** In order. At most `MAX_LISTED`, the newest. */
  readonly epochs: readonly EpochStep[];
}
