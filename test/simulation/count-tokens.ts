/**
 * The true tokens of a request, as the simulated provider counts them: our estimate, times a factor of the model, with
 * a small error for each text. Together they differ by at most 20 % in either direction.
 */
import type { ChatMessage, ModelRequest } from "../../src/app/ports";
import { estimateThinking } from "../../src/context/item-tokens";
import { estimateTokens, IMAGE_TOKENS, MESSAGE_OVERHEAD_TOKENS } from "../../src/context/tokens";
import { type Part, thoughtSignature } from "../../src/domain/message";

const MODEL_FACTORS: Readonly<Record<string, number>> = { big: 1.12, small: 0.9, tiny: 1.05, stingy: 1, endless: 1 };
/** The error of each text, in either direction. */
const JITTER = 0.06;

const counted = new Map<string, number>();
const MOST_REMEMBERED = 20_000;

/** A text's own part of the error. It is the same whenever the text is counted. */
const computeJitter = (text: string): number => 1 + JITTER * (((text.length * 31 + text.charCodeAt(text.length >> 1)) % 200) / 100 - 1);

function countText(text: string): number {
  if (text === "") return 0;
  const known = counted.get(text);
  if (known !== undefined) return known;
  if (counted.size > MOST_REMEMBERED) counted.clear();
  const tokens = estimateTokens(text) * computeJitter(text);
  counted.set(text, tokens);
  return tokens;
}

function countPart(part: Part): number {
  switch (part.type) {
    case "text":
      return countText(part.text);
    case "tool_call":
      return sum([part.call_id, part.name, part.arguments, thoughtSignature(part) ?? ""].map(countText)) + MESSAGE_OVERHEAD_TOKENS;
    case "tool_result":
      return countText(part.call_id) + countText(part.output);
    case "image":
    case "file":
      return IMAGE_TOKENS;
    case "reasoning":
      return estimateThinking([part]);
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const countMessage = (message: ChatMessage): number => sum(message.parts.map(countPart)) + MESSAGE_OVERHEAD_TOKENS;
const findFactor = (model: string): number => MODEL_FACTORS[model] ?? 1;

export function countRequest(request: ModelRequest): number {
  const tools = request.tools.length > 0 ? countText(JSON.stringify(request.tools)) : 0;
  const format = request.generation?.response_format;
  const schema = format?.type === "json_schema" ? countText(JSON.stringify(format.schema)) : 0;
  const fixed = countText(request.system ?? "") + tools + schema;
  return Math.ceil((fixed + sum(request.messages.map(countMessage))) * findFactor(request.model.id));
}

/** A reply's texts, joined as later requests send them, without its frame. */
export function countReply(model: string, parts: readonly Part[]): number {
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const calls = parts.filter((part) => part.type !== "text");
  return Math.ceil((countText(text) + sum(calls.map(countPart))) * findFactor(model));
}
