/** Shared by the parts of `decide`: the shape of a decision, and the events with which messages enter and turns end. */
import type { Result } from "../lib/result";
import type { CommandOf, CommandType, CutShort, ModelCall } from "./commands";
import type { CompactionLease, RequestedCompaction } from "./compaction-work";
import type { Event, QueuedMessage } from "./events";
import type { CompactionId } from "./ids";
import type { ItemMeta, NewItem } from "./message";
import { itemsOfMessage } from "./open-calls";
import type { OpenDraft } from "./open-draft";
import type { Rejection } from "./rejection";
import type { SessionState } from "./state";
import { lostResults } from "./tool-result";
import { toTurnChoices } from "./turn-choices";

export type Decision = Result<readonly Event[], Rejection>;

/** One function for each command type. */
export type Deciders<T extends CommandType> = {
  readonly [Type in T]: (command: CommandOf<Type>, state: SessionState) => Decision;
};

export const place = (draft: NewItem, position: number): ItemMeta => ({ ...draft, position });

/**
 * The event for the model call that a turn was in, if one was under way. So the ledger has each call once, whichever
 * command ends the turn.
 */
export function spentCall({ turn }: SessionState, call: ModelCall | null): Event[] {
  return turn?.phase === "generating" && call?.turn === turn.id ? [{ type: "ModelCallFinished", ...call }] : [];
}

/**
 * The events that end a turn: first the unfinished model call and its partial reply, or the results of the tools that
 * were running, then `end`.
 */
export function endCutShort(state: SessionState, { partial, call, lost = [] }: CutShort, end: Event): Event[] {
  const { turn } = state;
  if (turn?.phase === "running_tools") return [...lostResults(state, lost, turn.incarnation), end];
  if (turn?.phase !== "generating") return [end];
  const said: Event[] = partial
    ? [{ type: "AssistantReplied", turn: turn.id, item: { ...place(partial, state.next_position), incomplete: true } }]
    : [];
  return [...spentCall(state, call), ...said, end];
}

/** The events with which one message enters the conversation: its items take consecutive positions from `at.position`. */
export function enterConversation(message: QueuedMessage, at: { position: number; incarnation: string }): Event[] {
  const item = place(message.item, at.position);
  if (message.turn === null) {
    const items = itemsOfMessage(message).map((draft, index) => place(draft, at.position + index));
    return [{ type: "MessagesAppended", items, dequeued: [item.id] }];
  }
  const { turn, tools } = message;
  const choices = toTurnChoices(message);
  return [{ type: "TurnStarted", turn, incarnation: at.incarnation, attempt: 1, item, tools, retry_of: null, ...choices }];
}

/**
 * The events that end a compaction and a draft whose epoch is about to end. `by`: the compaction that moves the epoch,
 * which stays valid.
 */
export function voidCompaction({ compaction: { requested, lease, draft } }: SessionState, by: CompactionId | null = null): Event[] {
  return [
    ...(requested && requested.id !== by ? [endRequested(requested, lease, "superseded")] : []),
    ...(draft && draft.id !== by ? [endDraft(draft, "superseded")] : []),
  ];
}

type Unwanted = "superseded" | "discarded";

export const endRequested = (requested: RequestedCompaction, lease: CompactionLease | null, failure: Unwanted): Event => ({
  type: "CompactionFailed",
  compaction: requested.id,
  token: lease?.token ?? null,
  attempt: requested.attempts,
  failure,
  final: true,
});

export const endDraft = (draft: OpenDraft, failure: Unwanted): Event => ({
  type: "CompactionFailed",
  compaction: draft.id,
  token: draft.tokens.last,
  attempt: draft.attempts,
  failure,
  final: true,
});

/**
 * Why the branch cannot change now; null when it can. A turn that waits for tools is not busy: leaving the branch
 * supersedes it, as a new message does.
 */
export function busyWith({ turn, queue }: SessionState): Rejection | null {
  if (turn && turn.phase !== "awaiting_tools") return { code: "turn_running", turn: turn.id };
  return queue.length > 0 ? { code: "turn_running", turn: turn?.id ?? "" } : null;
}
