/** A leg of a turn as a whole message, from the record. */
import type { DisplayItem } from "../../contract/item";
import { err, ok, type Result } from "../../lib/result";
import type { RecordedLeg } from "../surface/leg";
import { listRuns } from "../surface/tell-leg";
import {
  type ContentBlock,
  listOwn,
  type MessageHead,
  shapeMessage,
  toEnding,
  toTextBlock,
  toThinkingBlock,
  toToolUseBlock,
} from "./message-shape";
import { type TurnFault, toTurnFault } from "./turn-fault";

type Message = ReturnType<typeof shapeMessage>;

/** Adjacent parts of one kind are one block, as they are in the stream. */
const toBlocks = (item: DisplayItem, { omitsThinking }: MessageHead): ContentBlock[] =>
  listRuns(item).flatMap(({ kind, text }) => {
    if (kind === "text") return [toTextBlock(text)];
    return omitsThinking ? [] : [toThinkingBlock(text)];
  });

export function toWholeMessage({ replies, ending, usage, edits }: RecordedLeg, head: MessageHead): Result<Message, TurnFault> {
  if (!ending.ok) return err(toTurnFault(ending.error));
  const calls = ending.value.type === "waiting" ? listOwn(ending.value.calls) : [];
  const content = [...replies.flatMap((item) => toBlocks(item, head)), ...calls.map(toToolUseBlock)];
  return ok(shapeMessage(head, { content, usage, ending: toEnding(ending.value), edits }));
}
