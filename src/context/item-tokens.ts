/** The weight of an item in a request. It is estimated once, when the item is recorded. */

import { type MediaPart, type Part, thoughtSignature } from "../domain/message";
import { assertNever } from "../lib/assert-never";
import { estimateTokens, IMAGE_TOKENS, MESSAGE_OVERHEAD_TOKENS } from "./tokens";

const mediaTokens = (part: MediaPart): number => ("file_id" in part ? part.tokens : IMAGE_TOKENS);

function estimatePart(part: Part): number {
  switch (part.type) {
    case "text":
      return estimateTokens(part.text);
    case "reasoning":
      return 0; // reasoning that is sent back is estimated separately: `estimateThinking`
    case "image":
    case "file":
      return mediaTokens(part);
    case "tool_call":
      return (
        estimateTokens(part.call_id) +
        estimateTokens(part.name) +
        estimateTokens(part.arguments) +
        estimateTokens(thoughtSignature(part) ?? "") +
        MESSAGE_OVERHEAD_TOKENS
      );
    case "tool_result":
      return estimateTokens(part.call_id) + estimateTokens(part.output) + MESSAGE_OVERHEAD_TOKENS;
    default:
      return assertNever(part);
  }
}

/** Estimated tokens of one item, including its share of the message's frame. */
export const estimateParts = (parts: readonly Part[]): number =>
  parts.reduce((sum, part) => sum + estimatePart(part), MESSAGE_OVERHEAD_TOKENS);

/** Characters per token of signed or encrypted reasoning, which is opaque. */
const OPAQUE_CHARS_PER_TOKEN = 6;

/**
 * Estimated tokens of the reasoning that is sent back to its provider: its text, or the opaque data in its place,
 * whichever weighs more.
 */
export const estimateThinking = (parts: readonly Part[]): number =>
  parts.reduce((sum, part) => {
    if (part.type !== "reasoning" || !part.provider_metadata) return sum;
    const opaque = Math.ceil(JSON.stringify(part.provider_metadata).length / OPAQUE_CHARS_PER_TOKEN);
    return sum + Math.max(estimateTokens(part.text), opaque);
  }, 0);

/** The `chars_4` estimator: characters over 4, at least 1 for a non-empty text, over content, reasoning, tool input and tool output. */
const CHARS_PER_TOKEN = 4;
const roughText = (text: string): number => (text.length === 0 ? 0 : Math.max(1, Math.floor(text.length / CHARS_PER_TOKEN)));

function roughPart(part: Part): number {
  switch (part.type) {
    case "text":
    case "reasoning":
      return roughText(part.text);
    case "image":
    case "file":
      return mediaTokens(part);
    case "tool_call":
      return roughText(part.arguments);
    case "tool_result":
      return roughText(part.output);
    default:
      return assertNever(part);
  }
}

export const estimateRough = (parts: readonly Part[]): number => parts.reduce((sum, part) => sum + roughPart(part), 0);

export const countMedia = (parts: readonly Part[]): number => parts.filter((part) => part.type === "image" || part.type === "file").length;
