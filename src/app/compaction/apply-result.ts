/**
 * Judges a summariser's result. A chunk is kept, and the next one is requested; a complete summary is committed if it is
 * acceptable and makes the view smaller; anything else is a failure, and the last failure brings the fallback. Synchronous.
 */
import { withFileOps } from "../../context/file-ops";
import { joinStages } from "../../context/prompts";
import { redactSecrets } from "../../context/redact-secrets";
import { Sizing } from "../../context/sizing";
import { type AcceptedSummary, checkSummary } from "../../context/summary-check";
import { estimateTokens } from "../../context/tokens";
import type { ModelCall, TurnRun } from "../../domain/commands";
import type { ChunkProgress, CompactionFailure } from "../../domain/compaction-events";
import { type CompactionLease, triggerOfWork } from "../../domain/compaction-work";
import type { OverlayId } from "../../domain/ids";
import type { SessionState } from "../../domain/state";
import type { NextChunk } from "../chunk-request";
import { buildTextBody } from "../request/build-items";
import { toSummarizerReceipt } from "../request/build-request";
import type { ApplyOutcome, CompactionResult, SummaryOutcome } from "../session-api";
import type { SessionPorts } from "../session-ports";
import { changeFromSummary } from "./change-from-summary";
import { type LeasePorts, leaseUntil, payForChunk, withReservation } from "./lease-compaction";
import { collectTouchedFiles } from "./note-change";
import { type CompactionPorts, optionsFor, policyUnderWay } from "./plan-session";
import { recordFailure } from "./record-failure";
import { releaseLease } from "./release-lease";
import { compactionCall } from "./summarize";
import { type SummarizerCandidates, summarizerNamed, toAnswerCap, toModelSummaryCap } from "./summarizers";
import { buildChunkRequest, countDoneChunks } from "./summary-request";

/** The turn that waits for the compaction. */
export type WaitingTurn = TurnRun;

interface ResultToApply extends CompactionResult {
  /** Null: no turn waits, so the result takes effect only between turns. */
  readonly inside: WaitingTurn | null;
}

export type ResultPorts = LeasePorts & Pick<SessionPorts, "lessons">;

type Accepted = Extract<SummaryOutcome, { ok: true }>;

/** Whether the result belongs to the newest lease. Any other result changes nothing. */
export const isCurrentLease = (
  { compaction, token }: Pick<CompactionResult, "compaction" | "token">,
  { compaction: { requested, lease } }: SessionState,
): boolean => requested?.id === compaction && lease?.token === token;

/** Judges a result. A call whose result is not used is still recorded in the ledger. `candidates` null: the session's model is gone. */
export function applyCompactionResult(result: ResultToApply, candidates: SummarizerCandidates | null, ports: ResultPorts): ApplyOutcome {
  const { writer, clock } = ports;
  const { model, lesson } = result.outcome;
  if (lesson) ports.lessons.note(model, lesson);
  const isCurrent = isCurrentLease(result, writer.state);
  // A finished chunk was delivered twice: its call is recorded already, and the next part's call is running.
  if (isCurrent && result.part < countDoneChunks(writer.state)) return { next: "done" };
  if (isCurrent && !candidates) return { next: releaseLease(result, ports) };
  const judged = isCurrent && candidates ? applyCurrentResult(result, { candidates, ports }) : "stale";
  if (judged !== "stale") return judged;
  writer.execute({ type: "RecordSpentCall", at: clock(), call: compactionCall(result, writer.state), part: result.part });
  return { next: "done" };
}

function applyCurrentResult(result: ResultToApply, world: World): ApplyOutcome | "stale" {
  const { candidates, ports } = world;
  const { state } = ports.writer;
  const { compaction, token, outcome, inside } = result;
  const call = compactionCall(result, state);
  const fail = (failure: CompactionFailure): ApplyOutcome | "stale" =>
    recordFailure({ compaction, token, failure, call, inside }, candidates, ports);
  if (!outcome.ok) return fail(outcome.failure);
  const { lease } = state.compaction;
  if (!lease) return "stale";
  const checked = check({ ...outcome, text: withoutSecrets(outcome.text, state) }, lease, { candidates, state });
  if (!checked.ok) return fail(checked.error);
  if (result.next) return keepChunk(result, { summary: checked.value, next: result.next, lease, call }, world);
  const summary = completeSummary(checked.value.text, lease, world);
  const committed = commit(result, { summary, lease, call }, world);
  return committed === "not_smaller" ? fail(committed) : committed;
}

/** A summariser may write a secret that it was not shown, such as one that it read in two halves. */
const withoutSecrets = (text: string, state: SessionState): string =>
  policyUnderWay(state).summary.redact === "off" ? text : redactSecrets(text).text;

/** Checks the summary against the cap that its writer was given, in that model's own tokens. */
function check(
  { text, finish, model }: Accepted,
  lease: CompactionLease,
  { candidates, state }: { readonly candidates: SummarizerCandidates; readonly state: SessionState },
): ReturnType<typeof checkSummary> {
  const policy = policyUnderWay(state);
  const summarizer = summarizerNamed(model, lease.attempt, candidates);
  const cap = toAnswerCap({ plan: lease, spec: candidates.spec, summarizer, policy });
  const { ratio } = new Sizing(state, summarizer);
  return checkSummary({ text, finish, form: policy.summary.form, cap, ratio });
}

/** Whether the result is a chunk that will be kept. */
export function isChunkAccepted({ outcome, next }: CompactionResult, candidates: SummarizerCandidates, state: SessionState): boolean {
  const { lease } = state.compaction;
  return next !== null && lease !== null && outcome.ok && check(outcome, lease, { candidates, state }).ok;
}

interface World {
  readonly candidates: SummarizerCandidates;
  readonly ports: LeasePorts;
}

interface AcceptedChunk {
  readonly summary: AcceptedSummary;
  readonly next: NextChunk;
  readonly lease: CompactionLease;
  readonly call: ModelCall;
}

/** Stores the part durably and builds the next one, under the same token. */
function keepChunk(
  { compaction, token, outcome, leaves }: CompactionResult,
  done: AcceptedChunk,
  { candidates, ports }: World,
): ApplyOutcome | "stale" {
  const { writer, clock, ids, content } = ports;
  const { timeout_ms: timeoutMs } = policyUnderWay(writer.state).summary;
  const { ref, bodies } = buildTextBody(done.summary.text, ids);
  const before = writer.state.compaction.requested?.folded ?? null;
  if (!ref) return "stale";
  // The chunked summary moves on from the history before a split turn to the beginning of that turn.
  const entered = done.next.stage === "prefix" && done.next.position === done.lease.split && done.next.chars === 0;
  const part: ChunkProgress = {
    summary: ref,
    stage: done.next.stage,
    history: entered ? ref : (before?.history ?? null),
    position: done.next.position,
    chars: done.next.chars,
    parts: (before?.parts ?? 0) + 1,
  };
  const expiresAt = leaseUntil(clock(), timeoutMs);
  const inline = done.lease.inline;
  const kept = writer.execute({ type: "ProgressCompaction", at: clock(), compaction, token, expiresAt, part, call: done.call }, bodies);
  if (!kept.ok) return "stale";
  const summarizer = summarizerNamed(outcome.model, done.lease.attempt, candidates);
  const build = () => buildChunkRequest({ plan: done.lease, state: writer.state, spec: candidates.spec, summarizer, content });
  const paid = leaves ? null : payForChunk(build, inline, ports);
  // A part that is not paid is asked for under another lease, before which it is paid.
  if (paid?.kind !== "paid") {
    releaseLease({ compaction, token, outcome: null, part: part.parts }, ports);
    return { next: "later" };
  }
  return { next: "continue", part: withReservation(build(), paid.reservation), timeoutMs };
}

/** Joins both stages of a split turn into one text, with the list of files that the conversation touched, within the cap. */
function completeSummary(
  text: string,
  lease: CompactionLease,
  { candidates: { spec }, ports: { writer, content } }: World,
): AcceptedSummary {
  const folded = writer.state.compaction.requested?.folded ?? null;
  const history = folded?.history ? content.readText(folded.history.body) : null;
  const cap = toModelSummaryCap(spec, policyUnderWay(writer.state));
  const joined = withFileOps(joinStages(history, text), collectTouchedFiles(lease, writer.state, content), cap);
  const whole = withoutSecrets(joined, writer.state);
  return { text: whole, tokens: estimateTokens(whole) };
}

interface Committing {
  readonly summary: AcceptedSummary;
  readonly lease: CompactionLease;
  readonly call: ModelCall;
}

/** Commits the summary, or keeps it as a draft if one was asked for. */
function commit(result: ResultToApply, made: Committing, { candidates: { spec }, ports }: World): ApplyOutcome | "not_smaller" | "stale" {
  const { writer, clock, ids } = ports;
  const { state } = writer;
  const { requested } = state.compaction;
  const { summary, lease, call } = made;
  const trigger = requested ? triggerOfWork(requested, lease) : "threshold";
  const options = optionsFor(trigger, requested);
  const overlay = ids.newId("ovl");
  const { change, isWorthIt } = changeFromSummary(
    { summary, plan: lease, overlay, trigger, options, summarizer: toSummarizerReceipt(state, call) },
    spec,
    ports,
  );
  if (!isWorthIt) return "not_smaller";
  if (requested?.options?.draft) return keepDraft(result, { ...made, overlay }, ports);
  const { compaction, token, inside } = result;
  const command = { type: "RecordCompaction", at: clock(), compaction, token, change, call, inside } as const;
  return writer.execute(command, [{ id: overlay, text: summary.text }]).ok ? { next: "done" } : "stale";
}

function keepDraft(
  { compaction, token }: ResultToApply,
  { summary, call, overlay }: Committing & { readonly overlay: OverlayId },
  { writer, clock, ids }: CompactionPorts,
): ApplyOutcome | "stale" {
  const { ref, bodies } = buildTextBody(summary.text, ids);
  if (!ref) return "stale";
  const command = { type: "RecordDraft", at: clock(), compaction, token, overlay, summary: ref, call } as const;
  return writer.execute(command, bodies).ok ? { next: "done" } : "stale";
}
