/** The messages of a chat completion as the session takes them, with their files stored. */
import type { Context } from "hono";
import type { WrittenMessage } from "../../../app/written-message";
import type { SessionId } from "../../../domain/ids";
import { err } from "../../../lib/result";
import type { HttpDeps, HttpEnv } from "../../deps";
import { type Content, toParts } from "../../schemas/message";
import { createWriter, type WriteMessages } from "../../surface/written";
import { type CompletionMessage, toOutput } from "./messages";

/** As many as one import takes. */
const MAX_NEW = 1_000;

/** The session that takes the messages. */
interface Into {
  readonly session: SessionId;
  readonly isThrowaway: boolean;
}

export function createChatWriter(c: Context<HttpEnv>, deps: HttpDeps, into: Into): WriteMessages<CompletionMessage> {
  const toGiven = ({ field, parts }: CompletionMessage) => ({ field: `${field}.content`, content: parts.map(({ part }) => part) });
  const write = createWriter(c, deps, { ...into, toGiven, toWritten });
  return async (messages) => {
    if (messages.length <= MAX_NEW) return write(messages);
    return err({ code: "invalid_request", errors: [{ field: "messages", detail: `at most ${MAX_NEW} that are new` }] });
  };
}

/** A reply that said nothing and called nothing is none. */
function toWritten(given: CompletionMessage, content: Content): WrittenMessage | null {
  const { role, calls, name, answers = "" } = given;
  const about = { name };
  if (role === "tool") return { role, call_id: answers, output: toOutput(given), is_error: false, about };
  const parts = toParts(content);
  if (parts.length + calls.length === 0) return null;
  return { role, parts, ...(calls.length > 0 && { calls }), about };
}
