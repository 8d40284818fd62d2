/** Builds the row of an item: the content, cut to what a D1 row can hold, and the preview that lists show. Pure. */
import { toSearchedText, toSessionTerms } from "../context/recall/session-terms";
import { takeHead } from "../context/tool-results";
import { parseBody } from "../domain/item-content";
import { type ItemKind, type ItemMeta, type Part, toTimeSaid } from "../domain/message";
import { toShownParts } from "../domain/shown-parts";
import type { MessageRow } from "./row-ops";

/** D1 limits a row, and a string in it, to 2,000,000 bytes. The other columns need little. */
export const MAX_ROW_CONTENT_BYTES = 1_900_000;
const PREVIEW_CHARS = 120;

const ROLE = {
  system: "system",
  user: "user",
  assistant: "assistant",
  tool_call: "assistant",
  tool_result: "tool",
} as const satisfies Record<ItemKind, MessageRow["role"]>;

/** The kinds that `message_count` counts: what people read as messages, without the calls and results between them. */
export const COUNTED_KINDS: readonly ItemKind[] = ["system", "user", "assistant"];

/** `body` is the item's parts as JSON; undefined when the content was erased. */
export function toMessageRow(item: ItemMeta, body: string | undefined): MessageRow {
  const parts = parseParts(body);
  const content = parts ? boundContent(parts, MAX_ROW_CONTENT_BYTES) : { text: "[]", cut: false };
  return {
    position: item.position,
    id: item.id,
    kind: item.kind,
    role: ROLE[item.kind],
    content: content.text,
    content_state: parts ? (content.cut ? "cut" : "full") : "missing",
    preview: item.kind === "user" || item.kind === "assistant" ? toPreview(parts ?? []) : null,
    turn_id: item.turn,
    execution_id: item.tool?.execution ?? null,
    incomplete: item.incomplete ? 1 : 0,
    tokens: item.tokens,
    created_at: toTimeSaid(item),
  };
}

/** The terms by which a message is found. Null for calls and results, which are no messages. */
export function toMessageTerms(item: ItemMeta, body: string | undefined): string | null {
  if (!COUNTED_KINDS.includes(item.kind)) return null;
  return toSessionTerms(toSearchedText(parseParts(body) ?? []), item.at);
}

/** Null also for a body that is no list of parts: a row without content is better than a projection that stops. */
export function parseParts(body: string | undefined): readonly Part[] | null {
  if (body === undefined) return null;
  try {
    const { parts } = parseBody(body);
    return Array.isArray(parts) ? toShownParts(parts) : null;
  } catch {
    return null;
  }
}

/** The first 120 UTF-16 units of the text. Null when there is no text. */
export function toPreview(parts: readonly Part[]): string | null {
  let text = "";
  for (const part of parts) {
    if (part.type === "text") text += part.text;
    if (text.length >= PREVIEW_CHARS) break;
  }
  return text.trim() === "" ? null : takeHead(text, PREVIEW_CHARS);
}

const encoder = new TextEncoder();
export const byteLength = (text: string): number => encoder.encode(text).byteLength;

/** Returns the parts as JSON of at most `maxBytes`. The longest texts are cut at their ends. */
function boundContent(parts: readonly Part[], maxBytes: number): { readonly text: string; readonly cut: boolean } {
  const whole = JSON.stringify(parts);
  // A UTF-16 unit takes at most three bytes in UTF-8, so most content is known to fit without being encoded.
  if (whole.length * 3 <= maxBytes || byteLength(whole) <= maxBytes) return { text: whole, cut: false };
  let limit = maxBytes;
  let text = whole;
  while (byteLength(text) > maxBytes && limit >= 1) {
    limit = Math.floor(limit / 2);
    text = JSON.stringify(parts.map((part) => shorten(part, limit)));
  }
  // A list of very many parts can exceed the limit even when every text is cut to nothing.
  return { text: byteLength(text) <= maxBytes ? text : "[]", cut: true };
}

function shorten(part: Part, chars: number): Part {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, text: takeHead(part.text, chars) };
    case "tool_call":
      return { type: part.type, call_id: part.call_id, name: part.name, arguments: takeHead(part.arguments, chars) };
    case "tool_result":
      return { ...part, output: takeHead(part.output, chars) };
    default:
      return part;
  }
}
