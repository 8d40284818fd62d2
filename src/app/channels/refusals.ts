/** What a person reads when their message was refused. Said once in a while, so that a flood of messages is not answered by a flood of words. */
import type { SessionError } from "../session-api";
import type { SessionRefusal } from "./chat-ports";
import { noteInLog, say } from "./say";
import { again, done, type Task, type Worked } from "./task";
import type { Words } from "./words-latin";

/** How long the same refusal is not said again. */
const QUIET_MS = 10 * 60_000;

type RefusalWord = keyof Pick<Words, "busy" | "budget" | "full" | "failed">;

function toWord(code: string): RefusalWord {
  switch (code) {
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
export async function answerRefusal({ chat, room, row }: Task, { kind, code }: SessionRefusal): Promise<Worked> {
  if (kind !== "refused") return again(code);
  const { store, now } = chat.deps;
  const word = toWord(code);
  const last = store.times.read(word);
  const { id } = row.delivery;
  await noteInLog(chat, {
    id: `${id}.refused`,
    kind: "reply_failed",
    reason: `refused: ${code}`,
    delivery: id,
    user: row.delivery.user.id,
    session: store.sessions.current(),
  });
  if (last !== null && now() - last < QUIET_MS) return done();
  return done(() => {
    store.times.note(word, now());
    say(chat, row.delivery, { name: word, write: (words) => words[word], language: room.channel.settings.language });
  });
}

export function toSessionRefusal(error: SessionError): SessionRefusal {
  switch (error.code) {
    case "queue_full":
    case "models_unavailable":
    case "budgets_unavailable":
    case "fork_unfinished":
      return { kind: "again", code: error.code };
    default:
      return { kind: "refused", code: error.code };
  }
}
