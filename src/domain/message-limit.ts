/** The most messages that a session may have and that may wait, as the commands that bring messages carry it. */
import { isMessage } from "./append-items";
import type { NewItem } from "./message";
import type { Rejection } from "./rejection";
import type { SessionState } from "./state";

export interface MessageLimit {
  /** The most messages of the session. Null or absent: no limit. */
  readonly messageLimit?: number | null | undefined;
}

export interface SubmitLimits extends MessageLimit {
  /** Maximum number of queued messages. */
  readonly queueLimit: number;
}

/**
 * Why the conversation does not take these messages: with those of the branch and of the queue they would be more than the limit. Results of
 * calls are no messages, and what a model says is never refused.
 */
export function refuseMessages(
  items: readonly NewItem[],
  { messages, queue }: Pick<SessionState, "messages" | "queue">,
  { messageLimit }: MessageLimit,
): Rejection | null {
  const brought = items.filter(isMessage).length;
  const waiting = queue.filter(({ item }) => isMessage(item)).length;
  const isOver = messageLimit != null && brought > 0 && messages + waiting + brought > messageLimit;
  return isOver ? { code: "message_limit", limit: messageLimit } : null;
}
