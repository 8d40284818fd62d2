/** The messages of a chat completion as the session takes them, with their files stored. */
import type { Context } from "hono";
import type { WrittenMessage } from "../../app/written-message";
import type { SessionId } from "../../domain/ids";
import { err, ok, type Result } from "../../lib/result";
import type { HttpDeps, HttpEnv } from "../deps";
import type { HttpError } from "../problem";
import { type Content, toParts } from "../schemas/message";
import { takeAllFiles } from "../take-files";
import { type CompletionMessage, toOutput } from "./chat-messages";

/** As many as one import takes. */
const MAX_NEW = 1_000;

export type WriteMessages = (messages: readonly CompletionMessage[]) => Promise<Result<readonly WrittenMessage[], HttpError>>;

/** A request that is sent again after it waited does not store its files again. */
export function createWriter(c: Context<HttpEnv>, deps: HttpDeps, session: SessionId): WriteMessages {
  let last: { readonly from: string | undefined; readonly written: readonly WrittenMessage[] } | null = null;
  return async (messages) => {
    const from = messages[0]?.field;
    if (last?.from === from && last?.written.length === messages.length) return ok(last.written);
    const written = await writeMessages(c, deps, { session, messages });
    if (written.ok) last = { from, written: written.value };
    return written;
  };
}

async function writeMessages(
  c: Context<HttpEnv>,
  deps: HttpDeps,
  { session, messages }: { readonly session: SessionId; readonly messages: readonly CompletionMessage[] },
): Promise<Result<readonly WrittenMessage[], HttpError>> {
  if (messages.length > MAX_NEW)
    return err({ code: "invalid_request", errors: [{ field: "messages", detail: `at most ${MAX_NEW} that are new` }] });
  const contents = messages.map(({ field, parts }) => ({ field: `${field}.content`, content: parts.map(({ part }) => part) }));
  const taken = await takeAllFiles(c, deps, { session, contents });
  if (!taken.ok) return taken;
  // A reply that said nothing and called nothing is none.
  return ok(messages.flatMap((message, index) => toWritten(message, taken.value[index] ?? [])));
}

function toWritten(message: CompletionMessage, content: Content): WrittenMessage[] {
  const { role, calls, name, answers = "" } = message;
  const about = { name };
  if (role === "tool") return [{ role, call_id: answers, output: toOutput(message), is_error: false, about }];
  const parts = toParts(content);
  if (parts.length + calls.length === 0) return [];
  return [{ role, parts, ...(calls.length > 0 && { calls }), about }];
}
