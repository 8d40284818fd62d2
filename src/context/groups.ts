/**
 * Exchange groups: what must never be separated. A group is one message of the user, or one response of the
 * assistant with all its tool calls and all their results (docs/field.md, lesson 1).
 */
import type { ItemMeta } from "../domain/message";

export interface Group {
  readonly items: readonly ItemMeta[];
  readonly from: number;
  readonly to: number;
  /** Starts with a message of the user. */
  readonly isUser: boolean;
  /** No call of it is still open. */
  readonly closed: boolean;
}

/**
 * A response begins with its text, or, when it has none, with its first call: one that does not follow the text or a call
 * of the same turn, or of the same imported message, right away. What another turn or message left unanswered is a
 * response of its own.
 */
export function startsGroup(item: ItemMeta, previous: ItemMeta | undefined): boolean {
  if (!previous) return true;
  if (item.kind === "tool_result") return false;
  if (item.kind !== "tool_call" || (previous.kind !== "tool_call" && previous.kind !== "assistant")) return true;
  if (previous.position !== item.position - 1 || previous.turn !== item.turn) return true;
  return item.turn === null && !item.continues;
}

/** `items` in order of position, cut into groups. `openCalls`: executions whose results are still owed. */
export function groupItems(items: readonly ItemMeta[], openCalls: ReadonlySet<string>): Group[] {
  const runs: ItemMeta[][] = [];
  for (const [index, item] of items.entries()) {
    const run = runs.at(-1);
    if (!run || startsGroup(item, items[index - 1])) runs.push([item]);
    else run.push(item);
  }
  return runs.flatMap((run) => {
    const first = run[0];
    const last = run.at(-1);
    if (!first || !last) return [];
    const closed = !run.some((item) => item.kind === "tool_call" && item.tool && openCalls.has(item.tool.execution));
    return [{ items: run, from: first.position, to: last.position, isUser: first.kind === "user", closed }];
  });
}
