/** What an item weighs in a request, estimated when it is recorded and never again. */

import { type Part, thoughtSignature } from "../domain/message";
import { assertNever } from "../lib/assert-never";
import { estimateTokens, IMAGE_TOKENS, MESSAGE_OVERHEAD_TOKENS } from "./tokens";

function estimatePart(part: Part): number {
  switch (part.type) {
    case "text":
      return estimateTokens(part.text);
    case "reasoning":
      return 0; // what goes back of it is weighed apart: `estimateThinking`
    case "image":
    case "file":
      return IMAGE_TOKENS;
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

/** Estimated tokens of one item, its share of the message's frame included. */
export const estimateParts = (parts: readonly Part[]): number =>
  parts.reduce((sum, part) => sum + estimatePart(part), MESSAGE_OVERHEAD_TOKENS);

/** What a provider signs or encrypts is opaque; its thinking is a token to about so many characters of that. */
const OPAQUE_CHARS_PER_TOKEN = 6;

/** Estimated tokens of the thinking that its provider takes back: its words, or what stands for them. */
export const estimateThinking = (parts: readonly Part[]): number =>
  parts.reduce((sum, part) => {
    if (part.type !== "reasoning" || !part.provider_metadata) return sum;
    const opaque = Math.ceil(JSON.stringify(part.provider_metadata).length / OPAQUE_CHARS_PER_TOKEN);
    return sum + Math.max(estimateTokens(part.text), opaque);
  }, 0);

/** RFC-011 `TokenEstimator`: characters over 4, at least 1 for a text that is not empty, over content, thinking, tool input and tool output. */
const CHARS_PER_TOKEN = 4;
const roughText = (text: string): number => (text.length === 0 ? 0 : Math.max(1, Math.floor(text.length / CHARS_PER_TOKEN)));

function roughPart(part: Part): number {
  switch (part.type) {
    case "text":
    case "reasoning":
      return roughText(part.text);
    case "image":
    case "file":
      return IMAGE_TOKENS;
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
