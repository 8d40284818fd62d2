/** How much a request adds to a conversation, for surfaces that count tokens before they send. Raw estimates. */
import { estimateTokens, IMAGE_TOKENS, MESSAGE_OVERHEAD_TOKENS } from "../../context/tokens";
import type { ContextWeights } from "../../contract/context";
import type { PartInput } from "../schemas/message";

interface Weighed {
  readonly parts: readonly PartInput[];
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly results: readonly { readonly output: string }[];
}

const weighPart = (part: PartInput): number => ("text" in part ? estimateTokens(part.text) : IMAGE_TOKENS);

export function weighAdded({ parts, calls, results }: Weighed): number {
  const texts = [...calls.map((call) => call.name + call.arguments), ...results.map(({ output }) => output)];
  const weights = [...parts.map(weighPart), ...texts.map(estimateTokens)];
  return MESSAGE_OVERHEAD_TOKENS + weights.reduce((sum, weight) => sum + weight, 0);
}

/** What the request names in place of the session's. Null: the session's holds. */
interface Named {
  readonly system: number | null;
  readonly tools: number | null;
}

/** The conversation without what the request names otherwise. */
export function weighRest({ total, parts }: Pick<ContextWeights, "total" | "parts">, named: Named): number {
  const replaced = parts.filter(({ part }) => (part === "system" && named.system !== null) || (part === "tools" && named.tools !== null));
  return Math.max(0, total.tokens - replaced.reduce((sum, { tokens }) => sum + tokens, 0));
}
