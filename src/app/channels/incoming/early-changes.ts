/**
 * Changes that come before their message, because platforms deliver in any order. They are kept for a while, so that the message is taken as its
 * person left it, or not at all. A command whose text was changed is a message like any other.
 */
import type { ChatEvent } from "../channel";
import { type ChatHost, toMessageKey } from "../chat-ports";
import type { EarlyChange } from "../chat-store";
import { done, type Task, type Worked } from "../task";

/** How long a change waits for its message, which may never come: the bot does not hear every message of a group. */
export const EARLY_MS = 60 * 60_000;

type MessageEvent = Extract<ChatEvent, { readonly type: "message" }>;

/** The newest change counts, by the platform's time. A deletion is final. */
const isOutdated = (change: EarlyChange, known: EarlyChange | null): boolean =>
  known !== null && change.text !== null && (known.text === null || change.at < known.at);

/** Call it in the transaction that ends the delivery. `text`: null of a deletion. */
export function keepEarly({ chat: { deps }, row: { delivery } }: Task, message: string, text: string | null): void {
  const { store, now } = deps;
  const change = { key: toMessageKey(delivery.place.chat, message), text, at: delivery.at };
  if (isOutdated(change, store.early.find(change.key))) return;
  store.early.put(change, { session: store.sessions.current(), expires_at: now() + EARLY_MS });
}

interface CurrentMessage {
  readonly event: MessageEvent;
  /** Null: it is as it was sent. */
  readonly changed_at: number | null;
}

/** The message as its person left it. Null: it was deleted. */
export function readCurrent({ chat: { deps }, row: { delivery } }: Task, event: MessageEvent): CurrentMessage | null {
  const change = deps.store.early.find(toMessageKey(delivery.place.chat, event.message));
  if (!change) return { event, changed_at: null };
  const { text, at } = change;
  return text === null ? null : { event: { ...event, text, command: null }, changed_at: at };
}

/** The edit is needed no more once its message is done. A deletion stays: the message may come again under another id of a delivery. */
export function endingEarly({ chat: { deps }, row: { delivery } }: Task, { message }: MessageEvent, worked: Worked): Worked {
  if (worked.kind === "again") return worked;
  const key = toMessageKey(delivery.place.chat, message);
  if (deps.store.early.find(key)?.text == null) return worked;
  return done(() => {
    worked.apply?.();
    deps.store.early.remove(key);
  });
}

/** Forgets the changes whose messages did not come. */
export function forgetEarly({ deps: { store, now } }: ChatHost): void {
  const next = store.early.next();
  if (next !== null && next <= now()) store.transaction(() => store.early.forget(now()));
}
