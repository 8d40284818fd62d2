/** Works through what people did, in the order in which it was stored. What cannot be done now is tried again, and holds up what came later. */
import { backOff } from "../../../lib/back-off";
import { toErrorName } from "../../../lib/error-name";
import type { ChatHost } from "../chat-ports";
import type { WaitingDelivery } from "../chat-store";
import { noteInLog, say } from "../replies/say";
import { withdrawDelivery } from "../replies/withdraw";
import { again, type Task, type Worked } from "../task";
import { pressButton } from "./buttons";
import { forgetEarly } from "./early-changes";
import { applyDeletion, applyEdit } from "./message-changes";
import { takeMessage } from "./take-message";

const WAIT = { first: 1_000, longest: 5 * 60_000 } as const;
/** How long a delivery is tried. */
const GIVE_UP_MS = 24 * 60 * 60 * 1_000;
/** How long one is tried whose work throws, which may be a fault in it. */
const GIVE_UP_FAULT_MS = 60 * 60 * 1_000;

export async function workDeliveries(chat: ChatHost): Promise<void> {
  const { store, now } = chat.deps;
  forgetEarly(chat);
  for (let row = store.deliveries.first(); row && row.not_before <= now(); row = store.deliveries.first()) {
    await workOne(chat, row);
    chat.wake();
  }
}

async function workOne(chat: ChatHost, row: WaitingDelivery): Promise<void> {
  const { store, log } = chat.deps;
  try {
    const room = await chat.openRoom();
    const worked = room ? await workDelivery({ chat, room, row }) : again("channel_unavailable");
    if (worked.kind === "again") return await tryLater(chat, row, { ...worked, within: GIVE_UP_MS });
    chat.counted.delete(row.seq);
    store.transaction(() => {
      // An erasure may have taken the delivery meanwhile, with all that it would lead to.
      if (store.deliveries.isWaiting(row.seq)) {
        if (worked.apply) worked.apply();
        else if (room) withdrawDelivery({ chat, room, row });
      }
      store.deliveries.remove(row.seq);
    });
  } catch (error) {
    log.warn("chat.delivery_failed", { error: toErrorName(error), attempts: row.attempts });
    await tryLater(chat, row, { reason: toErrorName(error), at: null, within: GIVE_UP_FAULT_MS });
  }
}

interface Later {
  readonly reason: string;
  readonly at: number | null;
  readonly within: number;
}

async function tryLater(chat: ChatHost, row: WaitingDelivery, { reason, at, within }: Later): Promise<void> {
  const { store, now } = chat.deps;
  if (now() - row.stored_at < within) return store.deliveries.postpone(row.seq, at ?? now() + backOff(row.attempts, WAIT));
  const { delivery } = row;
  const { id, user } = delivery;
  const about = { delivery: id, user: user.id, session: row.session };
  await noteInLog(chat, { id: `${id}.given_up`, kind: "reply_failed", reason: `not worked on: ${reason}`, ...about });
  store.transaction(() => {
    // An erasure may have taken the delivery meanwhile.
    if (!store.deliveries.isWaiting(row.seq)) return;
    store.deliveries.remove(row.seq);
    if (delivery.event.type === "message") say(chat, delivery, { name: "undelivered", write: ({ undelivered }) => undelivered });
  });
}

function workDelivery(task: Task): Promise<Worked> {
  const { event } = task.row.delivery;
  switch (event.type) {
    case "message":
      return takeMessage(task, event);
    case "edit":
      return applyEdit(task, event);
    case "deletion":
      return applyDeletion(task, event);
    case "button":
      return pressButton(task, event);
  }
}
