/** The messages of a client's copy as a session takes them, with their files stored. */
import type { Context } from "hono";
import type { WrittenMessage } from "../../app/written-message";
import type { SessionId } from "../../domain/ids";
import { ok, type Result } from "../../lib/result";
import type { HttpDeps, HttpEnv } from "../deps";
import type { HttpError } from "../problem";
import type { Content, PartInput } from "../schemas/message";
import { takeAllFiles } from "../take-files";

/** A message as it is recorded, and where the request has it. */
export interface WrittenAt {
  readonly field: string;
  readonly message: WrittenMessage;
}

/** A message of the request whose files may not be stored yet. */
interface Given {
  /** `messages.4` */
  readonly field: string;
  readonly content: readonly PartInput[];
}

interface Writer<M extends { readonly field: string }> {
  /** The session that takes the messages. */
  readonly session: SessionId;
  readonly isThrowaway: boolean;
  readonly toGiven: (message: M) => Given;
  /** Null: the message says nothing, and is none. */
  readonly toWritten: (message: M, content: Content) => WrittenMessage | null;
}

export type WriteMessages<M> = (messages: readonly M[]) => Promise<Result<readonly WrittenAt[], HttpError>>;

/** A request that is sent again after it waited does not store its files again. */
export function createWriter<M extends { readonly field: string }>(c: Context<HttpEnv>, deps: HttpDeps, into: Writer<M>): WriteMessages<M> {
  let last: { readonly from: string | undefined; readonly count: number; readonly written: readonly WrittenAt[] } | null = null;
  const write: WriteMessages<M> = async (messages) => {
    const { session, isThrowaway } = into;
    const taken = await takeAllFiles(c, deps, { session, contents: messages.map(toContents(into)), isThrowaway });
    if (!taken.ok) return taken;
    return ok(
      messages.flatMap((each, index) => {
        const message = into.toWritten(each, taken.value[index] ?? []);
        return message ? [{ field: each.field, message }] : [];
      }),
    );
  };
  return async (messages) => {
    const [from, count] = [messages[0]?.field, messages.length];
    if (last?.from === from && last?.count === count) return ok(last.written);
    const written = await write(messages);
    if (written.ok) last = { from, count, written: written.value };
    return written;
  };
}

const toContents =
  <M extends { readonly field: string }>({ toGiven }: Writer<M>) =>
  (message: M): { readonly field: string; readonly content: PartInput[] } => {
    const { field, content } = toGiven(message);
    return { field, content: [...content] };
  };
