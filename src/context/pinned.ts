/** The text of a pin that was made from messages: their words, each behind a label, so that the model knows who said them and where. */
import type { ItemMeta, Part } from "../domain/message";
import { assertNever } from "../lib/assert-never";
import { describeMediaPart } from "./media";
import type { ViewEntry } from "./view";

export const renderPinned = (entries: readonly ViewEntry[]): string =>
  entries.map(({ meta, parts }) => `Message ${meta.position}, ${toSpeaker(meta)}: ${toWords(parts)}`).join("\n");

function toSpeaker({ kind, tool }: ItemMeta): string {
  switch (kind) {
    case "system":
    case "user":
    case "assistant":
      return kind;
    case "tool_call":
      return `call of ${tool?.name ?? "a tool"}`;
    case "tool_result":
      return `result of ${tool?.name ?? "a tool"}${tool?.is_error ? ", failed" : ""}`;
    default:
      return assertNever(kind);
  }
}

const toWords = (parts: readonly Part[]): string =>
  parts
    .flatMap((part) => toWord(part) ?? [])
    .join("\n")
    .trim();

/** Null for thinking, which is no part of what was said. */
function toWord(part: Part): string | null {
  switch (part.type) {
    case "text":
      return part.text;
    case "reasoning":
      return null;
    case "image":
    case "file":
      return describeMediaPart(part);
    case "tool_call":
      return part.arguments;
    case "tool_result":
      return part.output;
    default:
      return assertNever(part);
  }
}
