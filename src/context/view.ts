/**
 * Builds what the model reads. Works on a copy of the view and repairs it: every call has its result directly after it,
 * no result appears without its call, and a view that was cut opens with a user message.
 */
import type { Reduced } from "../domain/compaction-events";
import type { ItemMeta, Part } from "../domain/message";
import { startsGroup } from "./groups";
import { type OlderContext, placeOlder } from "./placement";
import { clearedToolResult, shortenToolResult, wayBack } from "./tool-results";

export interface ViewEntry {
  readonly meta: ItemMeta;
  readonly parts: readonly Part[];
}

export interface ViewInput extends OlderContext {
  readonly entries: readonly ViewEntry[];
  readonly reduced: readonly Reduced[];
  /** Placeholders say how to retrieve the content, because `memory_query` is offered. */
  readonly namesRecall: boolean;
  /** Providers get back what they signed from this position on. */
  readonly signedFrom: number;
  /** The model that will read the view. Metadata that another model's provider signed is left out. */
  readonly model: string;
}

export interface ViewMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly parts: readonly Part[];
}

export interface BuiltView {
  readonly system: string | null;
  readonly messages: readonly ViewMessage[];
  /** Number of messages at the front that stand for content that is no longer shown, or that were kept before those. */
  readonly older: number;
}

/** Replaces the result of a call that a new message, a stop or a crash left unanswered. */
export const NO_RESULT = "[No result: this tool call was cancelled before it was answered.]";

/** The first message where the kept ones begin with the assistant's. The text for older content stands where the policy places it. */
export const EARLIER = "[The conversation goes on here: its earlier messages are not shown.]";

export function buildView(input: ViewInput): BuiltView {
  const { system, messages: older } = placeOlder(input);
  const entries = withoutSigned(input);
  const inFront = older.length > 0 && input.placement === "system-message" ? countInFront(input) : 0;
  const front = buildMessages({ ...entries, entries: entries.entries.slice(0, inFront) });
  const rest = buildMessages({ ...entries, entries: entries.entries.slice(inFront) });
  const messages = [...front, ...older, ...rest];
  const isWhole = input.summaries.length === 0 && input.dropped === 0;
  return { system, messages: isWhole ? messages : openByUser(messages), older: front.length + older.length };
}

/** Number of system messages at the beginning of the kept items. With placement `system-message` they stand before the summary. */
function countInFront({ entries }: ViewInput): number {
  const first = entries.findIndex(({ meta }) => meta.kind !== "system");
  return first < 0 ? entries.length : first;
}

/**
 * Removes a reply's reasoning as a whole, with every id and signature of the reply, because a provider accepts back
 * either all of them or none.
 */
function withoutSigned(input: ViewInput): ViewInput {
  const goesBack = ({ position, signed }: ItemMeta): boolean => position >= input.signedFrom && (!signed || signed.model === input.model);
  const isKept = ({ meta, parts }: ViewEntry): boolean => goesBack(meta) || !parts.some(hasMetadata);
  if (input.entries.every(isKept)) return input;
  const entries = input.entries.map((entry) => (isKept(entry) ? entry : { ...entry, parts: entry.parts.flatMap(withoutMetadata) }));
  return { ...input, entries };
}

const hasMetadata = (part: Part): boolean => "provider_metadata" in part;

function withoutMetadata(part: Part): Part[] {
  if (!("provider_metadata" in part)) return [part];
  if (part.type === "reasoning") return [];
  const { provider_metadata: _, ...rest } = part;
  return [rest];
}

/**
 * A cut, a drop or a reset may leave a reply or a call in front. Some providers and chat templates refuse a
 * conversation that does not open with the user. A conversation that the assistant opened from its start is sent as
 * recorded. Appended messages never change the result.
 */
function openByUser(messages: readonly ViewMessage[]): readonly ViewMessage[] {
  const first = messages.findIndex(({ role }) => role !== "system");
  if (first < 0 || messages[first]?.role === "user") return messages;
  return messages.toSpliced(first, 0, { role: "user", parts: [{ type: "text", text: EARLIER }] });
}

/** The messages of the view, group by group. A group is one user message, or one response with its results. */
function buildMessages({ entries, reduced, namesRecall }: ViewInput): ViewMessage[] {
  const reducedAt = new Map(reduced.map((entry) => [entry.position, entry]));
  const showParts: PartsOf = ({ meta, parts }) => {
    const less = reducedAt.get(meta.position);
    if (less?.how === "shortened") return shortenParts(parts, less.chars, namesRecall ? wayBack(meta) : null);
    return less ? parts.map((part) => reducePart(part, { how: less.how, item: meta, namesRecall })) : parts;
  };
  const messages: ViewMessage[] = [];
  for (let start = 0; start < entries.length; ) {
    let end = start + 1;
    for (let entry = entries[end]; entry && !startsGroup(entry.meta, entries[end - 1]?.meta); entry = entries[end]) end++;
    const first = entries[start];
    const role = first ? plainRole(first.meta.kind, end - start) : null;
    if (first && role) messages.push({ role, parts: showParts(first) });
    else addResponse(messages, entries.slice(start, end), showParts);
    start = end;
  }
  return messages;
}

/** The role of an item that is one message whatever follows it in its group. Null for a response with calls, or results without one. */
function plainRole(kind: ItemMeta["kind"], length: number): "user" | "system" | "assistant" | null {
  if (kind === "user" || kind === "system") return kind;
  return kind === "assistant" && length === 1 ? kind : null;
}

type PartsOf = (entry: ViewEntry) => readonly Part[];

interface Reducing {
  readonly how: "cleared" | "evicted";
  readonly item: ItemMeta;
  readonly namesRecall: boolean;
}

function reducePart(part: Part, { how, item, namesRecall }: Reducing): Part {
  switch (how) {
    case "cleared":
      return part.type === "tool_result" ? { ...part, output: clearedToolResult(part, item.tool?.execution ?? null, namesRecall) } : part;
    case "evicted":
      return part.type === "image" || part.type === "file"
        ? { type: "text", text: `[${part.type}: ${part.name ?? part.media_type}]` }
        : part;
  }
}

/**
 * Shows only the ends of the item's text, `chars` characters together. Several text parts become one, in the place of
 * the first. `way`: see `wayBack`.
 */
export function shortenParts(parts: readonly Part[], chars: number, way: string | null): readonly Part[] {
  const texts = parts.filter((part) => part.type === "text");
  const [first] = texts;
  return parts.flatMap((part): Part[] => {
    if (part.type === "tool_result") return [{ ...part, output: shortenToolResult(part.output, chars, way) }];
    if (part.type !== "text") return [part];
    return part === first ? [{ ...part, text: shortenToolResult(texts.map(({ text }) => text).join("\n"), chars, way) }] : [];
  });
}

function addResponse(messages: ViewMessage[], group: readonly ViewEntry[], showParts: PartsOf): void {
  const said = group.filter(({ meta }) => meta.kind !== "tool_result");
  // Results whose call is not in their group have nothing to answer. They are left out of the view's copy; the record keeps them.
  if (said.length === 0) return;
  const parts: Part[] = [];
  for (const entry of said) parts.push(...showParts(entry));
  messages.push({ role: "assistant", parts });
  for (const { meta } of said) {
    if (!meta.tool) continue;
    const { execution, call_id, name } = meta.tool;
    const result = findResult(execution, group);
    const missing: Part = { type: "tool_result", call_id, name, output: NO_RESULT, is_error: true };
    messages.push({ role: "tool", parts: result ? showParts(result) : [missing] });
  }
}

/** The last result of the execution, if there are several. A loop, because every call of a view is looked up here. */
function findResult(execution: string, group: readonly ViewEntry[]): ViewEntry | null {
  for (let index = group.length - 1; index >= 0; index--) {
    const entry = group[index];
    if (entry?.meta.kind === "tool_result" && entry.meta.tool?.execution === execution) return entry;
  }
  return null;
}
