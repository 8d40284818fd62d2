/** Decides on incoming messages: a message is appended at once, starts a turn, or waits in the durable FIFO queue. */
import { err, ok } from "../lib/result";
import type { CommandOf, MessageCommand } from "./commands";
import { type Deciders, type Decision, endCutShort, enterConversation, place } from "./decision";
import type { Event, QueuedMessage } from "./events";
import type { ItemMeta, NewItem } from "./message";
import { refuseMessages } from "./message-limit";
import { findOpenCall, itemsOfMessage, openAfter, openAtEntry } from "./open-calls";
import type { OpenCall, SessionState } from "./state";

type Submit = CommandOf<"SubmitMessage">;

export const messageDeciders: Deciders<MessageCommand["type"]> = {
  SubmitMessage: decideSubmit,
  ImportMessages: decideImport,
  CancelQueued: decideCancel,
};

/** The most items of one event of an import, as of a page of a fork. A message is never divided, so a reply's calls may exceed it. */
const ITEMS_PER_EVENT = 128;

/**
 * Appends all messages, or none. A turn or a waiting message would come between them, so neither may be there. The calls
 * of an earlier message are open for the results of a later one.
 */
function decideImport({ messages, messageLimit }: CommandOf<"ImportMessages">, state: SessionState): Decision {
  if (state.turn || state.queue.length > 0) return err({ code: "turn_running", turn: state.turn?.id ?? "" });
  const brought = messages.map(({ item }) => item);
  const full = refuseMessages(brought, state, { messageLimit });
  if (full) return err(full);
  let open = state.imported_calls;
  let position = state.next_position;
  const events: ItemMeta[][] = [];
  for (const [index, { answers, ...message }] of messages.entries()) {
    const answered = answers ? withOpenCall(message.item, answers, open) : message.item;
    if (!answered) return err({ code: "call_not_open", index, call: answers?.call_id ?? "" });
    const items = itemsOfMessage({ ...message, item: answered });
    open = openAfter(open, items);
    const placed = items.map((item) => place(item, position++));
    const last = events.at(-1);
    if (last && last.length + placed.length <= ITEMS_PER_EVENT) last.push(...placed);
    else events.push(placed);
  }
  return ok(events.map((items): Event => ({ type: "MessagesAppended", items, dequeued: [] })));
}

/** Cancelling a queued reply also cancels the queued results of its calls, which would otherwise answer nothing. */
function decideCancel(command: CommandOf<"CancelQueued">, state: SessionState): Decision {
  const waits = state.queue.find((entry) => entry.item.id === command.message);
  if (!waits) return err({ code: "message_not_queued", message: command.message });
  const calls = new Set(itemsOfMessage(waits).flatMap((item) => (item.kind === "tool_call" && item.tool ? item.tool.execution : [])));
  const answers = state.queue.filter(({ item }) => item.kind === "tool_result" && item.tool && calls.has(item.tool.execution));
  return ok([waits, ...answers].map(({ item, turn }): Event => ({ type: "QueuedMessageCancelled", message: item.id, turn })));
}

/**
 * In an idle session the message enters the conversation now. In a busy one, `on_busy` decides. A turn that waits for
 * tool results is not busy: a new message supersedes it (docs/turns.md).
 */
function decideSubmit(command: Submit, state: SessionState): Decision {
  const { turn, queue } = state;
  const message = withCall(command, state);
  if (!message) return err({ code: "call_not_open", index: null, call: command.answers?.call_id ?? "" });
  const full = refuseMessages([message.item], state, command);
  if (full) return err(full);
  const enter = (): Event[] => enterConversation(message, { position: state.next_position, incarnation: command.incarnation });
  const superseded: Event[] = turn?.phase === "awaiting_tools" ? [{ type: "TurnStopped", turn: turn.id, reason: "superseded" }] : [];
  if (superseded.length > 0 && queue.length === 0) return ok([...superseded, ...enter()]);
  if (!turn && queue.length === 0) return ok(enter());
  if (command.onBusy === "reject") return err({ code: "turn_running", turn: turn?.id ?? "" });
  if (queue.length >= command.queueLimit) return err({ code: "queue_full", limit: command.queueLimit });
  if (command.onBusy === "interrupt") {
    const end: Event[] = turn ? [{ type: "TurnStopped", turn: turn.id, reason: "interrupted_by_message" }] : [];
    const queued: Event = { type: "MessageQueued", message: { ...message, interrupts: true }, front: true };
    return ok([queued, ...end.flatMap((stopped) => endCutShort(state, command, stopped))]);
  }
  return ok([{ type: "MessageQueued", message, front: false }, ...superseded]);
}

/**
 * The message, and for an imported result the call that it answers: the first open call with that id at the place where
 * the message will enter. Null when no such call is open there. An interrupting message enters after the turn that it
 * stops or that has just ended, and after the interruptions that wait.
 */
function withCall({ message, answers, onBusy }: Submit, state: SessionState): QueuedMessage | null {
  if (!answers) return message;
  const item = withOpenCall(message.item, answers, openAtEntry(state, onBusy === "interrupt"));
  return item && { ...message, item };
}

/** The result with the call that it answers: the first open one with the id. Null when there is none. */
function withOpenCall(item: NewItem, { call_id, is_error }: NonNullable<Submit["answers"]>, open: readonly OpenCall[]): NewItem | null {
  const call = findOpenCall(open, { execution: null, call_id });
  return call && { ...item, tool: { execution: call.execution, call_id: call.call_id, name: call.name, is_error } };
}
