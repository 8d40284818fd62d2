/** A note in place of a summary, made without a model: as the policy's form of summary, or as a fallback when no summary could be made. */
import type { SummaryPlan } from "../domain/compaction-events";
import type { ItemMeta } from "../domain/message";
import type { SessionState } from "../domain/state";
import { viewGroups } from "./cut";
import { type FileOps, withFileOps } from "./file-ops";

const ROLES = { user: "user", assistant: "assistant", system: "system", tool_call: "tool call", tool_result: "tool result" } as const;

/** What a note covers, and where it stands. */
export interface NotePlan {
  readonly plan: SummaryPlan;
  /** Items that leave the view with this change. */
  readonly leaves: readonly ItemMeta[];
  /** Number of items that were trimmed from the view before. */
  readonly trimmed: number;
  /** Number of items that the earlier notes and summaries covered which this note replaces. */
  readonly compacted: number;
}

/** The note that `summary.form: note` asks for. It covers everything that the plan covers, including earlier notes. */
export function planChosenNote(plan: SummaryPlan, { view }: SessionState): NotePlan {
  const covered = view.overlays.filter(({ id }) => plan.replaces.includes(id));
  const countItems = (kind: "summary" | "dropped"): number =>
    covered.reduce((sum, overlay) => sum + (overlay.kind === kind ? overlay.items : 0), 0);
  return {
    plan: { ...plan, generation: 0, split: null },
    leaves: view.items.filter(({ position }) => position <= plan.range.to && !plan.keeps.includes(position)),
    trimmed: countItems("dropped"),
    compacted: countItems("summary"),
  };
}

/**
 * The note that replaces a planned summary as a fallback. Existing summaries were paid for, so they stay even if the
 * plan was to merge them, and the note covers what comes after the newest of them. Null when nothing after it would
 * leave the view.
 */
export function planNote(asked: SummaryPlan, state: SessionState): NotePlan | null {
  const { overlays, items } = state.view;
  const { to } = asked.range;
  const read = overlays.reduce((end, overlay) => (overlay.kind === "summary" ? Math.max(end, overlay.to) : end), 0);
  // Items that a summary left in its range stay, with their whole groups, because the note's range would not cover them.
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
 * Renders `[Compacted N messages: …]` with the number of messages per role and the files that were touched, in at most
 * `cap` tokens. Of messages that were trimmed before, the view knows only the number.
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
