/**
 * Extracts an item's searchable text and splits it into passages. Each passage is found by itself, so that one line in
 * the middle of a long result is not drowned out by the rest.
 */
import type { Part } from "../../domain/message";
import { assertNever } from "../../lib/assert-never";

/** Maximum UTF-16 units of a passage. Most user messages are one passage. */
const LONGEST = 1_200;
/** Maximum number of passages of one item. Text after them can still be read by its position. */
export const MOST_PASSAGES = 4_096;
/** A passage ends after its last line or sentence, if that leaves at least half of it. */
const ENDS = /[\n.!?。！？][^\n.!?。！？]*$/u;

export interface Passage {
  readonly text: string;
  /** Where the passage begins in the item's text, in UTF-16 units. */
  readonly from: number;
}

/** A call yields its name and arguments, a result its output, an image or file its name. */
export function toRecallText(parts: readonly Part[]): string {
  return parts
    .map(partText)
    .filter((text) => text !== "")
    .join("\n");
}

function partText(part: Part): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "reasoning":
      return "";
    case "image":
    case "file":
      return part.name ?? ("url" in part ? part.url : part.media_type);
    case "tool_call":
      return `${part.name} ${part.arguments}`;
    case "tool_result":
      return part.output;
    default:
      return assertNever(part);
  }
}

export function toPassages(text: string): Passage[] {
  const passages: Passage[] = [];
  for (let from = 0; from < text.length && passages.length < MOST_PASSAGES; ) {
    const length = measurePassage(text, from);
    passages.push({ text: text.slice(from, from + length), from });
    from += length;
  }
  return passages;
}

function measurePassage(text: string, from: number): number {
  if (text.length - from <= LONGEST) return text.length - from;
  const most = text.slice(from, from + LONGEST);
  const end = most.search(ENDS) + 1;
  if (end >= LONGEST / 2) return end;
  const space = most.lastIndexOf(" ") + 1;
  if (space >= LONGEST / 2) return space;
  return isInsideCharacter(text, from + LONGEST) ? LONGEST - 1 : LONGEST;
}

const isInsideCharacter = (text: string, at: number): boolean => /[\udc00-\udfff]/.test(text[at] ?? "");
