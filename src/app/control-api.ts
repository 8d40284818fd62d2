/**
 * What a person may do to the model's view of a session: compact, revert, reset the summary, pin. Part of what a session's object answers.
 */

import type { PolicyChoice } from "../context/policy-choice";
import type { CompactionView } from "../contract/compaction";
import type { PinsView } from "../contract/pin";
import type { ShownPlan } from "../contract/plan";
import type { CompactionId, ItemId, KeyId } from "../domain/ids";
import type { BranchApi } from "./branch-api";
import type { Condition } from "./conditions";
import type { DraftApi } from "./draft-api";
import type { NamedApi } from "./named-api";
import type { OwnerApi } from "./owner-api";
import type { PastApi } from "./past-api";
import type { RespondApi } from "./respond-api";
import type { RetentionApi } from "./retention-api";
import type { ScheduleApi } from "./schedule-api";
import type { Caller, Idempotency, Once, Outcome, SessionApi } from "./session-api";
import type { TransferApi } from "./transfer-api";

/** A compaction that a person asks for. */
export interface CompactInput {
  readonly dryRun: boolean;
  /** What the summary should pay attention to. */
  readonly instructions: string | null;
  /** Tokens to keep verbatim. Null: the policy decides. */
  readonly keepRecent: number | null;
  /** The last position that may be compacted. Null: no limit. */
  readonly upTo: number | null;
  /** The compaction waits for a person's commit. Absent: it does not. */
  readonly draft?: boolean;
  /** Writes the current summaries anew from the record, and removes nothing else from the view. Absent: an ordinary compaction. */
  readonly rebuild?: boolean;
  /** The model that writes the summary. Absent: the policy decides. */
  readonly model?: string;
  /** Merged over the session's policy, for this compaction only. Only its rules for summaries apply. */
  readonly policy?: PolicyChoice;
  /** The caller's key, which the session's object adds. The compaction's model calls are counted for it. */
  readonly key?: KeyId;
}

/** `plan`: a dry run, or there was nothing to do; nothing was stored. `done`: no model was needed. `requested`: a worker will do it. */
export type CompactOutcome =
  | { readonly kind: "plan"; readonly plan: ShownPlan }
  | { readonly kind: "done" | "requested"; readonly compaction: CompactionView };

/** A text, or the message that it is to be copied from. `text` is ignored beside a message. */
export type PinInput =
  | string
  | {
      readonly text?: string | undefined;
      readonly message_id?: ItemId | null | undefined;
      readonly position?: number | null | undefined;
    };

/** `etag`: of the pins alone. */
export type PinsState = PinsView & { readonly etag: string };

export interface ControlApi {
  compact(caller: Caller, input: CompactInput & { readonly idempotency: Idempotency | null }): Promise<Outcome<Once<CompactOutcome>>>;
  /** Reverts the newest compaction in force, and returns that compaction. */
  revertCompaction(
    caller: Caller,
    input: { readonly compaction: CompactionId; readonly idempotency: Idempotency | null },
  ): Promise<Outcome<Once<{ readonly compaction: CompactionView }>>>;
  /** Removes the summaries from the view. Null when there is no summary. */
  resetSummary(caller: Caller): Promise<Outcome<CompactionView | null>>;
  pins(caller: Caller): Promise<Outcome<PinsState>>;
  /** Replaces the pins. A message is copied as it is now. */
  setPins(caller: Caller, pins: readonly PinInput[], condition?: Condition): Promise<Outcome<PinsState>>;
}

/** All methods of a session's object. */
export type WholeSessionApi = SessionApi &
  ScheduleApi &
  NamedApi &
  RespondApi &
  ControlApi &
  DraftApi &
  BranchApi &
  PastApi &
  RetentionApi &
  TransferApi &
  OwnerApi;
