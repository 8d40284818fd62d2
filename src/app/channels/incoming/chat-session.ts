/** The session of a conversation, which is opened when it is first needed. */
import type { SessionId } from "../../../domain/ids";
import { PLAIN_LINE } from "../../../lib/plain-line";
import { err, ok, type Result } from "../../../lib/result";
import type { ChatPlace, ChatUser } from "../channel";
import { type ChatAddress, toPersonName } from "../chat-api";
import type { ChatHost, ChatRoom, SessionRefusal } from "../chat-ports";

/** The longest external id that a session may have. */
const MAX_EXTERNAL_ID = 256;
/** How many spent external ids are passed over at once. */
const TRIES = 5;

interface Wanted {
  readonly room: ChatRoom;
  readonly place: ChatPlace;
  readonly user: ChatUser;
}

/** Whose a session is. Null: a group's session is no one person's. */
function toEndUser({ channel: { settings } }: ChatRoom, place: ChatPlace, user: ChatUser): string | null {
  return settings.session_per === "user" || place.is_private ? toPersonName(settings.type, user.id) : null;
}

/** Each of the conversation's sessions has an external id of its own, by which a repeated opening finds it. */
async function toExternalId(chat: ChatHost, { channel, conversation }: ChatAddress, generation: number): Promise<string> {
  const whole = `${channel}/${conversation}/${generation}`;
  const isPlain = whole.length <= MAX_EXTERNAL_ID && PLAIN_LINE.test(whole);
  return isPlain ? whole : `${channel}/${await chat.deps.digest(conversation)}/${generation}`;
}

export async function ensureSession(chat: ChatHost, wanted: Wanted): Promise<Result<SessionId, SessionRefusal>> {
  const { store } = chat.deps;
  for (let tries = 0; tries < TRIES; tries++) {
    const current = store.sessions.current();
    if (current) return ok(current);
    const opened = await openNext(chat, wanted);
    if (opened.ok || opened.error.kind !== "gone") return opened;
    store.transaction(() => store.sessions.leave());
  }
  return err({ kind: "again", code: "external_ids_spent" });
}

async function openNext(chat: ChatHost, { room, place, user }: Wanted): Promise<Result<SessionId, SessionRefusal>> {
  const { store, openSession } = chat.deps;
  const { address, channel } = room;
  const external_id = await toExternalId(chat, address, store.sessions.generation() + 1);
  const metadata = { channel: address.channel };
  const named = { channel: address.channel, conversation: address.conversation };
  const opened = await openSession(address.tenant, { channel, chat: named, external_id, end_user: toEndUser(room, place, user), metadata });
  if (!opened.ok) return opened;
  const session = opened.value.id;
  store.transaction(() => store.sessions.add(session));
  return ok(session);
}
