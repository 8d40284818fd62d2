/**
 * Plans a rebuild: the existing summaries are made again as one, from the items that they cover, by a better model or
 * other rules. Nothing else leaves the view, and what each summary left in the view stays. A person requests it, so its
 * economy is not judged.
 */
import { toSizing } from "./budget";
import type { Plan, PlanInput, SummarizeRung } from "./plan";
import { FIRST_SUMMARY_SHARE, toSummaryCap } from "./proposal";
import { type Measure, measureWithout } from "./sizing";

export function planRebuild(input: PlanInput, next: Measure): Plan {
  const { state, policy } = input;
  if (policy.summary.form === "none" || policy.summary.form === "note") return { kind: "none", reason: "not_by_policy", next };
  const rung = rebuildRung(input);
  if (!rung) return { kind: "none", reason: "no_summary", next };
  const expected = measureWithout(next, rung.gain);
  const asked = { kind: "compact", trigger: "manual", base_epoch: state.view.epoch } as const;
  return { ...asked, next, expected, rungs: [rung], fallback: [], economy: null, breaker_open: false };
}

function rebuildRung({ state, policy, limits }: PlanInput): SummarizeRung | null {
  const { overlays, items } = state.view;
  const newest = overlays.findLast((overlay) => overlay.kind === "summary");
  if (!newest) return null;
  // Items that were trimmed before the end of the newest summary go into the new one, as when a chain is merged.
  const covered = overlays.filter((overlay) => overlay.from <= newest.to);
  const from = covered.reduce((least, overlay) => Math.min(least, overlay.from), newest.from);
  const to = covered.reduce((most, overlay) => Math.max(most, overlay.to), newest.to);
  const chain = covered.reduce((sum, overlay) => sum + overlay.tokens, 0);
  const share = state.compaction.summary_share ?? FIRST_SUMMARY_SHARE;
  const count = covered.reduce((sum, overlay) => sum + overlay.items, 0);
  // The state keeps no weight of items that left the view. Each counts as the average of the items that are shown.
  const tokens = Math.ceil((count * (state.view.tokens - chain)) / Math.max(1, items.length));
  const expected = Math.ceil(Math.min(toSummaryCap(limits, policy), tokens * share));
  const staying = items.filter(({ position }) => position <= to);
  return {
    rung: "summarize",
    range: { from, to },
    source: { from, to },
    replaces: covered.map(({ id }) => id),
    keeps: staying.map(({ position }) => position),
    reread: 0,
    merge: false,
    generation: 0,
    split: null,
    mode: "transcript",
    items: count,
    tokens,
    expected,
    boundary_timestamp: items.find(({ position }) => position > to)?.at ?? staying.at(-1)?.at ?? 0,
    gain: toSizing({ state, limits }).gain(Math.max(0, chain - expected)),
    reason: "made anew from the record",
  };
}
