/** What takes the place of a summary that could not be had: a note made without a model (Opal compaction, truncate fallback). */
import type { SummaryPlan } from "../domain/compaction-events";
import type { ItemMeta } from "../domain/message";
import type { SessionState } from "../domain/state";
import { viewGroups } from "./cut";
import { type FileOps, withFileOps } from "./file-ops";

const ROLES = { user: "user", assistant: "assistant", system: "system", tool_call: "tool call", tool_result: "tool result" } as const;

/** What a note stands for, and where. */
export interface NotePlan {
  readonly plan: SummaryPlan;
  /** What leaves the view now. */
  readonly leaves: readonly ItemMeta[];
  /** How many items had left it before, by being trimmed. */
  readonly trimmed: number;
  /** How many items the earlier notes and summaries stood for that this one takes the place of. */
  readonly compacted: number;
}

/** The note that the policy asks for in place of a summary: it stands for all that the plan covers, earlier notes included. */
export function planChosenNote(plan: SummaryPlan, { view }: SessionState): NotePlan {
  const covered = view.overlays.filter(({ id }) => plan.replaces.includes(id));
  const itemsOf = (kind: "summary" | "dropped"): number =>
    covered.reduce((sum, overlay) => sum + (overlay.kind === kind ? overlay.items : 0), 0);
  return {
    plan: { ...plan, generation: 0, split: null },
    leaves: view.items.filter(({ position }) => position <= plan.range.to && !plan.keeps.includes(position)),
    trimmed: itemsOf("dropped"),
    compacted: itemsOf("summary"),
  };
}

/**
 * The note that takes the place of the summary that was planned. Summaries that stand were paid for: whatever the plan was to fold, they
 * stay, and the note stands for what comes after the newest of them. Null: nothing of that would leave.
 */
export function planNote(asked: SummaryPlan, state: SessionState): NotePlan | null {
  const { overlays, items } = state.view;
  const { to } = asked.range;
  const read = overlays.reduce((end, overlay) => (overlay.kind === "summary" ? Math.max(end, overlay.to) : end), 0);
  // What a summary left standing in its range stays, whole groups of it: the note's range would not cover it.
  const standing = viewGroups(state).flatMap((group) => (group.from <= read ? group.items : []));
  const keeps = new Set([...asked.keeps, ...standing.flatMap(({ position }) => (position <= to ? [position] : []))]);
  const leaves = items.filter(({ position }) => position <= to && !keeps.has(position));
  if (leaves.length === 0) return null;
  const covered = overlays.filter((overlay) => overlay.kind === "dropped" && overlay.from > read && overlay.from <= to);
  const range = { from: Math.max(asked.range.from, read + 1), to };
  const replaces = covered.map(({ id }) => id);
  return {
    plan: { ...asked, range, source: range, replaces, keeps: [...keeps], merge: false, generation: 0, split: null },
    leaves,
    trimmed: covered.reduce((sum, overlay) => sum + overlay.items, 0),
    compacted: 0,
  };
}

/**
 * `[Compacted N messages: …]` with how many there were of each role, and the files that were touched, within `cap` tokens. Of what had been
 * trimmed before, the view knows the number only.
 */
export function fallbackNote(
  { leaves, trimmed, compacted }: Pick<NotePlan, "leaves" | "trimmed"> & Partial<Pick<NotePlan, "compacted">>,
  files: FileOps,
  cap: number,
): string {
  const before = compacted ?? 0;
  const counts = new Map<string, number>();
  for (const { kind } of leaves) counts.set(ROLES[kind], (counts.get(ROLES[kind]) ?? 0) + 1);
  if (trimmed > 0) counts.set("trimmed before", trimmed);
  if (before > 0) counts.set("compacted before", before);
  const roles = [...counts].map(([role, count]) => `${count} ${role}`).join(", ");
  return withFileOps(`[Compacted ${leaves.length + trimmed + before} messages: ${roles}]`, files, cap);
}
