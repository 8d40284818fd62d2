/** Messages in: appended at once, starting a turn, or waiting in the durable FIFO. */
import { err, ok } from "../lib/result";
import type { Command, MessageCommand } from "./commands";
import { type Decision, endWithPartial, enterConversation } from "./decision";
import type { Event } from "./events";
import type { SessionState } from "./state";

type Submit = Command & Extract<MessageCommand, { type: "SubmitMessage" }>;

export function decideMessage(command: Command & MessageCommand, state: SessionState): Decision {
  return command.type === "SubmitMessage" ? decideSubmit(command, state) : decideCancel(command, state);
}

function decideCancel(command: Extract<MessageCommand, { type: "CancelQueued" }>, state: SessionState): Decision {
  const waits = state.queue.find((entry) => entry.item.id === command.message);
  return waits
    ? ok([{ type: "QueuedMessageCancelled", message: command.message, turn: waits.turn }])
    : err({ code: "message_not_queued", message: command.message });
}

/**
 * Idle: the message enters the conversation now. Busy: by `on_busy`. A turn that waits for tool results is not
 * busy: a new message supersedes it (docs/design.md §5, rules of the protocol).
 */
function decideSubmit(command: Submit, state: SessionState): Decision {
  const { turn, queue } = state;
  const superseded: Event[] = turn?.phase === "awaiting_tools" ? [{ type: "TurnStopped", turn: turn.id, reason: "superseded" }] : [];
  if (superseded.length > 0 && queue.length === 0) return ok([...superseded, ...enter(command, state.next_position)]);
  if (!turn && queue.length === 0) return ok(enter(command, state.next_position));
  if (command.onBusy === "reject") return err({ code: "turn_running", turn: turn?.id ?? "" });
  if (queue.length >= command.queueLimit) return err({ code: "queue_full", limit: command.queueLimit });
  const queued = (front: boolean): Event => ({ type: "MessageQueued", message: command.message, front });
  if (command.onBusy === "interrupt" && turn) {
    const end: Event = { type: "TurnStopped", turn: turn.id, reason: "interrupted_by_message" };
    return ok([queued(true), ...endWithPartial(state, command.partial, end)]);
  }
  return ok([queued(false), ...superseded]);
}

function enter(command: Submit, position: number): Event[] {
  return enterConversation(command.message, { position, incarnation: command.incarnation });
}
