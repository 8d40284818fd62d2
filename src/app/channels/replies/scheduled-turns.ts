/** Turns that no person in the chat began: schedules of the session started them. Where their replies go, and who may answer their questions. */
import { isOfOneUser, type ScheduledTurn } from "../chat-api";
import type { ChatHost } from "../chat-ports";
import type { Audience } from "../chat-store";
import { noteInLog } from "./say";

/** Call it in a transaction. A session that was left by a command is still the chat's: a reminder arrives there all the same. */
export function followScheduled(chat: ChatHost, { session, turn, seq }: ScheduledTurn): void {
  const { store, now } = chat.deps;
  if (!store.sessions.noteFollowed(session, seq)) return;
  const audience = store.readAudience();
  if (!audience) {
    // The transaction waits for no call. A line that is lost is one of a reply that had nowhere to go.
    const note = { id: `${turn}.0`, kind: "reply_failed", reason: "no place is known", session, turn } as const;
    return chat.deps.background(noteInLog(chat, note));
  }
  const begun = { ...audience, cursor: null, live: null, not_before: now(), since: now() };
  store.turns.add({ ...begun, turn, session, is_answered: true, is_scheduled: true });
}

/**
 * Call it when a turn begins, in its transaction. What a person asked for alone is not shown in a group where the person wrote later. In a group
 * no one asks for what a schedule says, so that everyone who may talk to the bot may answer its question, and no person is kept.
 */
export function keepAudience({ deps: { store } }: ChatHost, { place, user }: Audience): void {
  if (store.readAudience()?.place.is_private && !place.is_private) return;
  const address = store.readAddress();
  const isPersonal = place.is_private || (address !== null && isOfOneUser(address));
  store.keepAudience({ place, user: isPersonal ? user : null });
}
