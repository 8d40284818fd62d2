/**
 * Goes on with a paused turn: the client sends the assistant's content back as the last message. The session knows what it told until then,
 * and a leg of what follows is the answer.
 */
import type { ConversationEnd, EndItem } from "../../app/respond-api";
import type { Schedule } from "../../app/session-ports";
import { ok, type Result } from "../../lib/result";
import type { SessionCalls } from "../session-calls";
import { toComparedText, toPlain } from "../surface/new-messages";
import type { StartedLeg } from "../surface/started-leg";
import { waitForMove } from "../surface/wait-for-move";
import { toToolUseId } from "./read-blocks";
import type { CopiedBlocks } from "./read-copy";

interface Resuming {
  readonly calls: SessionCalls;
  readonly schedule: Schedule;
  readonly messages: readonly CopiedBlocks[];
  readonly end: ConversationEnd;
}

/** The replies behind what the client said last, and what it has of them. */
function findTold(messages: readonly CopiedBlocks[], items: readonly EndItem[]) {
  const answered = new Set(messages.flatMap(({ answers }) => answers ?? []));
  const isSaid = ({ role, call_id = "", execution_id }: EndItem): boolean =>
    role === "user" ||
    (role === "tool" && (answered.has(call_id) || (execution_id !== undefined && answered.has(toToolUseId(execution_id)))));
  const last = items.findLastIndex(isSaid);
  const replies = items.slice(last + 1).filter(({ role }) => role === "assistant");
  const said = messages.slice(messages.findLastIndex(({ role }) => role !== "assistant") + 1);
  return { said: items[last], replies, told: toPlain(said.map(({ text }) => text).join("")), calls: said.flatMap(({ calls }) => calls) };
}

/** The last reply that the client has. Undefined: it has none of them. Null: it has something else. */
function findLastTold(replies: readonly EndItem[], told: string): EndItem | null | undefined {
  let text = "";
  for (const reply of replies) {
    text += toPlain(toComparedText(reply.content));
    if (text === told) return reply;
  }
  return told === "" ? undefined : null;
}

/** Null: the client's copy does not end as a paused turn does. */
export async function resumeTurn({ calls, schedule, messages, end }: Resuming): Promise<Result<StartedLeg, never> | null> {
  const { items, stream_offset, epoch } = end;
  const turn = end.turn?.id ?? end.last_turn;
  const { said, replies, told, calls: asked } = findTold(messages, items);
  const last = findLastTold(replies, told);
  // Calls of the client are answered, and not waited for.
  if (!turn || !said || last === null || asked.length > 0 || (last && last.turn_id !== turn)) return null;
  const isOver = end.turn === null;
  const toldAll = last === replies.at(-1);
  if (isOver && toldAll && (last?.tool_calls ?? []).length === 0) return null;
  const after = (last ?? said).position;
  const isWaiting = end.turn?.phase === "awaiting_tools" && toldAll;
  const cursor = isWaiting ? stream_offset : null;
  if (isWaiting) await waitForMove(calls, { turn, after: stream_offset, schedule });
  return ok({ session: calls.session, turn, cursor, stream: null, after, continues: true, replayed: false, epoch });
}
