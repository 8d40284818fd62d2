/** What the bot itself says, and what it reports to its tenant. */
import type { SessionId } from "../../../domain/ids";
import type { Delivery } from "../channel";
import type { ChannelNote, ChatHost } from "../chat-ports";
import type { Audience, OutboundPart } from "../chat-store";
import { toDeliveryToken } from "../task";
import { findWords } from "../words/words";
import type { Words } from "../words/words-latin";

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

/** How long the tenant's log is waited for. It is beside the chat: a line that cannot be stored holds nothing up. */
const NOTED_WITHIN_MS = 5_000;

/**
 * Await it before the transaction that forgets what the line is about. A life that ends in between leaves the next one to note the line again,
 * under the same id.
 */
export async function noteInLog({ deps }: ChatHost, note: ChannelNote): Promise<void> {
  const { store, tenant, schedule, now, log } = deps;
  const address = store.readAddress();
  const { id, kind, reason, session } = note;
  log.info("chat.noted", { id, kind, reason, session });
  if (!address) return;
  const late = Promise.withResolvers<never>();
  const stop = schedule(NOTED_WITHIN_MS, () => late.reject(new Error("The time is over")));
  try {
    await Promise.race([tenant(address.tenant).note(address.channel, { ...note, at: now() }), late.promise]);
  } catch {
    log.warn("chat.note_lost", { id });
  } finally {
    stop();
  }
}
