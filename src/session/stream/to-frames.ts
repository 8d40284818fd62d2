/** Maps committed events to the frames that clients receive. Pure but for the content of items, which the caller reads. */

import { COMPACTING_STATUS } from "../../app/compaction/compacting-status";
import { describeFailure } from "../../app/turn/describe-failure";
import { messagesIn } from "../../context/cut";
import type { ViewEntry } from "../../context/view";
import type { ContextNumbers, Frame, TurnFigures } from "../../contract/frame";
import type { DisplayItem } from "../../contract/item";
import type { ToolCallView } from "../../contract/tool";
import { rangesWithin } from "../../domain/branch";
import { isSummarized, isTrim } from "../../domain/compaction-events";
import type { StoredEvent } from "../../domain/events";
import type { ItemId, TurnId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import { type CallUsage, usageSource } from "../../domain/model-call";
import type { OpenCall, SessionState } from "../../domain/state";
import { assertNever } from "../../lib/assert-never";
import { toCallViews } from "../content";
import { groupMessages } from "../display";
import { TRIMMED_NOTICE } from "./frames";

interface FrameSource {
  readonly before: SessionState;
  readonly after: SessionState;
  display(items: readonly ItemMeta[]): readonly DisplayItem[];
  readShown(items: readonly ItemMeta[]): readonly ViewEntry[];
  /** The usage and cost of all model calls of the turn. */
  spent(turn: TurnId): { readonly usage: CallUsage | null; readonly cost: number | null };
  /** How full the window is now. */
  context(): ContextNumbers;
}

/** The frames of one commit. A reply and its calls are committed together, and one frame shows them as one message. */
export function toFrames(events: readonly StoredEvent[], source: FrameSource): Frame[] {
  const said = events.flatMap((event) => (event.type === "AssistantReplied" || event.type === "ToolCalled" ? [event.item] : []));
  const replies = new Map(groupMessages(said, (item) => item).map((items) => [items[0].id, items]));
  return events.flatMap((event) => eventFrames(event, { ...source, replies }));
}

/** `replies`: the items of each reply of the commit, by the id of the first. */
type EventSource = FrameSource & { readonly replies: ReadonlyMap<ItemId, readonly ItemMeta[]> };

function eventFrames(event: StoredEvent, source: EventSource): Frame[] {
  switch (event.type) {
    case "MessageQueued":
      return [{ type: "message.accepted", message_id: event.message.item.id, turn_id: event.message.turn, position: null, queued: true }];
    case "MessagesAppended":
      return event.items.filter((item) => !item.continues && !waited(item.id, source)).map((item) => accepted(item));
    case "QueuedMessageCancelled":
      return [{ type: "message.cancelled", message_id: event.message, turn_id: event.turn }];
    case "TurnStarted":
      return startFrames(event, source);
    case "AssistantReplied":
      return completed(event, source);
    case "ToolCalled":
      return calledFrames(event, source);
    case "ToolResultRecorded":
      return resultFrames(event, source);
    case "ToolStarted":
      return [{ type: "tool.started", turn_id: event.turn, execution_id: event.execution }];
    case "ApprovalRequested":
      return approvalFrames(event, source);
    case "ApprovalResolved":
      return [{ type: "approval.resolved", turn_id: event.turn, execution_id: event.execution, approved: event.approved }];
    case "MessageRedacted":
      return [{ type: "message.redacted", message_id: event.item, position: event.position }];
    case "HistoryRewound":
    case "BranchSwitched":
      return [{ type: "branch.changed", branch: source.after.branch.number, last_position: lastOn(source.after) }];
    case "SessionErased":
      return [{ type: "session.erased" }];
    case "TurnCompleted":
      return [{ type: "turn.completed", turn_id: event.turn, finish: event.finish, ...figures(event.turn, source) }];
    case "TurnFailed":
      return [{ type: "turn.failed", turn_id: event.turn, failure: describeFailure(event.failure), ...figures(event.turn, source) }];
    case "TurnStopped":
      return [{ type: "turn.stopped", turn_id: event.turn, reason: event.reason, ...figures(event.turn, source) }];
    case "TurnInterrupted":
      return [{ type: "turn.interrupted", turn_id: event.turn, ...figures(event.turn, source) }];
    case "ModelCallFinished":
      return [usageFrame(event, source)];
    case "CompactionStarted":
      return event.attempt === 1 ? [{ type: "compaction.started", compaction_id: event.compaction, status: COMPACTING_STATUS }] : [];
    case "CompactionFailed":
      return event.final
        ? [{ type: "compaction.completed", compaction_id: event.compaction, did_compact: false, failure: event.failure, ...counts(source) }]
        : [];
    case "EpochChanged":
      return epochFrames(event, source);
    case "CompactionDrafted":
      return [{ type: "compaction.drafted", compaction_id: event.compaction }];
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
    case "CompactionRequested":
    case "CompactionProgressed":
    case "DraftEdited":
      return [];
    default:
      return assertNever(event);
  }
}

/** The last position of the current branch. */
const lastOn = ({ branch, next_position }: SessionState): number =>
  rangesWithin(branch.elsewhere, { from: 1, to: next_position - 1 }).at(-1)?.to ?? 0;

const figures = (turn: TurnId, { spent, context }: FrameSource): TurnFigures => ({ ...spent(turn), ...context() });

function usageFrame(event: Extract<StoredEvent, { type: "ModelCallFinished" }>, { context }: FrameSource): Frame {
  const { turn, purpose, model, usage, cost = null } = event;
  return { type: "usage.updated", turn_id: turn, source: usageSource(purpose), model, usage, cost, ...context() };
}

const waited = (id: ItemId, { before }: FrameSource): boolean => before.queue.some((entry) => entry.item.id === id);

const accepted = (item: ItemMeta): Frame => ({
  type: "message.accepted",
  message_id: item.id,
  turn_id: item.turn,
  position: item.position,
  queued: false,
});

function startFrames(event: Extract<StoredEvent, { type: "TurnStarted" }>, source: FrameSource): Frame[] {
  const { item, turn, attempt } = event;
  const started: Frame = { type: "turn.started", turn_id: turn, attempt, message_id: item?.id ?? null, position: item?.position ?? null };
  return item && !waited(item.id, source) ? [accepted(item), started] : [started];
}

/** The message that the event's item begins. Empty for a call that an earlier item of the same reply has shown. */
function completed({ turn, item }: Pick<Extract<StoredEvent, { type: "ToolCalled" }>, "turn" | "item">, source: EventSource): Frame[] {
  const items = item.kind === "tool_result" ? [item] : (source.replies.get(item.id) ?? []);
  return source.display(items).map((shown): Frame => ({ type: "item.completed", turn_id: turn, item: shown }));
}

/** Frames of a call. The last call of a response also reports that the turn waits, unless a server tool runs. */
function calledFrames(event: Extract<StoredEvent, { type: "ToolCalled" }>, source: EventSource): Frame[] {
  const { turn } = source.after;
  const isLast = turn?.open_calls.at(-1)?.execution === event.item.tool?.execution;
  const shown = completed(event, source);
  return isLast && turn?.phase === "awaiting_tools" ? [...shown, awaiting(event.turn, source)] : shown;
}

/** Frames of an approval request. If no other call runs, the turn waits from here on. */
function approvalFrames(event: Extract<StoredEvent, { type: "ApprovalRequested" }>, source: FrameSource): Frame[] {
  const isAsked = (call: OpenCall): boolean => call.execution === event.execution;
  const asked = callViews(source, isAsked).map((tool_call): Frame => ({ type: "approval.requested", turn_id: event.turn, tool_call }));
  const { before, after } = source;
  const nowWaits = before.turn?.phase === "running_tools" && after.turn?.phase === "awaiting_tools";
  return nowWaits ? [...asked, awaiting(event.turn, source)] : asked;
}

const awaiting = (turn: TurnId, source: FrameSource): Frame => ({
  type: "turn.awaiting_tools",
  turn_id: turn,
  tool_calls: callViews(source, () => true),
});

/** The open calls that match. */
function callViews({ after, readShown }: FrameSource, isWanted: (call: OpenCall) => boolean): ToolCallView[] {
  const open = (after.turn?.open_calls ?? []).filter(isWanted);
  return toCallViews(open, { items: after.view.items, readShown });
}

/**
 * Frames of a result. The last result of a request also reports what comes next: the turn resumes or waits. While other
 * calls run it reports nothing.
 */
function resultFrames(event: Extract<StoredEvent, { type: "ToolResultRecorded" }>, source: EventSource): Frame[] {
  const shown = completed(event, source);
  const { turn, next_position } = source.after;
  // The same commit may have ended the turn, and another one may be open.
  if (turn?.id !== event.turn || next_position !== event.item.position + 1) return shown;
  if (turn.phase === "generating") return [...shown, { type: "turn.resumed", turn_id: event.turn }];
  return turn.phase === "awaiting_tools" ? [...shown, awaiting(event.turn, source)] : shown;
}

/** The number of messages in the next request, before and after. */
const counts = ({ before, after }: FrameSource) => ({ messages_before: messagesIn(before), messages_after: messagesIn(after) });

function epochFrames(event: Extract<StoredEvent, { type: "EpochChanged" }>, source: FrameSource): Frame[] {
  const frames: Frame[] = [];
  if (isSummarized(event) && event.compaction)
    frames.push({ type: "compaction.completed", compaction_id: event.compaction, did_compact: true, failure: null, ...counts(source) });
  if (isTrim(event)) frames.push({ type: "notice", ...TRIMMED_NOTICE });
  return frames;
}
