/**
 * The true tokens of a request, as the simulated provider counts them: our estimate, times a factor of the model, with
 * a small error for each text. Together they differ by at most 20 % in either direction from what the registry's ratio says. An image
 * that the model cannot see is words.
 */
import type { ChatMessage, ModelRequest, ModelSpec } from "../../src/app/ports";
import { estimateThinking } from "../../src/context/item-tokens";
import { chooseForms, describeMediaPart, toMediaMeta } from "../../src/context/media";
import { estimateTokens, IMAGE_TOKENS, MESSAGE_OVERHEAD_TOKENS } from "../../src/context/tokens";
import { type Part, thoughtSignature } from "../../src/domain/message";

const MODEL_FACTORS: Readonly<Record<string, number>> = { big: 1.12, small: 0.9, tiny: 1.05, stingy: 1, endless: 1, dense: 1.7, blind: 1 };
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

function countPart(part: Part, model: ModelSpec): number {
  switch (part.type) {
    case "text":
      return countText(part.text);
    case "tool_call":
      return sum([part.call_id, part.name, part.arguments, thoughtSignature(part) ?? ""].map(countText)) + MESSAGE_OVERHEAD_TOKENS;
    case "tool_result":
      return countText(part.call_id) + countText(part.output);
    case "image":
    case "file":
      return chooseForms(model, [toMediaMeta(part)])[0] === "words" ? countText(describeMediaPart(part)) : IMAGE_TOKENS;
    case "reasoning":
      return estimateThinking([part]);
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const countMessage = (message: ChatMessage, model: ModelSpec): number =>
  sum(message.parts.map((part) => countPart(part, model))) + MESSAGE_OVERHEAD_TOKENS;
const findFactor = ({ id }: ModelSpec): number => MODEL_FACTORS[id] ?? 1;

export function countRequest(request: ModelRequest): number {
  const tools = request.tools.length > 0 ? countText(JSON.stringify(request.tools)) : 0;
  const format = request.generation?.response_format;
  const schema = format?.type === "json_schema" ? countText(JSON.stringify(format.schema)) : 0;
  const fixed = countText(request.system ?? "") + tools + schema;
  return Math.ceil((fixed + sum(request.messages.map((message) => countMessage(message, request.model)))) * findFactor(request.model));
}

/** A reply's texts, joined as later requests send them, without its frame. */
export function countReply(model: ModelSpec, parts: readonly Part[]): number {
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const calls = parts.filter((part) => part.type !== "text");
  return Math.ceil((countText(text) + sum(calls.map((call) => countPart(call, model)))) * findFactor(model));
}
