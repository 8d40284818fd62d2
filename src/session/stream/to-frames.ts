/** Maps an event to the frames that clients receive. Pure but for the content of items, which the caller reads. */

import { messagesIn } from "../../context/cut";
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
import { COMPACTING_STATUS, type ContextNumbers, type Frame, TRIMMED_NOTICE, type TurnFigures } from "./frames";

interface FrameSource {
  readonly before: SessionState;
  readonly after: SessionState;
  display(item: ItemMeta): DisplayItem;
  /** The usage and cost of all model calls of the turn. */
  spent(turn: TurnId): { readonly usage: CallUsage | null; readonly cost: number | null };
  /** How full the window is now. */
  context(): ContextNumbers;
}

export function toFrames(event: StoredEvent, source: FrameSource): Frame[] {
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
      return [{ type: "item.completed", turn_id: event.turn, item: source.display(event.item) }];
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
      return [{ type: "turn.failed", turn_id: event.turn, failure: event.failure, ...figures(event.turn, source) }];
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

/** Frames of a call. The last call of a response also reports that the turn waits, unless a server tool runs. */
function calledFrames(event: Extract<StoredEvent, { type: "ToolCalled" }>, source: FrameSource): Frame[] {
  const completed: Frame = { type: "item.completed", turn_id: event.turn, item: source.display(event.item) };
  const { turn } = source.after;
  const isLast = turn?.open_calls.at(-1)?.execution === event.item.tool?.execution;
  return isLast && turn?.phase === "awaiting_tools" ? [completed, awaiting(event.turn, source)] : [completed];
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
function callViews({ after, display }: FrameSource, isWanted: (call: OpenCall) => boolean): ToolCallView[] {
  const open = (after.turn?.open_calls ?? []).filter(isWanted);
  return toCallViews(open, { items: after.view.items, display });
}

/**
 * Frames of a result. The last result of a request also reports what comes next: the turn resumes or waits. While other
 * calls run it reports nothing.
 */
function resultFrames(event: Extract<StoredEvent, { type: "ToolResultRecorded" }>, source: FrameSource): Frame[] {
  const completed: Frame = { type: "item.completed", turn_id: event.turn, item: source.display(event.item) };
  const { turn, next_position } = source.after;
  if (!turn || next_position !== event.item.position + 1) return [completed];
  if (turn.phase === "generating") return [completed, { type: "turn.resumed", turn_id: event.turn }];
  return turn.phase === "awaiting_tools" ? [completed, awaiting(event.turn, source)] : [completed];
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
