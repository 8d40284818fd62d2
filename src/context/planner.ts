/**
 * What to compact: pure, from state and policy to a plan. The same function is the dry run. A plan is data; carrying
 * it out is `app`'s, and every rung names exactly what it touches.
 */
import type { Overlay } from "../domain/events";
import type { SessionState } from "../domain/state";
import { type ModelLimits, measureNext, scaleOf } from "./budget";
import { cutIndex, viewGroups, weigh } from "./cut";
import { dropRungs } from "./drop";
import type { Group } from "./groups";
import type { Plan, PlanInput, Rung } from "./plan";
import type { Policy } from "./policy";

/** Tokens above which compaction starts; null with an unknown window (FEAT-011, compact rule 3). */
export const thresholdOf = (limits: ModelLimits, policy: Policy): number | null =>
  limits.window === null ? null : Math.floor(limits.window * policy.trigger_ratio);

/** The background compaction: summarise what lies before the kept tail, or drop it if no summary can be had. */
export function planCompaction(input: PlanInput): Plan {
  const { state, limits, policy, trigger } = input;
  const next = measureNext(state, limits.model);
  const threshold = thresholdOf(limits, policy);
  if (threshold === null || limits.window === null) return { kind: "none", reason: "unknown_window", next };
  if (trigger === "threshold" && next.tokens <= threshold) return { kind: "none", reason: "below_threshold", next };
  const keep = Math.floor(limits.window * policy.keep_ratio);
  const groups = viewGroups(state);
  const older = groups.slice(0, cutIndex(state, groups, { keep, scale: scaleOf(state, limits.model) }));
  const summarize = summarizeRung(state, groups, older.length);
  if (!summarize) return { kind: "none", reason: "nothing_older", next };
  const fallback = dropRungs(state, older);
  return { kind: "compact", trigger, base_epoch: state.view.epoch, next, rungs: [summarize], fallback };
}

function summarizeRung(state: SessionState, groups: readonly Group[], cut: number): Rung | null {
  const older = groups.slice(0, cut);
  const last = older.at(-1);
  if (!last || older.some((group) => !group.closed)) return null;
  const { overlays } = state.view;
  const summary = overlays.findLast((overlay) => overlay.kind === "summary");
  const from = Math.min(overlays[0]?.from ?? last.from, older[0]?.from ?? last.from);
  // Trimmed items have no summary yet: they are read again from the record.
  const source = { from: summary ? summary.to + 1 : from, to: last.to };
  return {
    rung: "summarize",
    from,
    to: last.to,
    source,
    replaces: overlays.filter((overlay) => overlay.from <= last.to).map((overlay) => overlay.id),
    items: countOf(overlays, last.to) + older.reduce((sum, group) => sum + group.items.length, 0),
    tokens: older.reduce((sum, group) => sum + weigh(state, group), 0),
    boundary_timestamp: groups[cut]?.items[0]?.at ?? last.items.at(-1)?.at ?? 0,
  };
}

const countOf = (overlays: readonly Overlay[], to: number): number =>
  overlays.filter((overlay) => overlay.from <= to).reduce((sum, overlay) => sum + overlay.items, 0);
