/** Cuts oversized tool results when they are recorded, and renders the placeholders that a view shows in their place. Never throws. */
import type { ExecutionId } from "../domain/ids";
import type { ItemMeta, ToolResultPart } from "../domain/message";

/** Default maximum length of a recorded result, in UTF-16 units. */
export const TOOL_RESULT_MAX_CHARS = 30_000;

/** The marker after a cut result. Where its sources differ, docs/policy.md says which wording holds. */
const marker = (kept: number, total: number): string => `\n\n[... content truncated, showing first ${kept} of ${total} characters ...]`;

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** The longest start of `text` of at most `length` UTF-16 units that does not end inside a surrogate pair. */
export function takeHead(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length);
}

/** The longest end of `text` of at most `length` UTF-16 units that does not begin inside a surrogate pair. */
export function takeTail(text: string, length: number): string {
  if (text.length <= length) return text;
  const start = text.length - length;
  return text.slice(isHighSurrogate(text.charCodeAt(start - 1)) ? start + 1 : start);
}

/** `output` as it is stored: whole up to `limit` UTF-16 units, else its head and the marker. */
export function truncateToolResult(output: string, limit: number = TOOL_RESULT_MAX_CHARS): string {
  if (output.length <= limit) return output;
  return takeHead(output, limit) + marker(limit, output.length);
}

/** The placeholder of a cleared result. The wording is preset `odincode`'s, word for word, where `memory_query` is offered. */
export function clearedToolResult(
  { name, is_error }: Pick<ToolResultPart, "name" | "is_error">,
  execution: ExecutionId | null,
  namesRecall: boolean,
): string {
  const recall = namesRecall ? ". Use memory_query tool with session_id or execution_id to retrieve full details" : "";
  const id = execution === null ? "" : ` (execution_id: ${execution})`;
  return `[Tool ${name}]: ${is_error ? "FAILED" : "OK"} - [Old tool result content cleared${id}${recall}]`;
}

/** How to retrieve all of an item that the view shows by its ends. The item's notice says so where `memory_query` is offered. */
export function wayBack({ position, tool }: Pick<ItemMeta, "position" | "tool">): string {
  return `memory_query with ${tool ? `execution_id ${tool.execution}` : `from ${position} and to ${position}`} has all`;
}

/**
 * A result as a view shows it when it is shortened: both ends, and a notice of what is missing between them. The record
 * keeps everything. `way`: how to retrieve it (`wayBack`).
 */
export function shortenToolResult(output: string, chars: number, way: string | null = null): string {
  if (output.length <= chars) return output;
  const half = Math.floor(chars / 2);
  const missing = output.length - 2 * half;
  const notice = `[... ${missing} characters left out of this view ${way === null ? "" : `(${way}) `}...]`;
  return `${takeHead(output, half)}\n\n${notice}\n\n${takeTail(output, half)}`;
}
