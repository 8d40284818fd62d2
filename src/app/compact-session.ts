/**
 * The session's side of a compaction: what is to be summarised, who may do it, and whether what came back is a summary.
 * All of it is synchronous but the look-up of the model; state is read after it.
 */

import { limitOf, scaleOf } from "../context/budget";
import { type DraftInput, draftFromRungs, draftFromSummary } from "../context/epoch-draft";
import type { Plan, Rung } from "../context/plan";
import { planCompaction } from "../context/planner";
import { type Policy, policyOf } from "../context/policy";
import { buildSummaryPrompt, renderEntry, SUMMARY_SYSTEM, type TranscriptEntry } from "../context/prompts";
import { checkSummary } from "../context/summary-check";
import { estimateTokens } from "../context/tokens";
import { shortenToolResult } from "../context/tool-results";
import { SUMMARY_JOIN } from "../context/view";
import type { EpochDraft, ModelCall } from "../domain/commands";
import { type CompactionFailure, type CompactionTrigger, FAILURE_KINDS, type FailureKind } from "../domain/events";
import type { CompactionId } from "../domain/ids";
import type { SessionState } from "../domain/state";
import { limitsOf } from "./build-request";
import type { ModelRequest, ModelSpec } from "./ports";
import type { LeaseOutcome, SummaryOutcome } from "./session-api";
import type { SessionContent, SessionPorts } from "./session-ports";

/** A lease outlives the call it is for by this much, so that a result in time is never late. */
const LEASE_MARGIN_MS = 15_000;

type Ports = Pick<SessionPorts, "writer" | "content" | "clock" | "ids" | "log">;

/** After a response: over the threshold, a compaction is asked for (FEAT-011, compact rule 1). True: it was. */
export function requestCompaction(spec: ModelSpec, trigger: CompactionTrigger, ports: Ports): boolean {
  const { writer, clock, ids } = ports;
  if (writer.state.compaction.requested || plan(spec, trigger, writer.state).kind !== "compact") return false;
  const asked = writer.execute({ type: "RequestCompaction", at: clock(), compaction: ids.newId("cmp"), trigger });
  return asked.ok && asked.value.length > 0;
}

const plan = (spec: ModelSpec, trigger: CompactionTrigger, state: SessionState): Plan =>
  planCompaction({ state, limits: limitsOf(spec), policy: policyOf(state.settings.policy), trigger });

/** Hands the plan out under a lease, or says why there is nothing to do. */
export function leaseCompaction(compaction: CompactionId, spec: ModelSpec | null, ports: Ports): LeaseOutcome {
  const { writer, clock } = ports;
  const { requested, lease } = writer.state.compaction;
  if (requested?.id !== compaction) return { kind: "nothing", reason: "over" };
  if (lease && lease.expires_at > clock()) return { kind: "held", until: lease.expires_at };
  const policy = policyOf(writer.state.settings.policy);
  if (!spec) return giveUp(compaction, "unknown_model", ports);
  if (requested.attempts >= policy.attempts) return failLast(compaction, spec, ports);
  const planned = plan(spec, requested.trigger, writer.state);
  const rung = planned.kind === "compact" ? planned.rungs.find((step) => step.rung === "summarize") : undefined;
  if (!rung) return giveUp(compaction, "nothing_to_do", ports);
  const request = buildSummaryRequest(rung, { spec, policy, content: ports.content, scale: scaleOf(writer.state, spec.id) });
  const expiresAt = clock() + policy.summary_timeout_ms + LEASE_MARGIN_MS;
  const ref = { base_epoch: writer.state.view.epoch, range: { from: rung.from, to: rung.to }, replaces: rung.replaces };
  const leased = writer.execute({ type: "LeaseCompaction", at: clock(), compaction, plan: ref, expiresAt, attemptLimit: policy.attempts });
  const token = leased.ok ? writer.state.compaction.lease?.token : undefined;
  return token === undefined
    ? { kind: "nothing", reason: "moved" }
    : { kind: "leased", token, request, timeoutMs: policy.summary_timeout_ms };
}

function giveUp(compaction: CompactionId, failure: CompactionFailure, { writer, clock }: Ports): LeaseOutcome {
  writer.execute({ type: "FailCompaction", at: clock(), compaction, token: null, failure, attemptLimit: 1, call: null, fallback: null });
  return { kind: "nothing", reason: failure };
}

/** Every attempt's lease ran out: the fallback is due, and there is nobody left to report it. */
function failLast(compaction: CompactionId, spec: ModelSpec, ports: Ports): LeaseOutcome {
  const token = ports.writer.state.compaction.lease?.token ?? null;
  recordFailure({ compaction, token, failure: "lease_expired", call: null }, spec, ports);
  return { kind: "nothing", reason: "lease_expired" };
}

/** Room for the instruction, the delimiters and the chat frame around the transcript, in tokens. */
const PROMPT_OVERHEAD = 400;
/** One entry takes at most this share of the transcript: what is longer shows both its ends. */
const ENTRY_SHARE = 1 / 3;

interface SummaryInput {
  readonly spec: ModelSpec;
  readonly policy: Policy;
  readonly content: SessionContent;
  /** Planned tokens for each estimated one. */
  readonly scale: number;
}

/** The transcript, bounded to what the model takes: what is too much goes from the oldest end, and says so. */
function buildSummaryRequest(rung: Extract<Rung, { rung: "summarize" }>, { spec, policy, content, scale }: SummaryInput): ModelRequest {
  const cap = summaryCap(spec, policy);
  const summaries = content.readSummaries();
  const previous = summaries.length > 0 ? summaries.join(SUMMARY_JOIN) : null;
  const limit = limitOf(limitsOf(spec)) ?? Number.POSITIVE_INFINITY;
  const room = (limit - cap - PROMPT_OVERHEAD) / scale - estimateTokens(previous ?? "");
  const transcript = newestWithin(content.readBackwards(rung.source), { room, count: rung.source.to - rung.source.from + 1 });
  const text = buildSummaryPrompt({ previous, transcript });
  const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text }] }];
  return { model: spec, purpose: "compaction", system: SUMMARY_SYSTEM, messages, tools: [], maxOutput: cap };
}

/** Reads no further back than there is room: the history behind it may be long. */
function newestWithin(entries: Iterable<TranscriptEntry>, by: { readonly room: number; readonly count: number }): string[] {
  const lines: string[] = [];
  let used = 0;
  for (const entry of entries) {
    const line = fitEntry(renderEntry(entry), by.room * ENTRY_SHARE);
    used += estimateTokens(line);
    if (used > by.room && lines.length > 0) {
      lines.unshift(`[${by.count - lines.length} earlier entries are left out here.]`);
      break;
    }
    lines.unshift(line);
  }
  return lines;
}

const summaryCap = (spec: ModelSpec, policy: Policy): number => {
  const cap = Math.min(policy.summary_max_tokens, spec.max_output);
  return spec.context_window === null ? cap : Math.min(cap, Math.floor(spec.context_window / 4));
};

function fitEntry(line: string, most: number): string {
  const tokens = estimateTokens(line);
  return tokens <= most ? line : shortenToolResult(line, Math.max(200, Math.floor((line.length * most) / tokens)));
}

type Judged = "done" | "retry" | "stale";

interface Settled {
  readonly compaction: CompactionId;
  readonly token: number;
  readonly outcome: SummaryOutcome;
}

/** Whether it is the newest lease's result: any other decides to nothing. */
export const isCurrent = ({ compaction, token }: Omit<Settled, "outcome">, { compaction: { requested, lease } }: SessionState): boolean =>
  requested?.id === compaction && lease?.token === token;

/**
 * Judges what the summariser brought. `retry`: one more attempt is allowed. What comes to nothing is still a call that was
 * made, and is recorded as one. `spec` null: the model is gone. A current result must not be settled while a turn runs.
 */
export function settleCompaction(settled: Settled, spec: ModelSpec | null, ports: Ports): "done" | "retry" {
  const { writer, clock } = ports;
  const judged = spec && isCurrent(settled, writer.state) ? judge(settled, spec, ports) : "stale";
  if (judged !== "stale") return judged;
  writer.execute({ type: "RecordSpentCall", at: clock(), call: callOf(settled, writer.state) });
  return "done";
}

function judge(settled: Settled, spec: ModelSpec, ports: Ports): Judged {
  const { writer, clock, ids } = ports;
  const { state } = writer;
  const { compaction, token, outcome } = settled;
  const call = callOf(settled, state);
  const { lease } = state.compaction;
  if (!outcome.ok) return recordFailure({ compaction, token, failure: outcome.failure, call }, spec, ports);
  if (!lease) return "stale";
  const replaced = state.view.items.filter((item) => item.position <= lease.range.to).reduce((sum, item) => sum + item.tokens, 0);
  const older = state.view.overlays.reduce((sum, overlay) => sum + overlay.tokens, 0);
  const checked = checkSummary({
    text: outcome.text,
    finish: outcome.finish,
    cap: summaryCap(spec, policyOf(state.settings.policy)),
    replaced: replaced + older,
  });
  if (!checked.ok) return recordFailure({ compaction, token, failure: checked.error, call }, spec, ports);
  const overlay = ids.newId("ovl");
  const input = { ...draftInput(spec, "threshold", ports), summarizer: { model: spec.id, usage: outcome.usage, ms: outcome.ms } };
  const change = draftFromSummary(checked.value, lease, { ...input, overlay });
  const command = { type: "RecordCompaction", at: clock(), compaction, token, change, call } as const;
  return writer.execute(command, [{ id: overlay, text: checked.value.text }]).ok ? "done" : "stale";
}

const draftInput = (spec: ModelSpec, trigger: CompactionTrigger, { writer, ids }: Ports): DraftInput => ({
  state: writer.state,
  model: spec.id,
  trigger,
  newOverlay: () => ids.newId("ovl"),
  summarizer: null,
});

/** A failure, and with the last one the fallback: the oldest groups leave the view, down to the kept budget (FEAT-011). */
function recordFailure(
  failed: { compaction: CompactionId; token: number | null; failure: CompactionFailure; call: ModelCall | null },
  spec: ModelSpec,
  ports: Ports,
): Judged {
  const { writer, clock, log } = ports;
  const policy = policyOf(writer.state.settings.policy);
  const planned = plan(spec, "fallback", writer.state);
  const rungs = planned.kind === "compact" ? planned.fallback : [];
  const fallback: EpochDraft | null = rungs.length > 0 ? draftFromRungs(rungs, draftInput(spec, "fallback", ports)) : null;
  const recorded = writer.execute({ type: "FailCompaction", at: clock(), ...failed, attemptLimit: policy.attempts, fallback });
  if (!recorded.ok) return "stale";
  log.warn("compaction_failed", { compaction: failed.compaction, failure: failed.failure });
  return recorded.value.some((event) => event.type === "CompactionFailed" && !event.final) ? "retry" : "done";
}

function callOf({ outcome, token }: Settled, state: SessionState): ModelCall {
  const { model, estimate, usage, ms } = outcome;
  return {
    turn: null,
    purpose: "compaction",
    model,
    epoch: state.view.epoch,
    up_to: state.next_position - 1,
    usage,
    estimate,
    request_digest: null,
    outcome: outcome.ok ? outcome.finish : toCallOutcome(outcome.failure),
    ms,
    lease: token,
  };
}

/** A call that was never judged by the provider is recorded as ours. */
const toCallOutcome = (failure: CompactionFailure): ModelCall["outcome"] => (isModelFailure(failure) ? failure : "internal");

const isModelFailure = (failure: CompactionFailure): failure is FailureKind => FAILURE_KINDS.some((kind) => kind === failure);
