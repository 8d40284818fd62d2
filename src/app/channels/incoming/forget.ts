/** Erases a conversation for its person: all sessions that it ever had. */

import { withdrawTurn } from "../replies/withdraw";
import type { Task } from "../task";

/**
 * Throws while an erasure cannot be begun: then the delivery is tried again. What came behind the command is of the next conversation, so that
 * the erasure leaves it.
 */
export async function eraseConversation({ chat, room, row }: Task): Promise<void> {
  const { store, eraseSession } = chat.deps;
  const sessions = store.sessions.list();
  store.transaction(() => {
    // The erasure takes the turns, and with them all that is known of who waits.
    for (const turn of sessions.flatMap((session) => store.turns.list(session))) withdrawTurn(chat, room, { ...turn, session: null });
    if (store.sessions.current()) store.sessions.leave();
    store.deliveries.release(row.seq);
  });
  for (const session of sessions) {
    await eraseSession(room.address.tenant, session);
    store.transaction(() => store.forgetSession(session));
  }
  store.transaction(() => store.early.forgetEdits());
  await chat.deps.scrub();
}
