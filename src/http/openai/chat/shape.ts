/** The pieces that a whole completion and a streamed one share. */
import type { DisplayItem } from "../../../contract/item";
import type { ToolCallView } from "../../../contract/tool";
import type { CallUsage, FinishReason } from "../../../domain/model-call";
import { toCallName } from "./messages";

/** What every chunk of a completion repeats. `created`: epoch seconds. */
export interface CompletionHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

export type ChatFinish = "stop" | "length" | "tool_calls" | "content_filter";

export const toChatFinish = (finish: FinishReason | null): ChatFinish =>
  finish === "length" || finish === "content_filter" ? finish : "stop";

export function toChatUsage(usage: CallUsage | null) {
  const { input, output, cached, reasoning } = usage ?? { input: 0, output: 0, cached: 0, reasoning: 0 };
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

/** Stands between the texts of several replies of one completion, where tools ran on the server in between. */
export const BETWEEN_REPLIES = "\n\n";

export const readTexts = ({ content }: DisplayItem, type: "text" | "reasoning"): string =>
  content.map((part) => (part.type === type ? part.text : "")).join("");

/** The calls that the client is to run. A person's approval is given elsewhere. */
export const listOwnCalls = (calls: readonly ToolCallView[]): readonly ToolCallView[] => calls.filter(({ runs }) => runs === "client");

export const toChatCall = ({ id, name, arguments: given }: ToolCallView) => ({
  id: toCallName(id),
  type: "function",
  function: { name, arguments: given },
});
