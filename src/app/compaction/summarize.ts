/** Makes one call to the summariser, with its own deadline. Its text is not streamed to clients; it only reaches the session. */
import { costField } from "../../context/cost";
import { type Quirks, withQuirks } from "../../context/model-quirks";
import type { ModelCall } from "../../domain/commands";
import type { CompactionFailure } from "../../domain/compaction-events";
import type { CallReservation, CallUsage, FinishReason } from "../../domain/model-call";
import { FAILURE_KINDS, type FailureKind } from "../../domain/model-call";
import type { SessionState } from "../../domain/state";
import { assertNever } from "../../lib/assert-never";
import { toErrorName } from "../../lib/error-name";
import { toPlausibleUsage } from "../plausible-usage";
import type { ChatModel, Clock, Log, ModelFailure, ModelRequest, ModelStreamPart } from "../ports";
import { estimateRequest } from "../request/call-need";
import { type SentFailure, toLesson } from "../request/lessons";
import type { RetryBudget } from "../request/retry";
import type { CompactionResult, SummaryOutcome } from "../session-api";
import type { Schedule } from "../session-ports";
import { waitFor } from "../wait";

export interface SummarizePorts {
  readonly model: ChatModel;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly log: Log;
}

interface SummarizeOptions {
  readonly timeoutMs: number;
  /** Ends the call early, because the turn that waits for it was stopped. */
  readonly signal?: AbortSignal;
  /** Whether the request may be sent again after a refusal: it is paid, its result is still wanted, and nothing that it holds was redacted. */
  readonly mayRepeat: () => boolean | Promise<boolean>;
}

/** The most UTF-16 units of a summary: many times what any policy's cap allows. */
const MAX_SUMMARY_UNITS = 200_000;

interface Heard {
  text: string;
  /** UTF-16 units of the whole reply, including thinking and calls. */
  units: number;
  /** The request was handed over to be sent, or the model said something. */
  sent: boolean;
  /** The length of the body that was sent, in UTF-16 units. */
  length: number;
  /** The provider answered with an error in place of a reply. */
  refusal: ModelFailure | null;
  /**
   * The model called a tool. The reply is then no summary, whatever else it says and whatever finish reason the provider names
   * (docs/policy.md, rule 5).
   */
  called: boolean;
  usage: CallUsage | null;
  end:
    | { readonly ok: true; readonly finish: FinishReason }
    | { readonly ok: false; readonly failure: CompactionFailure; readonly retry_after_ms?: number };
}

/** How many refusals may teach something about the endpoint, before the outcome is the refusal. */
const MOST_LESSONS = 3;

/**
 * Aborts the call at its deadline. Never throws. A refusal that teaches how the endpoint takes requests is followed by the same request in
 * that way; one of too many bytes is not, because its request must be planned anew.
 */
export async function summarize(request: ModelRequest, options: SummarizeOptions, ports: SummarizePorts): Promise<SummaryOutcome> {
  const deadline = ports.clock() + options.timeoutMs;
  let learned: Quirks | null = null;
  for (let lessons = 0; ; lessons++) {
    const asked: ModelRequest = learned ? { ...request, model: withQuirks(request.model, learned) } : request;
    const { outcome, refusal } = await summarizeOnce(asked, { ...options, timeoutMs: Math.max(1, deadline - ports.clock()) }, ports);
    const lesson: Quirks | null = refusal && toLesson(asked.model, refusal);
    if (lesson) learned = { ...(learned ?? {}), ...lesson };
    const isOver = !lesson || lesson.max_request_bytes !== undefined || lessons === MOST_LESSONS;
    if (isOver || !(await options.mayRepeat()) || options.signal?.aborted) return learned ? { ...outcome, lesson: learned } : outcome;
  }
}

interface Once {
  readonly outcome: SummaryOutcome;
  /** Null: the call was not refused. */
  readonly refusal: SentFailure | null;
}

async function summarizeOnce(
  request: ModelRequest,
  { timeoutMs, signal }: Omit<SummarizeOptions, "mayRepeat">,
  ports: SummarizePorts,
): Promise<Once> {
  const abort = new AbortController();
  const stop = (): void => abort.abort();
  signal?.addEventListener("abort", stop, { once: true });
  const startedAt = ports.clock();
  const onRequest = (body: string): void => {
    heard.sent = true;
    heard.length = body.length;
  };
  const heard: Heard = {
    text: "",
    units: 0,
    sent: false,
    length: 0,
    refusal: null,
    called: false,
    usage: null,
    end: { ok: false, failure: "unavailable" },
  };
  let expired = false;
  const cancel = ports.schedule(timeoutMs, () => {
    expired = true;
    abort.abort();
  });
  try {
    for await (const chunk of ports.model.stream(request, { signal: abort.signal, onRequest })) {
      take(chunk, heard);
      if (heard.text.length <= MAX_SUMMARY_UNITS) continue;
      abort.abort();
      heard.end = { ok: false, failure: "too_long" };
      break;
    }
  } catch (error) {
    ports.log.error("summarizer_threw", { error: toErrorName(error) });
    heard.end = { ok: false, failure: "internal" };
  } finally {
    cancel();
    signal?.removeEventListener("abort", stop);
  }
  const estimate = estimateRequest(request);
  const usage = toPlausibleUsage(heard.usage, { request, estimate, units: heard.units });
  const call = { model: request.model.id, estimate, usage, ms: ports.clock() - startedAt };
  const isFree = !heard.sent || heard.refusal !== null;
  const spent = { ...call, ...costField({ ...call, isFree }, request.model.prices), ...toReservation(request, isFree) };
  if (expired) return { outcome: { ...spent, ok: false, failure: "timeout" }, refusal: null };
  const { end, text, refusal, length } = heard;
  if (end.ok) return { outcome: { ...spent, ok: true, text, finish: end.finish }, refusal: null };
  return { outcome: { ...spent, ...end }, refusal: refusal && { ...refusal, sent: length } };
}

/** What the call was paid with, and whether it cost nothing. */
const toReservation = ({ reservation: id }: ModelRequest, isFree: boolean): { readonly reservation?: CallReservation } =>
  id === undefined ? {} : { reservation: { id, ...(isFree && { free: true }) } };

const toEnd = ({ kind, retry_after_ms }: ModelFailure): Heard["end"] => ({
  ok: false,
  failure: kind,
  ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
});

function take(chunk: ModelStreamPart, heard: Heard): void {
  if (chunk.type !== "failure") heard.sent = true;
  switch (chunk.type) {
    case "text":
      heard.text += chunk.text;
      heard.units += chunk.text.length;
      return;
    case "reasoning":
      heard.units += chunk.text.length;
      return;
    case "tool_call":
      heard.units += chunk.call.arguments.length;
      heard.called = true;
      return;
    case "failure":
      heard.refusal = heard.units === 0 && chunk.failure.status !== null ? chunk.failure : null;
      heard.end = toEnd(chunk.failure);
      return;
    case "usage":
      heard.usage = chunk.usage;
      return;
    case "finish":
      heard.usage = chunk.usage;
      heard.end = { ok: true, finish: heard.called ? "tool_calls" : chunk.finish };
      return;
    default:
      assertNever(chunk);
  }
}

interface WaitPorts {
  readonly schedule: Schedule;
  readonly random: () => number;
}

interface RetryWait {
  readonly budget: RetryBudget;
  /** The longest wait, in milliseconds. */
  readonly most: number;
  /** Ends the wait, because the summary is no longer wanted. */
  readonly signal: AbortSignal;
}

/**
 * Waits before the next attempt, if the summariser was busy or unreachable. Returns at once when the wait would be too long: the next
 * attempt may ask another model.
 */
export async function waitAfter(
  outcome: SummaryOutcome,
  { budget, most, signal }: RetryWait,
  { schedule, random }: WaitPorts,
): Promise<void> {
  if (outcome.ok || (outcome.failure !== "rate_limit" && outcome.failure !== "unavailable")) return;
  budget.failed(outcome.estimate, outcome.ms);
  const { failure: kind, retry_after_ms } = outcome;
  const failure = { kind, status: null, ...(retry_after_ms === undefined ? {} : { retry_after_ms }) };
  const ms = budget.nextWait(failure, { calls: budget.calls, random });
  if (ms !== null && ms > 0 && ms <= most) await waitFor(ms, signal, schedule);
}

export function compactionCall({ outcome, token }: Pick<CompactionResult, "outcome" | "token">, state: SessionState): ModelCall {
  const { model, estimate, usage, ms, cost, reservation } = outcome;
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
    ...(cost === undefined ? {} : { cost }),
    ...(reservation && { reservation }),
  };
}

/** A failure that we found, not the provider, is recorded as `internal`. */
export const toCallOutcome = (failure: CompactionFailure): ModelCall["outcome"] => (isModelFailure(failure) ? failure : "internal");

const isModelFailure = (failure: CompactionFailure): failure is FailureKind => FAILURE_KINDS.some((kind) => kind === failure);
