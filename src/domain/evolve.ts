/** `evolve(state, event) → state`: pure, total over every known event. An unknown event never gets here (`event-versions`). */
import { assertNever } from "../lib/assert-never";
import { appendAside, appendItems } from "./append-items";
import { closedBreaker } from "./breaker";
import type { CompactionEvent } from "./compaction-events";
import type { DraftEvent } from "./draft-events";
import type { Event, MessageEvent, SessionEvent, SessionSettings, StoredEvent, TurnEvent } from "./events";
import { beginFork, completeFork, newEpoch, redact, rewind, switchBranch } from "./evolve-branch";
import { evolveCompaction } from "./evolve-compaction";
import { evolveDraft } from "./evolve-draft";
import { evolveTurn } from "./evolve-turn";
import { openAfter } from "./open-calls";
import { initialState, type SessionState } from "./state";

const groupOf = {
  SessionOpened: "session",
  SettingsChanged: "session",
  PinsSet: "session",
  SessionForked: "session",
  ForkCompleted: "session",
  SessionErased: "session",
  MessagesAppended: "message",
  MessageQueued: "message",
  QueuedMessageCancelled: "message",
  MessageRedacted: "message",
  HistoryRewound: "message",
  BranchSwitched: "message",
  TurnStarted: "turn",
  ModelCallFinished: "turn",
  AssistantReplied: "turn",
  ToolCalled: "turn",
  ToolStarted: "turn",
  ToolResultRecorded: "turn",
  ApprovalRequested: "turn",
  ApprovalResolved: "turn",
  TurnCompleted: "turn",
  TurnFailed: "turn",
  TurnStopped: "turn",
  TurnInterrupted: "turn",
  CompactionRequested: "compaction",
  CompactionProgressed: "compaction",
  CompactionStarted: "compaction",
  CompactionFailed: "compaction",
  EpochChanged: "compaction",
  CompactionDrafted: "draft",
  DraftEdited: "draft",
} as const satisfies Record<Event["type"], "session" | "message" | "turn" | "compaction" | "draft">;

export function evolve(state: SessionState, event: StoredEvent): SessionState {
  const next = apply(state, event);
  return { ...next, seq: event.seq, updated_at: event.at };
}

export const fold = (events: Iterable<StoredEvent>, from: SessionState = initialState): SessionState => {
  let state = from;
  for (const event of events) state = evolve(state, event);
  return state;
};

function apply(state: SessionState, event: StoredEvent): SessionState {
  const group = groupOf[event.type];
  switch (group) {
    case "session":
      return evolveSession(state, event as StoredEvent & SessionEvent);
    case "message":
      return evolveMessages(state, event as StoredEvent & MessageEvent);
    case "turn":
      return evolveTurn(state, event as StoredEvent & TurnEvent);
    case "compaction":
      return evolveCompaction(state, event as StoredEvent & CompactionEvent);
    case "draft":
      return evolveDraft(state, event as StoredEvent & DraftEvent);
    default:
      return assertNever(group);
  }
}

function evolveSession(state: SessionState, event: StoredEvent & SessionEvent): SessionState {
  switch (event.type) {
    case "SessionOpened":
      return {
        ...state,
        lifecycle: "open",
        tenant: event.tenant,
        session: event.session,
        settings: event.settings,
        opened_at: event.at,
      };
    case "SettingsChanged":
      return changeSettings(state, event.changes);
    case "PinsSet":
      return newHead({ ...state, pins: event.pins });
    case "SessionForked":
      return beginFork(state, event);
    case "ForkCompleted":
      return completeFork(state);
    case "SessionErased":
      return { ...initialState, lifecycle: "erased", tenant: state.tenant, session: state.session };
    default:
      return assertNever(event);
  }
}

/** Whether the next request is another one for it than the provider has counted. */
export const changesRequest = (changes: { readonly [K in "model" | "system" | "tools" | "policy"]?: unknown }): boolean =>
  changes.model !== undefined || changes.system !== undefined || changes.tools !== undefined || changes.policy !== undefined;

function changeSettings(state: SessionState, changes: Partial<SessionSettings>): SessionState {
  const settings = { ...state.settings, ...changes };
  if (!changesRequest(changes)) return { ...state, settings };
  const reopened = changes.model !== undefined || changes.policy !== undefined ? closedBreaker : {};
  return newHead({ ...state, settings, compaction: { ...state.compaction, ...reopened } });
}

/** Another epoch whose view shows the same: what the provider has counted of that still holds, whatever stands in front of it. */
function newHead(state: SessionState): SessionState {
  const { anchor, view } = state;
  const next = newEpoch(state, view);
  return anchor?.holds_in === view.epoch ? { ...next, anchor: { ...anchor, holds_in: next.view.epoch } } : next;
}

function evolveMessages(state: SessionState, event: StoredEvent & MessageEvent): SessionState {
  switch (event.type) {
    case "MessagesAppended": {
      const gone = new Set(event.dequeued);
      const queue = state.queue.filter((entry) => !gone.has(entry.item.id));
      const open = { ...state, queue, imported_calls: openAfter(state.imported_calls, event.items) };
      return event.aside ? appendAside(open, event.items) : appendItems(open, event.items);
    }
    case "MessageQueued":
      return { ...state, queue: event.front ? [event.message, ...state.queue] : [...state.queue, event.message] };
    case "QueuedMessageCancelled":
      return { ...state, queue: state.queue.filter((entry) => entry.item.id !== event.message) };
    case "MessageRedacted":
      return redact(state, event);
    case "HistoryRewound":
      return rewind(state, event);
    case "BranchSwitched":
      return switchBranch(state, event);
    default:
      return assertNever(event);
  }
}
