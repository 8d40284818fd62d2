/**
 * A request without a session is compacted only if it asks for that, and its answer says whether it was: by a member of its body and, where
 * the answer is whole, by a header. The headers of a stream are sent before that is known.
 */
import type { Context } from "hono";
import type { HttpEnv } from "../deps";
import type { SessionCalls } from "../session-calls";

const COMPACTED_HEADER = "X-Context-Compacted";

/** The member is Anthropic's. OpenAI's APIs have none for it. */
export interface AppliedEdits {
  readonly context_management?: { readonly applied_edits: readonly [{ readonly type: string }] };
}

/**
 * `edit`: the type of the edit that the request asks for. Absent: it asks for none, and nothing is read. The answer is complete without it, so
 * that a session that cannot be read says nothing of it.
 */
export async function readAppliedEdits(calls: SessionCalls, edit: string | undefined): Promise<AppliedEdits> {
  if (edit === undefined) return {};
  const described = await calls.repeatable((api, caller) => api.describe(caller)).catch(() => null);
  // The session is the request's own, so every change of its view was made for it.
  const isCompacted = described?.ok === true && described.value.epoch > 0;
  return isCompacted ? { context_management: { applied_edits: [{ type: edit }] } } : {};
}

export function setCompactedHeader(c: Context<HttpEnv>, { context_management }: AppliedEdits): void {
  if (context_management) c.header(COMPACTED_HEADER, "true");
}
