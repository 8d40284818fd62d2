/**
 * Judging what the summariser brought. A part of a fold is kept and asked on; a complete summary is committed if it is one
 * and the view gets smaller by it; anything else is a failure, and with the last one the fallback runs. Synchronous.
 */
import { ratioOf } from "../../context/budget";
import { withFileOps } from "../../context/file-ops";
import { joinStages } from "../../context/prompts";
import { measuredFor } from "../../context/start-ratio";
import { type AcceptedSummary, checkSummary } from "../../context/summary-check";
import { estimateTokens } from "../../context/tokens";
import type { ModelCall, TurnRun } from "../../domain/commands";
import type { CompactionFailure, FoldedPart } from "../../domain/compaction-events";
import type { OverlayId } from "../../domain/ids";
import { type CompactionLease, type SessionState, triggerOfWork } from "../../domain/state";
import { summarizerOf } from "../request/build-request";
import { draftText } from "../request/drafts";
import type { Settled, SettleOutcome, SummaryOutcome } from "../session-api";
import type { FoldNext } from "../summary-part";
import { changeFromSummary } from "./change-from-summary";
import { filesOf } from "./draft-note";
import { giveBack } from "./give-back";
import { leaseUntil } from "./lease-compaction";
import { type CompactionPorts, optionsFor, policyUnderWay } from "./plan-session";
import { recordFailure } from "./record-failure";
import { compactionCall } from "./summarize";
import { answerCapOf, type Cast, capOf, summarizerNamed } from "./summarizers";
import { buildSummaryPart, partsDone } from "./summary-request";

/** The turn that waits for it. */
export type Inside = TurnRun;

interface Settling extends Settled {
  /** Null: it takes effect between turns only, and none runs. */
  readonly inside: Inside | null;
}

type Accepted = Extract<SummaryOutcome, { ok: true }>;

/** Whether it is the newest lease's result: any other decides to nothing. */
export const isCurrentLease = (
  { compaction, token }: Pick<Settled, "compaction" | "token">,
  { compaction: { requested, lease } }: SessionState,
): boolean => requested?.id === compaction && lease?.token === token;

/** What comes to nothing is still a call that was made, and is recorded as one. `cast` null: the model is gone. */
export function settleCompaction(settled: Settling, cast: Cast | null, ports: CompactionPorts): SettleOutcome {
  const { writer, clock } = ports;
  const isCurrent = isCurrentLease(settled, writer.state);
  // A part of a fold that is done, delivered again: its call is in the ledger, and the next part's is under way.
  if (isCurrent && settled.part < partsDone(writer.state)) return { next: "done" };
  if (isCurrent && !cast) return { next: giveBack(settled, ports) };
  const judged = isCurrent && cast ? judge(settled, { cast, ports }) : "stale";
  if (judged !== "stale") return judged;
  writer.execute({ type: "RecordSpentCall", at: clock(), call: compactionCall(settled, writer.state), part: settled.part });
  return { next: "done" };
}

function judge(settled: Settling, world: World): SettleOutcome | "stale" {
  const { cast, ports } = world;
  const { state } = ports.writer;
  const { compaction, token, outcome, inside } = settled;
  const call = compactionCall(settled, state);
  const fail = (failure: CompactionFailure): SettleOutcome | "stale" =>
    recordFailure({ compaction, token, failure, call, inside }, cast, ports);
  if (!outcome.ok) return fail(outcome.failure);
  const { lease } = state.compaction;
  if (!lease) return "stale";
  const checked = check(outcome, lease, { cast, state });
  if (!checked.ok) return fail(checked.error);
  if (settled.next) return goOn(settled, { summary: checked.value, next: settled.next, lease, call }, world);
  const summary = completeSummary(checked.value.text, lease, world);
  const committed = commit(settled, { summary, lease, call }, world);
  return committed === "not_smaller" ? fail(committed) : committed;
}

/** By what its writer was told, and by that model's own tokens. */
function check(
  { text, finish, model }: Accepted,
  lease: CompactionLease,
  { cast, state }: { readonly cast: Cast; readonly state: SessionState },
): ReturnType<typeof checkSummary> {
  const policy = policyUnderWay(state);
  const summarizer = summarizerNamed(model, lease.attempt, cast);
  const cap = answerCapOf({ plan: lease, spec: cast.spec, summarizer, policy });
  const ratio = ratioOf(measuredFor(state, summarizer), summarizer.id);
  return checkSummary({ text, finish, form: policy.summary.form, cap, ratio });
}

/** It is a part of a fold, and one that is kept. */
export function isPartDone({ outcome, next }: Settled, cast: Cast, state: SessionState): boolean {
  const { lease } = state.compaction;
  return next !== null && lease !== null && outcome.ok && check(outcome, lease, { cast, state }).ok;
}

interface World {
  readonly cast: Cast;
  readonly ports: CompactionPorts;
}

interface PartDone {
  readonly summary: AcceptedSummary;
  readonly next: FoldNext;
  readonly lease: CompactionLease;
  readonly call: ModelCall;
}

/** Keeps the part, durably, and asks for the next one under the same token. */
function goOn({ compaction, token, outcome, leaves }: Settled, done: PartDone, { cast, ports }: World): SettleOutcome | "stale" {
  const { writer, clock, ids, content } = ports;
  const { timeout_ms: timeoutMs } = policyUnderWay(writer.state).summary;
  const { ref, bodies } = draftText(done.summary.text, ids);
  const before = writer.state.compaction.requested?.folded ?? null;
  if (!ref) return "stale";
  // The fold moves from what came before a split turn to the turn's own beginning.
  const entered = done.next.stage === "prefix" && done.next.position === done.lease.split && done.next.chars === 0;
  const part: FoldedPart = {
    summary: ref,
    stage: done.next.stage,
    history: entered ? ref : (before?.history ?? null),
    position: done.next.position,
    chars: done.next.chars,
    parts: (before?.parts ?? 0) + 1,
  };
  const expiresAt = leaseUntil(clock(), timeoutMs);
  const kept = writer.execute({ type: "ProgressCompaction", at: clock(), compaction, token, expiresAt, part, call: done.call }, bodies);
  if (!kept.ok) return "stale";
  if (leaves) {
    giveBack({ compaction, token, outcome: null, part: part.parts }, ports);
    return { next: "later" };
  }
  const summarizer = summarizerNamed(outcome.model, done.lease.attempt, cast);
  const next = buildSummaryPart({ plan: done.lease, state: writer.state, spec: cast.spec, summarizer, content });
  return { next: "continue", part: next, timeoutMs };
}

/** Both stages of a split turn as one text, with the files that the conversation touched, within the cap. */
function completeSummary(text: string, lease: CompactionLease, { cast: { spec }, ports: { writer, content } }: World): AcceptedSummary {
  const folded = writer.state.compaction.requested?.folded ?? null;
  const history = folded?.history ? content.readText(folded.history.body) : null;
  const cap = capOf(spec, policyUnderWay(writer.state));
  const whole = withFileOps(joinStages(history, text), filesOf(lease, writer.state, content), cap);
  return { text: whole, tokens: estimateTokens(whole) };
}

interface Committing {
  readonly summary: AcceptedSummary;
  readonly lease: CompactionLease;
  readonly call: ModelCall;
}

/** It takes effect, or, asked for as a draft, it is kept for a person. */
function commit(settled: Settling, made: Committing, { cast: { spec }, ports }: World): SettleOutcome | "not_smaller" | "stale" {
  const { writer, clock, ids } = ports;
  const { state } = writer;
  const { requested } = state.compaction;
  const { summary, lease, call } = made;
  const trigger = requested ? triggerOfWork(requested, lease) : "threshold";
  const options = optionsFor(trigger, requested);
  const overlay = ids.newId("ovl");
  const { change, isWorthIt } = changeFromSummary(
    { summary, plan: lease, overlay, trigger, options, summarizer: summarizerOf(state, call) },
    spec,
    ports,
  );
  if (!isWorthIt) return "not_smaller";
  if (requested?.options?.draft) return keepDraft(settled, { ...made, overlay }, ports);
  const { compaction, token, inside } = settled;
  const command = { type: "RecordCompaction", at: clock(), compaction, token, change, call, inside } as const;
  return writer.execute(command, [{ id: overlay, text: summary.text }]).ok ? { next: "done" } : "stale";
}

function keepDraft(
  { compaction, token }: Settling,
  { summary, call, overlay }: Committing & { readonly overlay: OverlayId },
  { writer, clock, ids }: CompactionPorts,
): SettleOutcome | "stale" {
  const { ref, bodies } = draftText(summary.text, ids);
  if (!ref) return "stale";
  const command = { type: "RecordDraft", at: clock(), compaction, token, overlay, summary: ref, call } as const;
  return writer.execute(command, bodies).ok ? { next: "done" } : "stale";
}
