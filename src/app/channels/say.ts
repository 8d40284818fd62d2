/** What the bot itself says, and what it reports to its tenant. */
import type { SessionId } from "../../domain/ids";
import type { Delivery } from "./channel";
import type { ChannelNote, ChatHost } from "./chat-ports";
import type { Audience, OutboundPart } from "./chat-store";
import { toDeliveryToken } from "./task";
import { findWords } from "./words";
import type { Words } from "./words-latin";

/** One sentence, by the name that tells it from the others about the same delivery. */
interface Said {
  readonly name: string;
  readonly write: (words: Words) => string;
  /** The channel's language, which goes before the person's. Absent or null: the person's. */
  readonly language?: string | null;
  readonly session?: SessionId | null;
  readonly buttons?: OutboundPart["buttons"];
}

/** Call it in the transaction that ends the delivery: said once for each name. */
export function say(
  { deps: { store, now } }: ChatHost,
  delivery: Pick<Delivery, "id"> & Audience,
  { name, write, language = null, session = store.sessions.current(), buttons = [] }: Said,
): void {
  const words = findWords(language ?? delivery.user?.language ?? null);
  const operation = `${toDeliveryToken(delivery)}.${name}`;
  store.parts.add(
    { operation, session, turn: null, place: delivery.place, markdown: write(words), buttons, edits: null, is_first: true },
    now(),
  );
}

/** The tenant's log is beside the chat: a line that is lost holds nothing up. */
export function noteInLog({ deps }: ChatHost, note: ChannelNote): void {
  const { store, tenant, background, now, log } = deps;
  const address = store.readAddress();
  const { id, kind, reason, session } = note;
  log.info("chat.noted", { id, kind, reason, session });
  if (!address) return;
  const noted = tenant(address.tenant).note(address.channel, { ...note, at: now() });
  background(noted.catch(() => log.warn("chat.note_lost", { id })));
}
