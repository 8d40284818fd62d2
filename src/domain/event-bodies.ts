/**
 * The bodies that an event introduces: its content, which is stored beside the log (docs/events.md). Code that
 * passes events on must pass these bodies with them, because the content is nowhere else.
 */
import { assertNever } from "../lib/assert-never";
import type { Event, SessionSettings } from "./events";
import type { BodyId } from "./ids";

/** In the order in which the event names them. A new event type is a compile error here. */
export function listEventBodies(event: Event): BodyId[] {
  switch (event.type) {
    case "SessionOpened":
      return settingsBodies(event.settings);
    case "SettingsChanged":
      return settingsBodies(event.changes);
    case "MessagesAppended":
      return event.items.map((item) => item.id);
    case "TurnStarted":
      return event.item ? [event.item.id] : [];
    case "AssistantReplied":
    case "ToolCalled":
      return [event.item.id];
    case "ToolResultRecorded":
      return [event.item.id, ...(event.ran?.artifacts ?? []).map((artifact) => artifact.body)];
    case "EpochChanged":
      return event.ops.flatMap((op) => (op.op === "summarize" ? [op.overlay] : []));
    case "ModelCallFinished":
      return event.end_user === undefined ? [] : [event.end_user];
    case "PinsSet":
      return event.pins.map((pin) => pin.body);
    case "SessionForked":
      return (event.view?.overlays ?? []).flatMap((overlay) => (overlay.kind === "summary" ? [overlay.id] : []));
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
    case "HistoryRewound":
    case "BranchSwitched":
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
    // A draft's text enters the conversation only with its commit, under the overlay's id.
    case "CompactionDrafted":
    case "DraftEdited":
      return [];
    default:
      return assertNever(event);
  }
}

/** The texts that the read model shows, and the system prompt. */
const settingsBodies = ({ title, system, metadata, external_id, end_user }: Partial<SessionSettings>): BodyId[] =>
  refs([title, system, metadata, external_id, end_user]);

const refs = (texts: readonly ({ readonly body: BodyId } | null | undefined)[]): BodyId[] =>
  texts.flatMap((text) => (text ? [text.body] : []));
