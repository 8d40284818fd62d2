/** The messages of a request as the session takes them, with their files stored. */
import type { Context } from "hono";
import type { WrittenMessage } from "../../app/written-message";
import type { SessionId } from "../../domain/ids";
import type { HttpDeps, HttpEnv } from "../deps";
import { type Content, toParts } from "../schemas/message";
import { createWriter, type WriteMessages } from "../surface/written";
import type { CopiedBlocks } from "./read-copy";

interface Into {
  readonly session: SessionId;
  readonly isThrowaway: boolean;
}

export const createMessageWriter = (c: Context<HttpEnv>, deps: HttpDeps, into: Into): WriteMessages<CopiedBlocks> =>
  createWriter(c, deps, { ...into, toGiven: ({ field, parts }) => ({ field: `${field}.content`, content: parts }), toWritten });

/** An answer that said nothing and called nothing is none. */
function toWritten({ role, calls, text, answers = "", is_error }: CopiedBlocks, content: Content): WrittenMessage | null {
  if (role === "tool") return { role, call_id: answers, output: text, is_error };
  const parts = toParts(content);
  return parts.length + calls.length === 0 ? null : { role, parts, ...(calls.length > 0 && { calls }) };
}
