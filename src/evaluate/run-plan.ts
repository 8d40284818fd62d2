/** Carries out a plan on a played session. Leases and commits are real; of a summary only the length is. */
import { buildChangeFromRungs, buildChangeFromSummary } from "../context/epoch-change";
import { planChosenNote } from "../context/fallback-note";
import type { CompactPlan, SummarizeRung } from "../context/plan";
import { besideSummary, changeBy, commit, lease, toLeasedPlan, toReplayChangeInput, type Work } from "./leased";
import { type PlanResult, WITHOUT_MODEL } from "./plan-result";
import type { Summariser } from "./summariser";
import { SummaryAttempts } from "./summary-attempts";
import { type SummaryPorts, splitSource, summarySource, transcriptCost } from "./summary-cost";

interface PlanRunPorts extends SummaryPorts {
  /** Null when every summary has its expected length and none fails. */
  readonly summariser: Summariser | null;
}

export function runPlan(plan: CompactPlan, { summariser, ...ports }: PlanRunPorts): PlanResult {
  const { session } = ports;
  const { trigger } = plan;
  const compaction = session.newId("cmp");
  const rung = plan.rungs.find((step) => step.rung === "summarize");
  if (!rung) {
    const change = buildChangeFromRungs(plan.rungs, { ...toReplayChangeInput({ plan, ports }), summarizer: null });
    session.execute({ at: session.now, type: "ChangeEpoch", compaction, trigger, change });
    return { ...WITHOUT_MODEL, change: plan.rungs.some((step) => step.rung === "drop") ? "drop" : "other" };
  }
  const work = { plan, compaction, ports };
  if (ports.policy.summary.form === "note") return takeNote(rung, work);
  session.execute({ at: session.now, type: "RequestCompaction", compaction, trigger, options: null });
  return summariser ? new SummaryAttempts(summariser, work).run(rung) : summariseIdeally(rung, work);
}

/** Estimated tokens of a note: its counts and a few files. */
const NOTE_TOKENS = 80;

function takeNote(rung: SummarizeRung, work: Work): PlanResult {
  const { plan, compaction, ports } = work;
  const { session } = ports;
  const overlay = session.newId("ovl");
  const note = planChosenNote(toLeasedPlan(rung), session.state);
  const summary = session.keepSummary(overlay, { tokens: NOTE_TOKENS, range: rung.range });
  const drafted = { summary, plan: { ...note.plan, mode: null }, overlay, also: besideSummary(plan) };
  const change = buildChangeFromSummary(drafted, { ...toReplayChangeInput(work), summarizer: null });
  session.execute({ at: session.now, type: "ChangeEpoch", compaction, trigger: plan.trigger, change });
  return { ...WITHOUT_MODEL, change: "summary" };
}

function summariseIdeally(rung: SummarizeRung, work: Work): PlanResult {
  const { session, readPrefix } = work.ports;
  const leased = lease(rung, work);
  const source = summarySource(rung, work.ports);
  const isTranscript = rung.mode === "transcript";
  const spent = isTranscript ? transcriptCost(source) : { ...readPrefix(rung.range.to), output: source.expected };
  const overlay = session.newId("ovl");
  const summary = session.keepSummary(overlay, { tokens: source.expected, range: rung.range });
  commit(changeBy({ overlay, summary, spent, attempts: 1 }, leased, work), leased, work);
  return { spent, calls: isTranscript ? splitSource(source).length : 1, failures: 0, change: "summary" };
}
