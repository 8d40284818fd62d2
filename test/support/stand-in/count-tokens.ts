/** True token counts, by the tokenizer of the GPT-4o family and later (o200k). */
import { countTokens as countText } from "gpt-tokenizer/encoding/o200k_base";
import { contentText, type WireMessage, type WireRequest, type WireToolCall } from "./wire.ts";

/** Tokens that a message adds around its content: role and delimiters. */
const MESSAGE_TOKENS = 4;
/** Tokens of the beginning of the reply. */
const PRIMING_TOKENS = 3;
/** A conversation is sent again with every request, so its messages are counted once. */
const REMEMBERED_TEXTS = 20_000;

const counted = new Map<string, number>();

export function countTokens(text: string): number {
  const known = counted.get(text);
  if (known !== undefined) return known;
  // Text that looks like a control token is counted as plain text.
  const tokens = text === "" ? 0 : countText(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() });
  if (counted.size >= REMEMBERED_TEXTS) counted.clear();
  counted.set(text, tokens);
  return tokens;
}

/** Everything that a call sends: a provider receives its id, and Gemini's signature, like any other text. */
const countCall = ({ id, function: { name, arguments: input }, extra_content }: WireToolCall): number =>
  countTokens(id) + countTokens(name) + countTokens(input) + countTokens(extra_content?.google?.thought_signature ?? "");

const countMessage = (message: WireMessage): number =>
  MESSAGE_TOKENS +
  countTokens(contentText(message.content)) +
  countTokens(message.tool_call_id ?? "") +
  (message.tool_calls ?? []).reduce((sum, call) => sum + countCall(call), 0);

export const countPrompt = (request: WireRequest): number =>
  request.messages.reduce((sum, message) => sum + countMessage(message), PRIMING_TOKENS) +
  (request.tools && request.tools.length > 0 ? countTokens(JSON.stringify(request.tools)) : 0);
