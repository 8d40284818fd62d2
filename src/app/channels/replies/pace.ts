/** Keeps a chat within what its platform takes. */
import type { ChannelTraits } from "../channel";
import type { ChatStore } from "../chat-store";

type Pace = Pick<ChannelTraits, "pace">;

/** When the next message may be sent. */
export function findFreeTime({ times }: Pick<ChatStore, "times">, { pace }: Pace): number {
  const sent = times.readSent();
  const oldest = sent.length < pace.messages ? undefined : sent.at(-pace.messages);
  return oldest === undefined ? 0 : oldest + pace.per_ms;
}

/** Call it in the transaction that is stored before the message is sent. */
export function noteSent({ times }: Pick<ChatStore, "times">, { pace }: Pace, at: number): void {
  times.noteSent([...times.readSent(), at].slice(-pace.messages));
}
