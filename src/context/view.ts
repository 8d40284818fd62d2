/**
 * What the model reads: RFC-011's `CompactAwareMessageBuilder`, by position instead of timestamp. Works on a copy and
 * repairs it: every call has its result right after it, and no result stands without a call.
 */
import type { Reduced } from "../domain/compaction-events";
import type { ItemMeta, Part, ToolResultPart } from "../domain/message";
import { type Group, groupItems } from "./groups";
import { type OlderContext, placeOlder } from "./placement";
import { shortenToolResult } from "./tool-results";

export interface ViewEntry {
  readonly meta: ItemMeta;
  readonly parts: readonly Part[];
}

export interface ViewInput extends OlderContext {
  readonly entries: readonly ViewEntry[];
  readonly reduced: readonly Reduced[];
  /** A placeholder says how to get the content back (OdinCode plan). */
  readonly namesRecall: boolean;
}

export interface ViewMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly parts: readonly Part[];
}

export interface BuiltView {
  readonly system: string | null;
  readonly messages: readonly ViewMessage[];
}

/** Stands for the result of a call that a new message, a stop or a crash left unanswered. */
export const NO_RESULT = "[No result: this tool call was cancelled before it was answered.]";

export function buildView(input: ViewInput): BuiltView {
  const older = placeOlder(input);
  return { system: older.system, messages: [...older.messages, ...messagesOf(input)] };
}

const NO_OPEN_CALLS: ReadonlySet<string> = new Set();

/** The messages of the view, group by group; a group is one user message or one response with its results. */
function messagesOf({ entries, reduced, namesRecall }: ViewInput): ViewMessage[] {
  const partsAt = new Map(entries.map((entry) => [entry.meta.position, entry.parts]));
  const reducedAt = new Map(reduced.map((entry) => [entry.position, entry]));
  const groups = groupItems(
    entries.map((entry) => entry.meta),
    NO_OPEN_CALLS,
  );
  const partsOf = (item: ItemMeta): readonly Part[] => {
    const parts = partsAt.get(item.position) ?? [];
    const less = reducedAt.get(item.position);
    return less ? parts.map((part) => reducePart(part, { less, item, namesRecall })) : parts;
  };
  return groups.flatMap((group) => toMessages(group, partsOf));
}

interface Reducing {
  readonly less: Reduced;
  readonly item: ItemMeta;
  readonly namesRecall: boolean;
}

function reducePart(part: Part, { less, item, namesRecall }: Reducing): Part {
  switch (less.how) {
    case "cleared":
      return part.type === "tool_result" ? { ...part, output: clearedResult(part, item, namesRecall) } : part;
    case "shortened":
      if (part.type === "tool_result") return { ...part, output: shortenToolResult(part.output, less.chars) };
      return part.type === "text" ? { ...part, text: shortenToolResult(part.text, less.chars) } : part;
    case "evicted":
      return part.type === "image" || part.type === "file"
        ? { type: "text", text: `[${part.type}: ${part.name ?? part.media_type}]` }
        : part;
  }
}

/** OdinCode plan, word for word where the content can be had again by asking for it. */
function clearedResult({ name, is_error }: ToolResultPart, { tool }: ItemMeta, namesRecall: boolean): string {
  const recall = namesRecall ? ". Use memory_query tool with session_id or execution_id to retrieve full details" : "";
  const execution = tool ? ` (execution_id: ${tool.execution})` : "";
  return `[Tool ${name}]: ${is_error ? "FAILED" : "OK"} - [Old tool result content cleared${execution}${recall}]`;
}

function toMessages(group: Group, partsOf: (item: ItemMeta) => readonly Part[]): ViewMessage[] {
  const asked = group.items[0];
  if (asked?.kind === "user" || asked?.kind === "system") return [{ role: asked.kind, parts: partsOf(asked) }];
  const said = group.items.filter((item) => item.kind !== "tool_result");
  const results = new Map(group.items.filter((item) => item.kind === "tool_result").map((item) => [item.tool?.execution, item]));
  const answers = said.flatMap(({ tool }): ViewMessage[] => {
    if (!tool) return [];
    const result = results.get(tool.execution);
    const missing: Part = { type: "tool_result", call_id: tool.call_id, name: tool.name, output: NO_RESULT, is_error: true };
    return [{ role: "tool", parts: result ? partsOf(result) : [missing] }];
  });
  // A result whose call is not in this group has nothing to answer: it is left out of the copy, never of the record.
  return said.length === 0 ? [] : [{ role: "assistant", parts: said.flatMap(partsOf) }, ...answers];
}
