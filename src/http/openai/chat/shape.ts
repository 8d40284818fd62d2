/** The pieces that a whole completion and a streamed one share. */
import type { ToolCallView } from "../../../contract/tool";
import type { CallUsage } from "../../../domain/model-call";
import { assertNever } from "../../../lib/assert-never";
import type { LegEnding } from "../../surface/leg";
import { toCallName } from "./messages";

/** What every chunk of a completion repeats. `created`: epoch seconds. */
export interface CompletionHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

type ChatFinish = "stop" | "length" | "tool_calls" | "content_filter";

export function toChatFinish(ending: LegEnding): ChatFinish {
  switch (ending.type) {
    case "finished":
      return ending.finish === "length" || ending.finish === "content_filter" ? ending.finish : "stop";
    case "stopped":
      return "stop";
    case "refused":
      return "content_filter";
    case "waiting":
      // A person has to approve calls of the server. A client without a call of its own has nothing to answer.
      return listOwnCalls(ending).length > 0 ? "tool_calls" : "stop";
    default:
      return assertNever(ending);
  }
}

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

/** The calls that the client is to run. A person's approval is given elsewhere. */
export const listOwnCalls = (ending: LegEnding): readonly ToolCallView[] =>
  ending.type === "waiting" ? ending.calls.filter(({ runs }) => runs === "client") : [];

export const toChatCall = ({ id, name, arguments: given }: ToolCallView) => ({
  id: toCallName(id),
  type: "function",
  function: { name, arguments: given },
});
