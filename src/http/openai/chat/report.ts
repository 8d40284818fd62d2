/** A leg of a turn as a whole chat completion, from the record. */
import type { DisplayItem } from "../../../contract/item";
import { err, ok, type Result } from "../../../lib/result";
import type { RecordedLeg } from "../../surface/leg";
import { BETWEEN_REPLIES, type CompletionHead, listOwnCalls, toChatCall, toChatFinish, toChatUsage } from "./shape";
import { type OpenAiFault, toOpenAiFault } from "./turn-fault";

const readTexts = ({ content }: DisplayItem, type: "text" | "reasoning"): string =>
  content.map((part) => (part.type === type ? part.text : "")).join("");

export function toCompletion({ replies, ending, usage, edits }: RecordedLeg, head: CompletionHead): Result<object, OpenAiFault> {
  if (!ending.ok) return err(toOpenAiFault(ending.error));
  const texts = replies.map((item) => readTexts(item, "text")).filter((text) => text !== "");
  const reasoning = replies.map((item) => readTexts(item, "reasoning")).join("");
  const refusal = ending.value.type === "refused" ? ending.value.detail : null;
  const calls = listOwnCalls(ending.value);
  const message = {
    role: "assistant",
    content: texts.length === 0 && (calls.length > 0 || refusal !== null) ? null : texts.join(BETWEEN_REPLIES),
    refusal,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(toChatCall) }),
  };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: toChatFinish(ending.value) }];
  return ok({ ...head, object: "chat.completion", choices, usage: toChatUsage(usage), ...edits });
}
