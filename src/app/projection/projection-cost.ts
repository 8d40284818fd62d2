/**
 * What a page of the log costs in the read model, in statements, before it is written: a Worker's or an object's
 * invocation has 1,000 of them (Cloudflare's D1 limits, paid plan). `test/read-model` holds it against what is written.
 */
import type { EpochOp } from "../../domain/compaction-events";
import type { StoredEvent } from "../../domain/events";
import { assertNever } from "../../lib/assert-never";

/** What any batch has beside its events': the session's own row, and the look at where it stands. */
export const BATCH_COST = 2;

/** At most so many: a row for each item and one more for each call, of a change of epoch some for each overlay, else one. */
export function d1CostOf(event: StoredEvent): number {
  switch (event.type) {
    case "MessagesAppended":
      return event.items.reduce((sum, { tool }) => sum + (tool ? 2 : 1), 0);
    case "ToolCalled":
      return 2;
    case "ToolResultRecorded":
      return 2 + (event.ran?.artifacts.length ?? 0);
    case "MessageRedacted":
      // Its own rows, and those of a rebuild that was cut off: one statement a table.
      return 6 + 7;
    case "HistoryRewound":
    case "BranchSwitched":
      return 3;
    case "SessionForked":
      return 1 + 2 * (event.view?.overlays.length ?? 0);
    case "EpochChanged":
      return event.ops.reduce((sum, op) => sum + costOfOp(op), 2);
    case "SessionOpened":
    case "SettingsChanged":
    case "PinsSet":
    case "ForkCompleted":
    case "SessionErased":
    case "MessageQueued":
    case "QueuedMessageCancelled":
    case "TurnStarted":
    case "AssistantReplied":
    case "ModelCallFinished":
    case "ToolStarted":
    case "ApprovalRequested":
    case "ApprovalResolved":
    case "TurnCompleted":
    case "TurnFailed":
    case "TurnStopped":
    case "TurnInterrupted":
    case "CompactionRequested":
    case "CompactionStarted":
    case "CompactionProgressed":
    case "CompactionFailed":
    case "CompactionDrafted":
    case "DraftEdited":
      return 1;
    default:
      return assertNever(event);
  }
}

/** An overlay is inserted, and those that it replaces are hidden. */
const costOfOp = (op: EpochOp): number => (op.op === "reset" ? 1 + 2 * op.overlays.length : op.op === "revert" ? 3 : 2);

export const d1CostOfBatch = (events: readonly StoredEvent[]): number =>
  events.reduce((sum, event) => sum + d1CostOf(event), events.length > 0 ? BATCH_COST : 0);
