/** A compaction that failed: one more attempt, or, with the last, what takes the place of a summary that could not be had. */
import { draftFromRungs, draftFromSummary, type SummaryDraft } from "../context/epoch-draft";
import { fallbackNote } from "../context/fallback-note";
import type { CompactPlan } from "../context/plan";
import { policyOf } from "../context/policy-choice";
import { estimateTokens } from "../context/tokens";
import type { EpochDraft, ModelCall, TurnRun } from "../domain/commands";
import type { CompactionFailure } from "../domain/compaction-events";
import type { CompactionId } from "../domain/ids";
import { type CompactionPorts, draftInput, planSession } from "./plan-session";
import type { ModelSpec } from "./ports";
import type { SettleOutcome } from "./session-api";
import type { BodyText } from "./session-ports";
import { capOf } from "./summary-cap";
import { filesOf } from "./summary-files";

interface Failed {
  readonly compaction: CompactionId;
  readonly token: number | null;
  readonly failure: CompactionFailure;
  readonly call: ModelCall | null;
  readonly inside: TurnRun | null;
}

/** A failure, and with the last one the fallback: the oldest groups leave the view, down to the kept budget (FEAT-011). */
export function recordFailure(failed: Failed, spec: ModelSpec, ports: CompactionPorts): SettleOutcome | "stale" {
  const { writer, clock, log } = ports;
  const attemptLimit = policyOf(writer.state.settings.policy).summary.attempts;
  // What was asked for by hand need not be done at any price; what a turn needs, and did in its place, is no such thing.
  const { requested, lease } = writer.state.compaction;
  const byHand = requested?.trigger === "manual" && !(failed.inside && lease?.inline);
  const { change, bodies } = byHand ? NO_FALLBACK : failed.inside ? draftFallbackInside(spec, ports) : draftFallback(spec, ports);
  const recorded = writer.execute({ type: "FailCompaction", at: clock(), ...failed, attemptLimit, fallback: change }, bodies);
  if (!recorded.ok) return "stale";
  log.warn("compaction_failed", { compaction: failed.compaction, failure: failed.failure });
  return { next: recorded.value.some((event) => event.type === "CompactionFailed" && !event.final) ? "retry" : "done" };
}

interface Fallback {
  readonly change: EpochDraft | null;
  readonly bodies: readonly BodyText[];
}

/** Inside a turn the guard drops what must go, and no more; a note, where the policy asks for one, stands for what it covers. */
export function draftFallbackInside(spec: ModelSpec, ports: CompactionPorts): Fallback {
  const notes = policyOf(ports.writer.state.settings.policy).on_failure === "note";
  return notes ? draftFallback(spec, ports) : NO_FALLBACK;
}

const NO_FALLBACK: Fallback = { change: null, bodies: [] };

function draftFallback(spec: ModelSpec, ports: CompactionPorts): Fallback {
  const { writer } = ports;
  const plan = planSession(spec, { trigger: "fallback" }, ports);
  if (plan.kind !== "compact" || plan.fallback.length === 0) return NO_FALLBACK;
  const noted = policyOf(writer.state.settings.policy).on_failure === "note" ? draftNote(plan, spec, ports) : null;
  if (noted) return noted;
  return { change: draftFromRungs(plan.fallback, draftInput(spec, { trigger: "fallback", economy: plan.economy }, ports)), bodies: [] };
}

/** Opal compaction: a note with counts takes the place of the summary that could not be had. */
function draftNote(plan: CompactPlan, spec: ModelSpec, ports: CompactionPorts): Fallback | null {
  const { writer, ids, content } = ports;
  const rung = plan.rungs.find((step) => step.rung === "summarize");
  if (!rung) return null;
  const items = writer.state.view.items.filter((item) => item.position <= rung.range.to && !rung.keeps.includes(item.position));
  const text = fallbackNote(items, filesOf(rung, writer.state, content), capOf(spec, policyOf(writer.state.settings.policy)));
  const summary = { text, tokens: estimateTokens(text) };
  const overlay = ids.newId("ovl");
  const draft: SummaryDraft = { summary, plan: rung, overlay, also: [] };
  return {
    change: draftFromSummary(draft, draftInput(spec, { trigger: "fallback", economy: plan.economy }, ports)),
    bodies: [{ id: overlay, text }],
  };
}
