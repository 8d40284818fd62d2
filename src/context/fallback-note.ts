/** What takes the place of a summary that could not be had: a note made without a model (Opal compaction, truncate fallback). */
import type { ItemMeta } from "../domain/message";
import { type FileOps, withFileOps } from "./file-ops";

const ROLES = { user: "user", assistant: "assistant", system: "system", tool_call: "tool call", tool_result: "tool result" } as const;

/** `[Compacted N messages: …]` with how many there were of each role, and the files that were touched, within `cap` tokens. */
export function fallbackNote(items: readonly Pick<ItemMeta, "kind">[], files: FileOps, cap: number): string {
  const counts = new Map<string, number>();
  for (const { kind } of items) counts.set(ROLES[kind], (counts.get(ROLES[kind]) ?? 0) + 1);
  const roles = [...counts].map(([role, count]) => `${count} ${role}`).join(", ");
  return withFileOps(`[Compacted ${items.length} messages: ${roles}]`, files, cap);
}
