/** What the parts of `decide` share: the shape of a decision, and the events by which messages enter and turns end. */
import type { Result } from "../lib/result";
import type { CutShort, ModelCall } from "./commands";
import type { Event, QueuedMessage } from "./events";
import type { CompactionId } from "./ids";
import type { ItemDraft, ItemMeta } from "./message";
import { itemsOfMessage } from "./open-calls";
import type { Rejection } from "./rejection";
import type { SessionState } from "./state";
import { lostResults } from "./tool-result";

export type Decision = Result<readonly Event[], Rejection>;

export const place = (draft: ItemDraft, position: number): ItemMeta => ({ ...draft, position });

/** The model call that a turn was cut short in, if one was under way: whoever ends a turn, the ledger has each call once. */
export function spentCall({ turn }: SessionState, call: ModelCall | null): Event[] {
  return turn?.phase === "generating" && call?.turn === turn.id ? [{ type: "ModelCallFinished", ...call }] : [];
}

/** The end of a turn, after the call that it was in the middle of and what that had said so far, or after the tools that were running. */
export function endCutShort(state: SessionState, { partial, call, lost = [] }: CutShort, end: Event): Event[] {
  const { turn } = state;
  if (turn?.phase === "running_tools") return [...lostResults(state, lost, turn.incarnation), end];
  if (turn?.phase !== "generating") return [end];
  const said: Event[] = partial
    ? [{ type: "AssistantReplied", turn: turn.id, item: { ...place(partial, state.next_position), incomplete: true } }]
    : [];
  return [...spentCall(state, call), ...said, end];
}

/** The events by which one message joins the conversation at `position`, its items one after the other. */
export function enterConversation(message: QueuedMessage, at: { position: number; incarnation: string }): Event[] {
  const item = place(message.item, at.position);
  if (message.turn === null) {
    const items = itemsOfMessage(message).map((draft, index) => place(draft, at.position + index));
    return [{ type: "MessagesAppended", items, dequeued: [item.id] }];
  }
  return [{ type: "TurnStarted", turn: message.turn, incarnation: at.incarnation, attempt: 1, item, tools: message.tools, retry_of: null }];
}

/** The end of a compaction whose epoch ends under it. */
export function voidCompaction({ compaction }: SessionState, by: CompactionId | null = null): Event[] {
  const { requested, lease } = compaction;
  // What was asked for is what is done.
  if (!requested || requested.id === by) return [];
  const token = lease?.token ?? null;
  return [{ type: "CompactionFailed", compaction: requested.id, token, attempt: requested.attempts, failure: "superseded", final: true }];
}
