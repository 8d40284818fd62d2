/**
 * What a session tells its tenant's webhooks of one transaction. Ids and figures alone, never content. Pure and exhaustive: a new event does
 * not compile until it is said here whether it is announced.
 */
import { isSummarized, isTrim } from "../domain/compaction-events";
import type { StoredEvent } from "../domain/events";
import type { TurnId } from "../domain/ids";
import type { CallUsage } from "../domain/model-call";
import type { SessionState } from "../domain/state";
import type { SessionAnnouncement } from "../domain/webhook-events";
import { assertNever } from "../lib/assert-never";

type Figure = string | number | boolean | null | readonly string[] | CallUsage;

/** What a turn's model calls used together, and what they cost in US dollars. Null: it is not known. */
interface Spent {
  readonly usage: CallUsage | null;
  readonly cost: number | null;
}

/** What the events' turns have spent, the events included. */
type FindSpent = (turn: TurnId) => Spent;

/** `seq`: of the event that it follows from. A session has each pair of seq and type once. */
export interface Announcement {
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly type: SessionAnnouncement;
  /** `id`: of what it is about. */
  readonly data: { readonly id: string; readonly [name: string]: Figure };
}

interface States {
  readonly before: SessionState;
  readonly after: SessionState;
}

/** A session that serves one request of a stateless API announces nothing: no list has it. */
export function toAnnouncements(events: readonly StoredEvent[], states: States, findSpent: FindSpent): readonly Announcement[] {
  const { session, settings } = states.after;
  if (settings.throwaway || session === null) return [];
  const said = events.flatMap((event) => announce(event, { events, session, findSpent }));
  return [...said, ...announceWait(events, states)];
}

interface Context {
  /** The events of the transaction. */
  readonly events: readonly StoredEvent[];
  readonly session: string;
  readonly findSpent: FindSpent;
}

function announce(event: StoredEvent, context: Context): readonly Announcement[] {
  const say = (type: SessionAnnouncement, data: Announcement["data"]): readonly Announcement[] => [
    { seq: event.seq, at: event.at, type, data },
  ];
  const sayEnd = (type: SessionAnnouncement, turn: TurnId, figures: Readonly<Record<string, Figure>> = {}): readonly Announcement[] =>
    say(type, { id: turn, ...figures, ...context.findSpent(turn) });
  switch (event.type) {
    case "SessionOpened":
      // A copy is announced when it is whole.
      return context.events.some(({ type }) => type === "SessionForked") ? [] : say("session.created", { id: event.session });
    case "ForkCompleted":
      return say("session.created", { id: context.session });
    case "TurnCompleted":
      return sayEnd("turn.completed", event.turn, { finish: event.finish });
    case "TurnFailed":
      return sayEnd("turn.failed", event.turn, { failure: event.failure.kind, status: event.failure.status });
    case "TurnStopped":
      return sayEnd("turn.stopped", event.turn, { reason: event.reason });
    case "TurnInterrupted":
      return sayEnd("turn.interrupted", event.turn);
    case "ApprovalRequested":
      return isFirstAsked(event, context.events)
        ? say("turn.awaiting_approval", { id: event.turn, execution_ids: listAsked(event.turn, context.events) })
        : [];
    case "CompactionDrafted":
      return say("compaction.drafted", { id: event.compaction });
    case "CompactionFailed":
      return event.final ? say("compaction.failed", { id: event.compaction, failure: event.failure }) : [];
    case "EpochChanged": {
      const { compaction, epoch, trigger } = event;
      const completed = isSummarized(event) && compaction ? say("compaction.completed", { id: compaction, epoch, trigger }) : [];
      const trimmed = isTrim(event) ? say("history.trimmed", { id: compaction ?? context.session, epoch, trigger }) : [];
      return [...completed, ...trimmed];
    }
    case "ScheduleRan":
      return event.skipped ? say("schedule.skipped", { id: event.name, due_at: event.due_at, reason: event.skipped }) : [];
    case "ScheduleSet":
    case "ScheduleRemoved":
    case "SettingsChanged":
    case "PinsSet":
    case "SessionForked":
    case "SessionArchived":
    case "SessionUnarchived":
    // The tenant's object announces it, when every store has reported.
    case "SessionErased":
    case "MessagesAppended":
    case "MessageQueued":
    case "QueuedMessageCancelled":
    case "MessageRedacted":
    case "HistoryRewound":
    case "BranchSwitched":
    case "TurnStarted":
    case "ModelCallFinished":
    case "AssistantReplied":
    case "ToolCalled":
    case "ToolStarted":
    case "ToolResultRecorded":
    case "ApprovalResolved":
    case "CompactionRequested":
    case "CompactionProgressed":
    case "CompactionStarted":
    case "DraftEdited":
      return [];
    default:
      return assertNever(event);
  }
}

type Asked = Extract<StoredEvent, { readonly type: "ApprovalRequested" }>;

const listRequests = (turn: string, events: readonly StoredEvent[]): readonly Asked[] =>
  events.filter((event): event is Asked => event.type === "ApprovalRequested" && event.turn === turn);
const listAsked = (turn: string, events: readonly StoredEvent[]): readonly string[] =>
  listRequests(turn, events).map(({ execution }) => execution);
/** One announcement names all that was asked for together. */
const isFirstAsked = (event: Asked, events: readonly StoredEvent[]): boolean => listRequests(event.turn, events)[0]?.seq === event.seq;

/** The turn waits for results of the client from here on. A part of the results does not announce the wait again. */
function announceWait(events: readonly StoredEvent[], { before, after }: States): readonly Announcement[] {
  const { turn } = after;
  const last = events.at(-1);
  if (turn?.phase !== "awaiting_tools" || !last) return [];
  const calledAnew = events.some((event) => event.type === "ToolCalled" && event.turn === turn.id);
  if (before.turn?.id === turn.id && before.turn.phase === "awaiting_tools" && !calledAnew) return [];
  const owed = turn.open_calls.filter(({ approval, server }) => approval !== "pending" && !server).map(({ execution }) => execution);
  return owed.length === 0 ? [] : [{ seq: last.seq, at: last.at, type: "turn.awaiting_tools", data: { id: turn.id, execution_ids: owed } }];
}
