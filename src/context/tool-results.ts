/** Oversized tool results: cut once, when they are recorded, and never again (RFC-011 §1); and what a view shows in place of one. Never throws. */
import type { ExecutionId } from "../domain/ids";
import type { ItemMeta, ToolResultPart } from "../domain/message";

/** RFC-011 `TOOL_RESULT_MAX_CHARS`: UTF-16 units, as its `String.length` counts. */
export const TOOL_RESULT_MAX_CHARS = 30_000;

/** RFC-011's wording holds where FEAT-011 differs. */
const marker = (kept: number, total: number): string => `\n\n[... content truncated, showing first ${kept} of ${total} characters ...]`;

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** The longest start of `text` of at most `length` units that does not end inside a character. */
export function headOf(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length);
}

/** The longest end of `text` of at most `length` units that does not begin inside a character. */
export function tailOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const start = text.length - length;
  return text.slice(isHighSurrogate(text.charCodeAt(start - 1)) ? start + 1 : start);
}

/** `output` as it is stored: whole up to `limit` characters, else its head and the marker. */
export function truncateToolResult(output: string, limit: number = TOOL_RESULT_MAX_CHARS): string {
  if (output.length <= limit) return output;
  return headOf(output, limit) + marker(limit, output.length);
}

/** What stands for a result that was cleared: OdinCode plan, word for word where its content can be had again by asking for it. */
export function clearedToolResult(
  { name, is_error }: Pick<ToolResultPart, "name" | "is_error">,
  execution: ExecutionId | null,
  namesRecall: boolean,
): string {
  const recall = namesRecall ? ". Use memory_query tool with session_id or execution_id to retrieve full details" : "";
  const id = execution === null ? "" : ` (execution_id: ${execution})`;
  return `[Tool ${name}]: ${is_error ? "FAILED" : "OK"} - [Old tool result content cleared${id}${recall}]`;
}

/** How to have all of an item that the view shows by its ends, said in its notice where `memory_query` is offered. */
export function wayBack({ position, tool }: Pick<ItemMeta, "position" | "tool">): string {
  return `memory_query with ${tool ? `execution_id ${tool.execution}` : `from ${position} and to ${position}`} has all`;
}

/** A result as a full view shows it: both ends and what is missing between them. The record keeps all of it. `way`: how to get at it. */
export function shortenToolResult(output: string, chars: number, way: string | null = null): string {
  if (output.length <= chars) return output;
  const half = Math.floor(chars / 2);
  const missing = output.length - 2 * half;
  const notice = `[... ${missing} characters left out of this view ${way === null ? "" : `(${way}) `}...]`;
  return `${headOf(output, half)}\n\n${notice}\n\n${tailOf(output, half)}`;
}
