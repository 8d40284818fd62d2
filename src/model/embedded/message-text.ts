/** Converts a message to text, and cuts a text to what may be quoted of it. */
import type { ChatMessage } from "../../app/ports";
import type { Part } from "../../domain/message";
import { assertNever } from "../../lib/assert-never";
import { splitSentences } from "../text-matching";

const TOPIC_CHARS = 80;
const QUESTION =
  /[?？]|^(?:who|what|when|where|why|which|how|whose|is|are|was|were|do|does|did|can|could|would|should|tell|list|show|give|explain|recall|repeat|find|wer|was|wann|wo|warum|wie|qui|quand|où|quel|quién|qué|cuándo|dónde)\b|吗|什么|谁|哪|何|誰|ですか/iu;

export const isQuestion = (text: string): boolean => QUESTION.test(text.trimStart());

export const toTopic = (text: string): string => cut(splitSentences(text)[0] ?? "", TOPIC_CHARS);

/** Cuts between characters, never inside one. */
export const cut = (text: string, length: number): string =>
  text.length <= length
    ? text
    : `${text
        .slice(0, length)
        .toWellFormed()
        .replace(/\uFFFD$/, "")}…`;

export const readMessageText = (message: ChatMessage): string => message.parts.map(partText).filter(Boolean).join("\n");

export function partText(part: Part): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "tool_call":
      return `${part.name} ${part.arguments}`;
    case "tool_result":
      return part.output;
    case "reasoning":
      return "";
    case "image":
    case "file":
      return part.name ?? "";
    default:
      return assertNever(part);
  }
}
