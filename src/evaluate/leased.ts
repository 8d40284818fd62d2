/** A compaction of a played session under way: its lease, the change that its summary makes, and its commit. */

import { buildChangeFromSummary, type SummaryText } from "../context/epoch-change";
import type { CompactPlan, Rung, SummarizeRung } from "../context/plan";
import type { TokenCounts } from "../contract/evaluation";
import type { EpochChange, TurnRun } from "../domain/commands";
import type { SummaryPlan } from "../domain/compaction-events";
import type { CompactionId, OverlayId } from "../domain/ids";
import type { ItemMeta } from "../domain/message";
import type { SummaryPorts } from "./summary-cost";

export interface Work {
  readonly plan: CompactPlan;
  readonly compaction: CompactionId;
  readonly ports: SummaryPorts;
}

export interface Lease {
  readonly rung: SummarizeRung;
  readonly summarized: SummaryPlan & { readonly base_epoch: number };
  readonly token: number;
}

const LEASE_MS = 60_000;

export const toLeasedPlan = ({ range, source, replaces, keeps, merge, generation, split, mode }: SummarizeRung): SummaryPlan => ({
  range,
  source,
  replaces,
  keeps,
  merge,
  generation,
  split,
  mode,
});

/** The other rungs of the plan, which the same change carries out. */
export const besideSummary = ({ rungs }: CompactPlan): readonly Rung[] => rungs.filter((step) => step.rung !== "summarize");

export function lease(rung: SummarizeRung, { compaction, ports: { session, policy } }: Work): Lease {
  const summarized = { ...toLeasedPlan(rung), base_epoch: session.state.view.epoch };
  session.execute({
    at: session.now,
    type: "LeaseCompaction",
    compaction,
    plan: summarized,
    expiresAt: session.now + LEASE_MS,
    attemptLimit: policy.summary.attempts,
    inline: null,
  });
  const held = session.state.compaction.lease;
  if (!held) throw new Error("The session holds no lease after LeaseCompaction.");
  return { rung, summarized, token: held.token };
}

/** The input from which every change of the view is drafted. */
export const toReplayChangeInput = ({ plan, ports: { session, limits } }: Pick<Work, "plan" | "ports">) => ({
  state: session.state,
  limits,
  trigger: plan.trigger,
  economy: plan.economy,
  now: session.now,
  newOverlay: () => session.newId("ovl"),
  read: (item: ItemMeta) => session.read(item),
});

export interface Written {
  readonly overlay: OverlayId;
  readonly summary: SummaryText;
  readonly spent: TokenCounts;
  readonly attempts: number;
}

export function changeBy({ overlay, summary, spent, attempts }: Written, { summarized }: Lease, work: Work): EpochChange {
  const also = besideSummary(work.plan);
  const usage = { ...spent, reasoning: 0 };
  const summarizer = { model: work.ports.limits.model.id, usage, ms: 0, cost: null, attempts };
  return buildChangeFromSummary({ summary, plan: summarized, overlay, also }, { ...toReplayChangeInput(work), summarizer });
}

export function commit(change: EpochChange, { token }: Lease, { compaction, ports: { session } }: Work): void {
  const inside = toWaitingTurn(session.state.turn);
  session.execute({ at: session.now, type: "RecordCompaction", compaction, token, change, call: null, inside });
}

/** The turn that waits for the compaction; null when none does. */
export const toWaitingTurn = (turn: Work["ports"]["session"]["state"]["turn"]): TurnRun | null =>
  turn ? { turn: turn.id, incarnation: turn.incarnation } : null;
