/** What people see while they wait is taken away where no answer comes. */
import type { SessionId } from "../../../domain/ids";
import type { ChatPlace } from "../channel";
import type { ChatHost, ChatRoom } from "../chat-ports";
import type { ChatTurn } from "../chat-store";
import { type Task, toDeliveryToken } from "../task";

type WaitingTurn = Pick<ChatTurn, "turn" | "place" | "live" | "is_answered"> & { readonly session: SessionId | null };

interface Unanswered {
  /** A delivery, or a turn, always has one name, so that the sign is taken away once. */
  readonly name: string;
  readonly place: ChatPlace;
  /** An erasure of the session takes it along. */
  readonly session: SessionId | null;
}

/** Call it in a transaction. A platform that shows no such sign is not asked. */
function withdraw({ deps: { store, now } }: ChatHost, { adapter, channel }: ChatRoom, { name, place, session }: Unanswered): void {
  const operation = `${name}.none`;
  if (adapter.build({ type: "withdraw", operation, place }, channel.credentials) === null) return;
  store.parts.add({ operation, session, turn: null, place, markdown: null, buttons: [], edits: null, is_first: true }, now());
}

export function withdrawDelivery({ chat, room, row: { delivery } }: Task): void {
  withdraw(chat, room, { name: toDeliveryToken(delivery), place: delivery.place, session: chat.deps.store.sessions.current() });
}

/** Withdraws if nothing was sent in answer to the message that asked for the turn. */
export function withdrawTurn(chat: ChatHost, room: ChatRoom, { turn, place, session, live, is_answered }: WaitingTurn): void {
  if (live === null && !is_answered) withdraw(chat, room, { name: turn, place, session });
}
