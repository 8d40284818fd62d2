import { assertNever } from "../lib/assert-never";
import type { Event } from "./events";
import type { ItemMeta } from "./message";

/** The items that an event adds to the conversation. A new event type is a compile error here. */
export function listEventItems(event: Event): readonly ItemMeta[] {
  switch (event.type) {
    case "MessagesAppended":
      return event.items;
    case "TurnStarted":
      return event.item ? [event.item] : [];
    case "AssistantReplied":
    case "ToolCalled":
    case "ToolResultRecorded":
      return [event.item];
    case "SessionOpened":
    case "SettingsChanged":
    case "PinsSet":
    case "SessionForked":
    case "ForkCompleted":
    case "SessionArchived":
    case "ScheduleSet":
    case "ScheduleRan":
    case "ScheduleRemoved":
    case "SessionUnarchived":
    case "SessionErased":
    case "MessageQueued":
    case "QueuedMessageCancelled":
    case "MessageRedacted":
    // These two show items that were added by earlier events.
    case "HistoryRewound":
    case "BranchSwitched":
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
    case "EpochChanged":
    case "CompactionDrafted":
    case "DraftEdited":
      return [];
    default:
      return assertNever(event);
  }
}
