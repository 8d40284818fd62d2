/** The messages of a chat completion as the session takes them, with their files stored. */
import type { Context } from "hono";
import type { WrittenMessage } from "../../../app/written-message";
import type { SessionId } from "../../../domain/ids";
import { err, ok, type Result } from "../../../lib/result";
import type { HttpDeps, HttpEnv } from "../../deps";
import type { HttpError } from "../../problem";
import { type Content, toParts } from "../../schemas/message";
import { takeAllFiles } from "../../take-files";
import { type CompletionMessage, toOutput } from "./messages";

/** As many as one import takes. */
const MAX_NEW = 1_000;

/** A message as it is recorded, and where the request has it. */
interface WrittenAt {
  readonly field: string;
  readonly message: WrittenMessage;
}

export type WriteMessages = (messages: readonly CompletionMessage[]) => Promise<Result<readonly WrittenAt[], HttpError>>;

/** The session that takes the messages. */
interface Into {
  readonly session: SessionId;
  readonly isThrowaway: boolean;
}

/** A request that is sent again after it waited does not store its files again. */
export function createWriter(c: Context<HttpEnv>, deps: HttpDeps, into: Into): WriteMessages {
  let last: { readonly from: string | undefined; readonly count: number; readonly written: readonly WrittenAt[] } | null = null;
  return async (messages) => {
    const [from, count] = [messages[0]?.field, messages.length];
    if (last?.from === from && last?.count === count) return ok(last.written);
    const written = await writeMessages(c, deps, { ...into, messages });
    if (written.ok) last = { from, count, written: written.value };
    return written;
  };
}

async function writeMessages(
  c: Context<HttpEnv>,
  deps: HttpDeps,
  { session, isThrowaway, messages }: Into & { readonly messages: readonly CompletionMessage[] },
): Promise<Result<readonly WrittenAt[], HttpError>> {
  if (messages.length > MAX_NEW)
    return err({ code: "invalid_request", errors: [{ field: "messages", detail: `at most ${MAX_NEW} that are new` }] });
  const contents = messages.map(({ field, parts }) => ({ field: `${field}.content`, content: parts.map(({ part }) => part) }));
  const taken = await takeAllFiles(c, deps, { session, contents, isThrowaway });
  if (!taken.ok) return taken;
  return ok(messages.flatMap((message, index) => toWritten(message, taken.value[index] ?? [])));
}

/** A reply that said nothing and called nothing is none. */
function toWritten(given: CompletionMessage, content: Content): WrittenAt[] {
  const { field, role, calls, name, answers = "" } = given;
  const about = { name };
  if (role === "tool") return [{ field, message: { role, call_id: answers, output: toOutput(given), is_error: false, about } }];
  const parts = toParts(content);
  if (parts.length + calls.length === 0) return [];
  return [{ field, message: { role, parts, ...(calls.length > 0 && { calls }), about } }];
}
