/** The tokens that a provider counts for a request, including frames and ids, as `test/support/stand-in/count-tokens` counts them. */
import type { BuiltView, ViewMessage } from "../../src/context/view";
import type { Part } from "../../src/domain/message";
import { countTokens } from "../lab/true-tokens.ts";

/** Tokens around a message: role and delimiters. */
const FRAME_TOKENS = 4;

const countPart = (part: Part): number => {
  switch (part.type) {
    case "text":
      return countTokens(part.text);
    case "tool_call":
      return countTokens(part.call_id) + countTokens(part.name) + countTokens(part.arguments);
    case "tool_result":
      return countTokens(part.call_id) + countTokens(part.output);
    default:
      return 0;
  }
};

const countMessage = ({ parts }: ViewMessage): number => parts.reduce((sum, part) => sum + countPart(part), FRAME_TOKENS);

export const countView = ({ system, messages }: BuiltView): number =>
  (system === null ? 0 : FRAME_TOKENS + countTokens(system)) + messages.reduce((sum, message) => sum + countMessage(message), 0);
