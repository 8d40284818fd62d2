/**
 * The content of an item, as its body stores it. Most items have parts alone, and their body is the list of them. With a
 * name or metadata it is an object. Redaction deletes the body, and with it all of this.
 */
import type { Part } from "./message";

export interface ItemContent {
  readonly parts: readonly Part[];
  /** Who speaks. */
  readonly name: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/** What a client says of a message beside its content. All of it belongs to the message's first item. */
export interface MessageFacts {
  readonly name?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly client_id?: string | null;
  readonly said_at?: number | null;
  readonly incomplete?: boolean;
}

const NO_METADATA: ItemContent["metadata"] = {};

export const toPlainContent = (parts: readonly Part[]): ItemContent => ({ parts, name: null, metadata: NO_METADATA });

const isPlain = ({ name, metadata }: ItemContent): boolean => name === null && Object.keys(metadata).length === 0;

export const formatBody = (content: ItemContent): string => JSON.stringify(isPlain(content) ? content.parts : content);

export function parseBody(text: string): ItemContent {
  const stored = JSON.parse(text) as readonly Part[] | ItemContent;
  return "parts" in stored ? stored : toPlainContent(stored);
}

/**
 * The parts as a model, a summary and a look-up read them: the name stands in front of the first text. Calls and results
 * belong to tools, and have no speaker.
 */
export function toSpokenParts({ parts, name }: ItemContent): readonly Part[] {
  if (name === null || parts.some(({ type }) => type === "tool_call" || type === "tool_result")) return parts;
  const first = parts.findIndex(({ type }) => type === "text");
  const part = parts[first];
  if (part?.type === "text") return parts.with(first, { ...part, text: `${name}: ${part.text}` });
  return [{ type: "text", text: `${name}:` }, ...parts];
}
