/** What an item weighs in a request, estimated when it is recorded and never again. */

import type { Part } from "../domain/message";
import { assertNever } from "../lib/assert-never";
import { estimateTokens, IMAGE_TOKENS, MESSAGE_OVERHEAD_TOKENS } from "./tokens";

function estimatePart(part: Part): number {
  switch (part.type) {
    case "text":
      return estimateTokens(part.text);
    case "reasoning":
      return 0; // counted by the provider when it was written, not sent again
    case "image":
    case "file":
      return IMAGE_TOKENS;
    case "tool_call":
      return estimateTokens(part.name) + estimateTokens(part.arguments) + MESSAGE_OVERHEAD_TOKENS;
    case "tool_result":
      return estimateTokens(part.output) + MESSAGE_OVERHEAD_TOKENS;
    default:
      return assertNever(part);
  }
}

/** Estimated tokens of one item, its share of the message's frame included. */
export const estimateParts = (parts: readonly Part[]): number =>
  parts.reduce((sum, part) => sum + estimatePart(part), MESSAGE_OVERHEAD_TOKENS);
