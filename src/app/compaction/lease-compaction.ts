/** Hands out a compaction's plan under a lease, to a queue worker or to the turn that waits for the summary. */
import { INSTRUCTION_TOKENS } from "../../context/economy";
import type { CompactPlan, SummarizeRung } from "../../context/plan";
import { renderEntry } from "../../context/prompts";
import { toSummaryCap } from "../../context/proposal";
import { toContentBytes } from "../../context/request-bytes";
import { PADDING, Sizing } from "../../context/sizing";
import { estimateTokens } from "../../context/tokens";
import { attemptsUnder } from "../../domain/breaker";
import type { CompactionPlanRef, TurnRun } from "../../domain/commands";
import type { CompactionFailure, InlineWork, SummaryPlan } from "../../domain/compaction-events";
import type { RequestedCompaction } from "../../domain/compaction-work";
import type { CompactionId } from "../../domain/ids";
import type { SessionState } from "../../domain/state";
import type { CallNeed } from "../call-charge";
import type { ChunkRequest } from "../chunk-request";
import type { ModelSpec } from "../ports";
import { applyRungs, toAssumedLimits, toModelLimits } from "../request/build-request";
import { toRequestNeed } from "../request/call-need";
import type { LeaseOutcome } from "../session-api";
import type { SessionPorts } from "../session-ports";
import { buildChosenNote, type PlannedNote } from "./note-change";
import { type CompactionPorts, optionsFor, planSession, policyUnderWay } from "./plan-session";
import { recordFailure } from "./record-failure";
import { allowedOutput, nextSummarizer, planInstructions, type SummarizerCandidates, toAttemptLimit } from "./summarizers";
import { buildChunkRequest } from "./summary-request";

/**
 * `inline`: the turn that waits for the compaction; it takes over the request and a running lease (docs/compaction-protocol.md). Null for
 * a worker.
 */
interface Leasing {
  readonly inline: InlineWork | null;
}

export type LeasePorts = CompactionPorts & { readonly budgets: Pick<SessionPorts["budgets"], "applies" | "hold" | "release"> };

/** The call is not paid: what it needs must be obtained first. Nothing was changed. */
interface Unpaid {
  readonly kind: "unpaid";
  readonly need: CallNeed;
}

/** Hands out the plan under a lease, or returns why there is nothing to do. */
export function leaseCompaction(
  compaction: CompactionId,
  candidates: SummarizerCandidates | null,
  ports: LeasePorts,
  { inline }: Leasing = { inline: null },
): LeaseOutcome | Unpaid {
  const { writer, clock } = ports;
  const { requested, lease } = writer.state.compaction;
  if (requested?.id !== compaction) return { kind: "nothing", reason: "over" };
  if (lease && lease.expires_at > clock() && !inline) return { kind: "held", until: lease.expires_at };
  const policy = policyUnderWay(writer.state);
  if (!candidates || !isModelAvailable(requested, candidates)) return giveUp(compaction, "unknown_model", ports);
  if (!inline && isSpent(requested, writer.state, candidates)) return failLast(compaction, candidates, ports);
  const summarizer = nextSummarizer(requested, writer.state, candidates);
  const chosen = choosePlan({ requested, inline, summarizer }, candidates.spec, ports);
  if ("kind" in chosen) return chosen;
  const ref: CompactionPlanRef = { base_epoch: writer.state.view.epoch, ...chosen };
  const build = () => buildChunkRequest({ plan: ref, state: writer.state, spec: candidates.spec, summarizer, content: ports.content });
  const paid = payForChunk(build, inline, ports);
  if (paid.kind === "unpaid") return paid;
  const attemptLimit = inline ? attemptsUnder(writer.state.compaction, requested.attempts + 1) : toAttemptLimit(writer.state, candidates);
  const expiresAt = leaseUntil(clock(), policy.summary.timeout_ms);
  const command = { type: "LeaseCompaction", at: clock(), compaction, plan: ref, expiresAt, attemptLimit, inline } as const;
  const leased = executePaid(() => writer.execute(command), paid.reservation, ports);
  const token = leased.ok ? writer.state.compaction.lease?.token : undefined;
  if (token === undefined) return { kind: "nothing", reason: "moved" };
  return { kind: "leased", token, part: withReservation(build(), paid.reservation), timeoutMs: policy.summary.timeout_ms };
}

/** Reserves nothing, so that a lease ends where its call would be paid. */
const UNPAID: Pick<SessionPorts["budgets"], "applies" | "hold" | "release"> = {
  applies: () => true,
  hold: () => ({ kind: "short" }),
  release: () => {},
};

/** What the next call of a compaction may use. Null: it asks no model. It may end the compaction: run it in a transaction that is undone. */
export function measureNextCall(compaction: CompactionId, candidates: SummarizerCandidates, ports: CompactionPorts): CallNeed | null {
  const leased = leaseCompaction(compaction, candidates, { ...ports, budgets: UNPAID });
  return leased.kind === "unpaid" ? leased.need : null;
}

type PaidChunk = { readonly kind: "paid"; readonly reservation: number | null } | Unpaid;

/** Reserves what the chunk's call may cost. Without a budget nothing is built for it. */
export function payForChunk(build: () => ChunkRequest, inline: InlineWork | null, { budgets, writer }: LeasePorts): PaidChunk {
  const need = budgets.applies("compaction")
    ? { ...toRequestNeed(build().request, writer.state), ...(inline ? {} : { byWorker: true as const }) }
    : NOTHING_NEEDED;
  const held = budgets.hold(need);
  return held.kind === "short" ? { kind: "unpaid", need } : { kind: "paid", reservation: held.reservation };
}

const NOTHING_NEEDED: CallNeed = { purpose: "compaction", input: 0, output: 0 };

/** Runs the command that goes with a reservation. Where it has no effect, the reservation ends. */
function executePaid<T extends { readonly ok: boolean }>(work: () => T, reservation: number | null, { budgets }: LeasePorts): T {
  let isDone = false;
  try {
    const done = work();
    isDone = done.ok;
    return done;
  } finally {
    if (!isDone) budgets.release(reservation);
  }
}

export const withReservation = (part: ChunkRequest, reservation: number | null): ChunkRequest =>
  reservation === null ? part : { ...part, request: { ...part.request, reservation } };

/** Ends a compaction that no budget pays for, with its fallback: the steps without a model. During a turn of which it is no part this waits. */
export function failUnpaid(
  compaction: CompactionId,
  candidates: SummarizerCandidates,
  ports: CompactionPorts & { readonly inside: TurnRun | null },
): LeaseOutcome {
  const { inside } = ports;
  const failed = recordFailure({ compaction, token: null, failure: "budget", call: null, inside }, candidates, ports);
  return { kind: "nothing", reason: failed === "stale" ? "waits_for_turn_end" : "budget" };
}

/** A model that a person named must be available: no other model is asked in its place. */
const isModelAvailable = ({ options }: RequestedCompaction, { summarizers }: SummarizerCandidates): boolean =>
  options?.model === undefined || summarizers.some(({ id }) => id === options.model);

interface Choosing extends Leasing {
  readonly requested: RequestedCompaction;
  /** The model of this attempt. */
  readonly summarizer: ModelSpec;
}

/**
 * Plans for the current view. A chunked summary continues where it stopped if the plan is the same or only reads more at its end
 * (`evolve-compaction`).
 */
function choosePlan({ requested, inline, summarizer }: Choosing, spec: ModelSpec, ports: CompactionPorts): SummaryPlan | LeaseOutcome {
  const { id: compaction, folded, options } = requested;
  const trigger = inline?.trigger ?? requested.trigger;
  const plan = planSession(spec, { trigger, options: optionsFor(trigger, requested) }, ports);
  // A turn that finds nothing to do must not end a compaction that was requested before it.
  if (plan.kind !== "compact") return inline ? { kind: "nothing", reason: "nothing_to_do" } : giveUp(compaction, "nothing_to_do", ports);
  const rung = plan.rungs.find((step) => step.rung === "summarize");
  const isNote = policyUnderWay(ports.writer.state).summary.form === "note";
  // Only the session's own model can read the turn's prefix, and only in the first attempt. The policy's first model may have been skipped
  // as unknown or too small.
  const isFirst = requested.attempts === 0 && folded === null && summarizer.id === spec.id;
  if (rung && !isNote) {
    const { state } = ports.writer;
    const instructed = planInstructions(requested, state, { spec, summarizer, policy: policyUnderWay(state) });
    const asked = (options?.instructions?.tokens ?? 0) + (instructed.instructions?.tokens ?? 0);
    return { ...toSummaryPlan(rung, isFirst && fitsSamePrefix(rung, { spec, asked }, ports), ports), ...instructed };
  }
  // A person can only edit a summary, and this plan has none.
  if (options?.draft) return giveUp(compaction, "nothing_to_do", ports);
  commitAtOnce(plan, { spec, compaction, inline }, ports);
  return { kind: "nothing", reason: "no_model_needed" };
}

interface AtOnce extends Leasing {
  readonly spec: ModelSpec;
  readonly compaction: CompactionId;
}

/**
 * Commits a plan without a model, between turns only: during a turn the guard does that work. The exception is the policy's note for a turn
 * that waits for a summary.
 */
function commitAtOnce(plan: CompactPlan, { spec, compaction, inline }: AtOnce, ports: CompactionPorts): void {
  const rung = plan.rungs.find((step) => step.rung === "summarize");
  if (ports.writer.state.turn && !(rung && inline)) return;
  if (rung) return commitNote({ ...plan, rung }, { spec, compaction }, ports);
  applyRungs(plan, { trigger: plan.trigger, limits: toModelLimits(spec), compaction }, ports);
}

/** Commits the policy's note in the summary's place at once, because no model has to answer first. */
function commitNote(plan: PlannedNote, { spec, compaction }: Omit<AtOnce, "inline">, ports: CompactionPorts): void {
  const { writer, clock } = ports;
  const note = buildChosenNote(plan, spec, ports);
  if (!note) return void giveUp(compaction, "not_smaller", ports);
  writer.execute({ type: "ChangeEpoch", at: clock(), compaction, trigger: plan.trigger, change: note.change }, note.bodies);
}

/** Asks for a transcript after a failure, and when the turn's own prefix leaves no room for the answer. */
function toSummaryPlan(rung: SummarizeRung, mayReadPrefix: boolean, ports: CompactionPorts): SummaryPlan {
  const { range, source, replaces, keeps, merge, generation, split } = rung;
  const plan = { range, source, replaces, keeps, merge, generation, split, mode: mayReadPrefix ? rung.mode : "transcript" };
  return rung.reread > 0 ? withReread(plan, rung.reread, ports) : plan;
}

/**
 * Extends the source backwards from the end of the newest summary, by at most `most` tokens of transcript. It measures the items it reads,
 * because the state does not know their weight.
 */
function withReread(plan: SummaryPlan, most: number, { writer, content }: CompactionPorts): SummaryPlan {
  const newest = writer.state.view.overlays.findLast(({ kind }) => kind === "summary");
  if (!newest) return plan;
  let used = 0;
  let reread_from: number | null = null;
  for (const entry of content.readBackwards({ from: plan.range.from, to: newest.to })) {
    used += estimateTokens(renderEntry(entry));
    if (used > most) break;
    reread_from = entry.meta.position;
  }
  if (reread_from === null) return plan;
  const from = Math.min(plan.source.from, reread_from);
  return { ...plan, source: { ...plan.source, from }, reread_from };
}

/**
 * Whether the turn's own request up to the cut, plus instruction and answer, fits the window and the bound in bytes, by the guard's
 * measure.
 */
function fitsSamePrefix(
  { range }: SummarizeRung,
  { spec, asked }: { readonly spec: ModelSpec; readonly asked: number },
  { writer }: CompactionPorts,
): boolean {
  const { state } = writer;
  const policy = policyUnderWay(state);
  const limits = toAssumedLimits(spec, policy);
  const sizing = new Sizing(state, spec);
  if (sizing.bytes(range.to) > toContentBytes(limits)) return false;
  const instruction = (INSTRUCTION_TOKENS + asked) * Math.max(PADDING, sizing.padded);
  return sizing.upTo(range.to) + instruction + allowedOutput(toSummaryCap(limits, policy), spec) <= (limits.window ?? 0);
}

function giveUp(compaction: CompactionId, failure: CompactionFailure, { writer, clock }: CompactionPorts): LeaseOutcome {
  writer.execute({
    type: "FailCompaction",
    at: clock(),
    compaction,
    token: null,
    failure,
    attemptLimit: 1,
    call: null,
    fallback: null,
    inside: null,
  });
  return { kind: "nothing", reason: failure };
}

const isSpent = ({ attempts }: RequestedCompaction, state: SessionState, candidates: SummarizerCandidates): boolean =>
  attempts >= toAttemptLimit(state, candidates);

/** Ends a compaction whose attempts all expired without a report, with its fallback. During a turn this waits for the turn's end. */
function failLast(compaction: CompactionId, candidates: SummarizerCandidates, ports: CompactionPorts): LeaseOutcome {
  const token = ports.writer.state.compaction.lease?.token ?? null;
  const failed = recordFailure({ compaction, token, failure: "lease_expired", call: null, inside: null }, candidates, ports);
  return { kind: "nothing", reason: failed === "stale" ? "waits_for_turn_end" : "lease_expired" };
}

/** Runs between turns: ends a compaction whose attempts are all spent and that no worker holds, with its fallback. */
export function failExhaustedCompaction(candidates: SummarizerCandidates, ports: CompactionPorts): void {
  const { state } = ports.writer;
  const { requested, lease } = state.compaction;
  if (!requested || (lease && lease.expires_at > ports.clock())) return;
  if (isSpent(requested, state, candidates)) failLast(requested.id, candidates, ports);
}

/** A lease outlives its call by this time, so that a result that comes in time is never late. */
const LEASE_MARGIN_MS = 15_000;

/** When a lease for a call of `timeoutMs` ends, in epoch milliseconds. */
export const leaseUntil = (now: number, timeoutMs: number): number => now + timeoutMs + LEASE_MARGIN_MS;
