/**
 * What the model reads: RFC-011's `CompactAwareMessageBuilder`, by position instead of timestamp. Works on a copy and
 * repairs it: every call has its result right after it, and no result stands without a call.
 */
import type { ItemMeta, Part } from "../domain/message";
import { SHORTENED_CHARS } from "./budget";
import { type Group, groupItems } from "./groups";
import { shortenToolResult } from "./tool-results";

export interface ViewEntry {
  readonly meta: ItemMeta;
  readonly parts: readonly Part[];
}

export interface ViewInput {
  readonly system: string | null;
  /** The chain of summaries, oldest first. */
  readonly summaries: readonly string[];
  /** How many items left the view without a summary. */
  readonly dropped: number;
  readonly entries: readonly ViewEntry[];
  readonly shortened: ReadonlySet<number>;
}

export interface ViewMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly parts: readonly Part[];
}

export interface BuiltView {
  readonly system: string | null;
  readonly messages: readonly ViewMessage[];
}

/** RFC-011 §4, word for word. */
const SUMMARY_HEADING = "Previous conversation summary:\n";
const PREFIX_END = "\n\n---\n\n";
const NO_SYSTEM = "Continue the conversation based on the summary above.";
/** Stands for the result of a call that a new message, a stop or a crash left unanswered. */
export const NO_RESULT = "[No result: this tool call was cancelled before it was answered.]";

export const SUMMARY_JOIN = "\n\n";

export const buildView = (input: ViewInput): BuiltView => ({ system: buildSystem(input), messages: messagesOf(input) });

function buildSystem({ system, summaries, dropped }: ViewInput): string | null {
  const notes: string[] = [];
  if (summaries.length > 0) notes.push(SUMMARY_HEADING + summaries.join(SUMMARY_JOIN));
  if (dropped > 0) notes.push(`[${dropped} earlier messages of this conversation are not shown here: they were trimmed to fit.]`);
  if (notes.length === 0) return system;
  return notes.join("\n\n") + PREFIX_END + (system ?? NO_SYSTEM);
}

const NO_OPEN_CALLS: ReadonlySet<string> = new Set();

/** The messages of the view, group by group; a group is one user message or one response with its results. */
function messagesOf({ entries, shortened }: ViewInput): ViewMessage[] {
  const partsAt = new Map(entries.map((entry) => [entry.meta.position, entry.parts]));
  const groups = groupItems(
    entries.map((entry) => entry.meta),
    NO_OPEN_CALLS,
  );
  const partsOf = (item: ItemMeta): readonly Part[] => {
    const parts = partsAt.get(item.position) ?? [];
    return shortened.has(item.position) ? parts.map(shorten) : parts;
  };
  return groups.flatMap((group) => toMessages(group, partsOf));
}

const shorten = (part: Part): Part =>
  part.type === "tool_result" ? { ...part, output: shortenToolResult(part.output, SHORTENED_CHARS) } : part;

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
