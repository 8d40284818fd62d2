/**
 * What a person reads when their message was refused. Said once in a while, so that a flood of messages is not answered by a flood of words. A
 * limit that passes soon is waited for first, unless others of the chat would wait as well.
 */
import type { SessionError } from "../../session-api";
import { toPersonName } from "../chat-api";
import type { SessionRefusal } from "../chat-ports";
import { noteInLog, say } from "../replies/say";
import { again, done, type Task, toPersonToken, type Worked } from "../task";
import type { Words } from "../words/words-latin";
import { findLimitWords, writeWait } from "../words/words-limits";

/** How long the same refusal is not said again to the same person. */
const QUIET_MS = 10 * 60_000;
/** How long a message waits for a limit that passes by itself. */
const PATIENCE_MS = 60_000;

type RefusalWord = keyof Pick<Words, "busy" | "budget" | "full" | "failed"> | "requests" | "files";

function toWord(code: string): RefusalWord {
  switch (code) {
    case "requests_per_minute":
      return "requests";
    case "rate_limited":
    case "session_limit":
      return "busy";
    case "budget_exhausted":
      return "budget";
    case "message_limit":
    case "storage_full":
    case "branch_limit":
      return "full";
    default:
      return "failed";
  }
}

/** A refusal that may pass by itself is not said: the message waits. */
export async function answerRefusal(task: Task, refusal: SessionRefusal): Promise<Worked> {
  const { chat, row } = task;
  const { kind, code, passes_at = null } = refusal;
  if (kind === "again" || kind === "gone") return again(code);
  if (kind === "brief" && mayWait(task, refusal)) return again(code, passes_at);
  const tell = sayOnce(task, toWord(code), passes_at);
  if (!tell) return done();
  const { id, user } = row.delivery;
  const session = chat.deps.store.sessions.current();
  await noteInLog(chat, { id: `${id}.refused`, kind: "reply_failed", reason: `refused: ${code}`, delivery: id, user: user.id, session });
  return done(tell);
}

/** Deliveries are worked through in order: one that waits for its own person's limit would hold up those of others. */
function mayWait({ chat, room, row }: Task, { of, passes_at }: SessionRefusal): boolean {
  const now = chat.deps.now();
  const isAlone = room.channel.settings.session_per === "user" || row.delivery.place.is_private;
  const isSoon = passes_at === undefined || passes_at - now <= PATIENCE_MS;
  return isSoon && now - row.stored_at < PATIENCE_MS && (isAlone || of === "tenant");
}

/** Says the words in the transaction that ends the delivery. Null: the person has read them a short time ago. */
export function sayOnce({ chat, room, row }: Task, word: RefusalWord, passes_at: number | null): (() => void) | null {
  const { store, now } = chat.deps;
  const { delivery } = row;
  const name = `${word} ${toPersonToken(delivery.user)}`;
  const last = store.times.read(name);
  if (last !== null && now() - last < QUIET_MS) return null;
  const language = room.channel.settings.language ?? delivery.user.language;
  const limit = findLimitWords(language);
  const until = passes_at === null ? "" : ` ${limit.again(writeWait(language, passes_at - now()))}`;
  const write = (words: Words): string => (word === "requests" || word === "files" ? limit[word] : words[word]) + until;
  return () => {
    store.times.note(name, now());
    say(chat, delivery, { name: word, write, language });
  };
}

export function toSessionRefusal(error: SessionError): SessionRefusal {
  switch (error.code) {
    case "queue_full":
    case "models_unavailable":
    case "budgets_unavailable":
    case "fork_unfinished":
      return { kind: "again", code: error.code };
    case "rate_limited":
      return { kind: "brief", code: error.code, of: error.of };
    case "budget_exhausted":
      return { kind: "refused", code: error.code, passes_at: error.resets_at };
    default:
      return { kind: "refused", code: error.code };
  }
}

/** Counts the message as a request of the tenant and of its person. Null: it may go on. */
export async function refuseRequest(task: Task): Promise<Worked | null> {
  const { chat, room, row } = task;
  if (chat.counted.has(row.seq)) return null;
  const user = toPersonName(room.channel.settings.type, row.delivery.user.id);
  const refused = await chat.deps.takeRequest(room.address.tenant, user);
  if (refused) return answerRefusal(task, { kind: "brief", code: "requests_per_minute", ...refused });
  chat.counted.add(row.seq);
  return null;
}
