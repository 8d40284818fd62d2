/**
 * Counts the statements that a page of the log takes in the read model, before it is written. An invocation has 1,000 of them (Cloudflare's
 * D1 limits, paid plan). `test/read-model` compares the count with what is written.
 */
import type { EpochOp } from "../../domain/compaction-events";
import type { StoredEvent } from "../../domain/events";
import { assertNever } from "../../lib/assert-never";

/**
 * Statements of any batch beside its events': the session's own row, the query for the rows' current seq, and the index of sessions, whose
 * texts are written together, in parts.
 */
export const BATCH_COST = 8;

/** An upper bound: one row for each item and one more for each call, some for each overlay of an epoch change, otherwise one. */
export function countD1Rows(event: StoredEvent): number {
  switch (event.type) {
    case "MessagesAppended":
      return event.items.reduce((sum, { tool }) => sum + (tool ? 2 : 1), 0);
    case "ToolCalled":
      return 2;
    case "ToolResultRecorded":
      return 2 + (event.ran?.artifacts.length ?? 0);
    case "MessageRedacted":
      // Its own rows, and those of an interrupted rebuild: one statement per table.
      return 6 + 9;
    case "HistoryRewound":
    case "BranchSwitched":
      return 3;
    case "SessionForked":
      return 1 + 2 * (event.view?.overlays.length ?? 0);
    case "EpochChanged":
      return event.ops.reduce((sum, op) => sum + costOfOp(op), 2);
    case "SessionOpened":
    case "SettingsChanged":
      // The session's row, and its metadata.
      return 3;
    case "PinsSet":
    case "ForkCompleted":
    case "SessionArchived":
    case "ScheduleSet":
    case "ScheduleRan":
    case "ScheduleRemoved":
    case "SessionUnarchived":
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

/** Each overlay is inserted, and those that it replaces are hidden. */
const costOfOp = (op: EpochOp): number => (op.op === "reset" ? 1 + 2 * op.overlays.length : op.op === "revert" ? 3 : 2);

export const d1CostOfBatch = (events: readonly StoredEvent[]): number =>
  events.reduce((sum, event) => sum + countD1Rows(event), events.length > 0 ? BATCH_COST : 0);
