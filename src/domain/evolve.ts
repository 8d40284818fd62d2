/** `evolve(state, event) → state`: pure, and defined for every known event. Unknown events are rejected before (`event-versions`). */
import { appendItems, appendRecordOnly } from "./append-items";
import { closedBreaker } from "./breaker";
import type { EventOf, EventType, MessageEvent, SessionEvent, SessionSettings, StoredEvent } from "./events";
import { applyFork, applyForkCompletion, applyRedaction, applyRewind, applySwitch, newEpoch } from "./evolve-branch";
import { compactionEvolvers } from "./evolve-compaction";
import { draftEvolvers } from "./evolve-draft";
import { turnEvolvers } from "./evolve-turn";
import type { Evolvers } from "./evolver";
import { countInterruptions, openAfter } from "./open-calls";
import { scheduleEvolvers } from "./schedules";
import { initialState, type SessionState } from "./state";

export function evolve(state: SessionState, event: StoredEvent): SessionState {
  const next = dispatch(state, event.type, event);
  return { ...next, seq: event.seq, updated_at: isUse(event) ? event.at : state.updated_at };
}

/** A session that retention takes content from is not used thereby, and neither is one that is put away. To bring it back is a use. */
export const isUse = (event: StoredEvent): boolean =>
  !(
    event.type === "SessionArchived" ||
    (event.type === "MessageRedacted" && event.cause === "retention") ||
    (event.type === "ScheduleRan" && event.turn === null)
  );

export const fold = (events: Iterable<StoredEvent>, from: SessionState = initialState): SessionState => {
  let state = from;
  for (const event of events) state = evolve(state, event);
  return state;
};

const sessionEvolvers: Evolvers<SessionEvent["type"]> = {
  SessionOpened: (state, { tenant_id: tenant, session, settings, at }) => ({
    ...state,
    lifecycle: "open",
    tenant,
    session,
    settings,
    opened_at: at,
  }),
  SettingsChanged: (state, { changes }) => changeSettings(state, changes),
  PinsSet: (state, { pins }) => newHead({ ...state, pins }),
  SessionForked: applyFork,
  ForkCompleted: applyForkCompletion,
  SessionArchived: (state, { at }) => ({ ...state, archived_at: at }),
  SessionUnarchived: (state) => ({ ...state, archived_at: null }),
  SessionErased: ({ tenant, session, settings: { throwaway } }) => ({
    ...initialState,
    lifecycle: "erased",
    tenant,
    session,
    // An erasure ends otherwise for a throwaway session, also after a crash.
    ...(throwaway && { settings: { ...initialState.settings, throwaway } }),
  }),
};

const messageEvolvers: Evolvers<MessageEvent["type"]> = {
  MessagesAppended: appendMessages,
  MessageQueued: (state, event) => ({ ...state, queue: state.queue.toSpliced(placeInQueue(event, state.queue), 0, event.message) }),
  QueuedMessageCancelled: (state, { message }) => ({ ...state, queue: state.queue.filter((entry) => entry.item.id !== message) }),
  MessageRedacted: applyRedaction,
  HistoryRewound: applyRewind,
  BranchSwitched: applySwitch,
};

function placeInQueue({ message, front }: EventOf<"MessageQueued">, queue: SessionState["queue"]): number {
  if (!front) return queue.length;
  return message.interrupts ? countInterruptions(queue) : 0;
}

const evolvers: Evolvers<EventType> = {
  ...sessionEvolvers,
  ...messageEvolvers,
  ...turnEvolvers,
  ...compactionEvolvers,
  ...draftEvolvers,
  ...scheduleEvolvers,
};

/** The generic ties the event's type to its function, so that the compiler checks the pair. */
const dispatch = <T extends EventType>(state: SessionState, type: T, event: EventOf<T>): SessionState => evolvers[type](state, event);

/** Whether the change makes the next request one that the provider has not counted. */
export const changesRequest = (changes: { readonly [K in "model" | "system" | "tools" | "policy"]?: unknown }): boolean =>
  changes.model !== undefined || changes.system !== undefined || changes.tools !== undefined || changes.policy !== undefined;

/** Whether the change gives the next request another beginning: of the generation settings, one of the schema of the reply. */
export const changesHead = ({ settings }: Pick<SessionState, "settings">, changes: Partial<SessionSettings>): boolean =>
  changesRequest(changes) || (changes.generation !== undefined && (changes.generation?.tokens ?? 0) !== (settings.generation?.tokens ?? 0));

/** Whether the change may let summaries succeed that failed before. */
const changesSummaries = ({ model, policy, summary_instructions, policy_instructions }: Partial<SessionSettings>): boolean =>
  [model, policy, summary_instructions, policy_instructions].some((changed) => changed !== undefined);

function changeSettings(state: SessionState, changes: Partial<SessionSettings>): SessionState {
  const reopened = changesSummaries(changes) ? closedBreaker : {};
  const changed = { ...state, settings: { ...state.settings, ...changes }, compaction: { ...state.compaction, ...reopened } };
  return changesHead(state, changes) ? newHead(changed) : changed;
}

/** Starts a new epoch that changes only what stands before the view. The provider's count of the view itself stays valid. */
function newHead(state: SessionState): SessionState {
  const { anchor, view } = state;
  const next = newEpoch(state, view);
  return anchor?.holds_in === view.epoch ? { ...next, anchor: { ...anchor, holds_in: next.view.epoch } } : next;
}

function appendMessages(state: SessionState, { items, dequeued, aside }: EventOf<"MessagesAppended">): SessionState {
  const gone = new Set(dequeued);
  const queue = state.queue.filter((entry) => !gone.has(entry.item.id));
  const open = { ...state, queue, imported_calls: openAfter(state.imported_calls, items) };
  return aside ? appendRecordOnly(open, items) : appendItems(open, items);
}
