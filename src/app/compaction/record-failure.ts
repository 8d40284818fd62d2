/** Records a failed attempt: another attempt follows, or, after the last one, a fallback takes the summary's place. */
import { buildChangeFromRungs } from "../../context/epoch-change";
import { planNote } from "../../context/fallback-note";
import type { CompactPlan } from "../../context/plan";
import { toPolicy } from "../../context/policy-choice";
import type { EpochChange, ModelCall, TurnRun } from "../../domain/commands";
import type { CompactionFailure } from "../../domain/compaction-events";
import type { CompactionId } from "../../domain/ids";
import type { ModelSpec } from "../ports";
import { toChangeInput, toModelLimits, toSummarizerReceipt } from "../request/build-request";
import type { ApplyOutcome } from "../session-api";
import type { BodyText } from "../session-ports";
import { buildNoteChange, type Noting } from "./note-change";
import { type CompactionPorts, planSession } from "./plan-session";
import { type SummarizerCandidates, toAttemptLimit } from "./summarizers";

interface Failed {
  readonly compaction: CompactionId;
  readonly token: number | null;
  readonly failure: CompactionFailure;
  readonly call: ModelCall | null;
  readonly inside: TurnRun | null;
}

/**
 * Records a failure. With the last attempt it adds the fallback: the oldest groups leave the view, down to the kept budget
 * (docs/policy.md, how far to drop).
 */
export function recordFailure(failed: Failed, candidates: SummarizerCandidates, ports: CompactionPorts): ApplyOutcome | "stale" {
  const { writer, clock, log } = ports;
  const attemptLimit = toAttemptLimit(writer.state, candidates);
  const { change, bodies } = chooseFallback(failed, candidates.spec, ports);
  const recorded = writer.execute({ type: "FailCompaction", at: clock(), ...failed, attemptLimit, fallback: change }, bodies);
  if (!recorded.ok) return "stale";
  log.warn("compaction_failed", { compaction: failed.compaction, failure: failed.failure });
  return { next: recorded.value.some((event) => event.type === "CompactionFailed" && !event.final) ? "retry" : "done" };
}

interface Fallback {
  readonly change: EpochChange | null;
  readonly bodies: readonly BodyText[];
}

function chooseFallback({ inside, call }: Failed, spec: ModelSpec, ports: CompactionPorts): Fallback {
  // A manual compaction has no fallback, because nothing had to leave the view. One that a turn took over does.
  const { requested, lease } = ports.writer.state.compaction;
  if (requested?.trigger === "manual" && !(inside && lease?.inline)) return NO_FALLBACK;
  return inside ? buildFallbackInTurn(spec, ports, call) : buildFallback(spec, ports, call);
}

/**
 * The fallback during a turn. The policy's note covers its range; without a note there is no fallback, because the guard drops no more than
 * it must.
 */
export function buildFallbackInTurn(spec: ModelSpec, ports: CompactionPorts, call: ModelCall | null = null): Fallback {
  const notes = toPolicy(ports.writer.state.settings.policy).on_failure === "note";
  return notes ? buildFallback(spec, ports, call) : NO_FALLBACK;
}

const NO_FALLBACK: Fallback = { change: null, bodies: [] };

/** `call`: the last attempt's call, whose cost is part of the receipt. */
function buildFallback(spec: ModelSpec, ports: CompactionPorts, call: ModelCall | null): Fallback {
  const { writer } = ports;
  const plan = planSession(spec, { trigger: "fallback" }, ports);
  if (plan.kind !== "compact" || plan.fallback.length === 0) return NO_FALLBACK;
  const summarizer = toSummarizerReceipt(writer.state, call);
  // The plan's economy is that of a summary, so it does not apply to a fallback.
  const input = toChangeInput({ limits: toModelLimits(spec), trigger: "fallback", summarizer }, ports);
  const noted = toPolicy(writer.state.settings.policy).on_failure === "note" ? noteFor(plan, { spec, input }, ports) : null;
  return noted ?? { change: buildChangeFromRungs(plan.fallback, input), bodies: [] };
}

/** A note with counts in place of the summary that could not be made. Null when it has nothing to cover. */
function noteFor(plan: CompactPlan, by: Omit<Noting, "also">, ports: CompactionPorts): Fallback | null {
  const rung = plan.rungs.find((step) => step.rung === "summarize");
  const note = rung ? planNote(rung, ports.writer.state) : null;
  return note && buildNoteChange(note, { ...by, also: [] }, ports);
}
