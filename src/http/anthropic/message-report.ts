/** A leg of a turn as a whole message, from the turn's report. */
import type { DisplayItem } from "../../contract/item";
import type { TurnReport } from "../../contract/turn";
import type { CallUsage } from "../../domain/model-call";
import { err, ok, type Result } from "../../lib/result";
import {
  type ContentBlock,
  type Ending,
  listOwn,
  type MessageHead,
  shapeMessage,
  toFinished,
  toRefused,
  toTextBlock,
  toThinkingBlock,
  toToolUseBlock,
  toWaiting,
} from "./message-shape";
import { type TurnFault, toTurnFault } from "./turn-fault";

type Message = ReturnType<typeof shapeMessage>;

/** Adjacent parts of one kind are one block, as they are in the stream. */
function toBlocks({ content }: DisplayItem, { omitsThinking }: MessageHead): ContentBlock[] {
  const runs: { type: "text" | "reasoning"; text: string }[] = [];
  for (const part of content) {
    if (part.type !== "text" && part.type !== "reasoning") continue;
    const last = runs.at(-1);
    if (last?.type === part.type) last.text += part.text;
    else runs.push({ type: part.type, text: part.text });
  }
  return runs.flatMap(({ type, text }) => {
    if (text === "") return [];
    if (type === "text") return [toTextBlock(text)];
    return omitsThinking ? [] : [toThinkingBlock(text)];
  });
}

/** How the leg ended, or why it has no ending. */
function toEnding({ status, finish, failure, open_calls }: TurnReport): Result<Ending, TurnFault> {
  if (status === "awaiting_tools") return ok(toWaiting(open_calls));
  if (status === "completed" || status === "stopped") return ok(toFinished(finish));
  if (failure?.kind === "refused") return ok(toRefused(failure.detail));
  return err(toTurnFault(failure));
}

interface Leg {
  readonly head: MessageHead;
  /** Items up to this position were there before. */
  readonly after: number;
  readonly usage: CallUsage | null;
}

export function toWholeMessage(turn: TurnReport, { head, after, usage }: Leg): Result<Message, TurnFault> {
  const ending = toEnding(turn);
  if (!ending.ok) return ending;
  const replies = turn.items.filter(({ role, position }) => role === "assistant" && position > after);
  const calls = turn.status === "awaiting_tools" ? listOwn(turn.open_calls) : [];
  const content = [...replies.flatMap((item) => toBlocks(item, head)), ...calls.map(toToolUseBlock)];
  return ok(shapeMessage(head, { content, usage, ending: ending.value }));
}
