/**
 * The queue consumer's story: ask the session for the plan at the moment of work, summarise, hand the outcome back.
 * The session owns the attempts and judges the summary; whatever is lost, doubled or late here is harmless.
 */
import { estimateParts } from "../context/item-tokens";
import { estimateTokens } from "../context/tokens";
import type { CallUsage, CompactionFailure, FinishReason } from "../domain/events";
import { assertNever } from "../lib/assert-never";
import type { ChatModel, Clock, CompactionJob, Log, ModelChunk, ModelRequest } from "./ports";
import type { SessionApi, SummaryOutcome } from "./session-api";
import type { Schedule } from "./session-ports";

export interface CompactionPorts {
  readonly session: Pick<SessionApi, "leaseCompaction" | "recordCompaction">;
  readonly model: ChatModel;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly log: Log;
}

/** Leases at most, whatever the policy's attempts: a bound on this loop, not a rule of the protocol. */
const LEASES_PER_JOB = 5;

/** A summary at most, in UTF-16 units: many times what any policy's cap allows. */
const MAX_SUMMARY_UNITS = 200_000;

/** What to do with the queue message: it is a wake-up, so `done` covers every end but a held lease. */
export type JobOutcome = { readonly kind: "done" } | { readonly kind: "again"; readonly at: number };

export async function runCompaction(job: CompactionJob, ports: CompactionPorts): Promise<JobOutcome> {
  for (let round = 0; round < LEASES_PER_JOB; round++) {
    const lease = await ports.session.leaseCompaction(job, job.compaction);
    if (!lease.ok) return { kind: "done" };
    if (lease.value.kind === "held") return { kind: "again", at: lease.value.until };
    if (lease.value.kind === "nothing") return { kind: "done" };
    const { token, request, timeoutMs } = lease.value;
    const outcome = await summarize(request, timeoutMs, ports);
    if (!outcome.ok) ports.log.warn("summary_failed", { session: job.session, compaction: job.compaction, failure: outcome.failure });
    const recorded = await ports.session.recordCompaction(job, { compaction: job.compaction, token, outcome });
    if (!recorded.ok || recorded.value.next === "done") return { kind: "done" };
  }
  return { kind: "done" };
}

interface Heard {
  text: string;
  usage: CallUsage | null;
  end: { readonly ok: true; readonly finish: FinishReason } | { readonly ok: false; readonly failure: CompactionFailure };
}

/** One call of the summariser, aborted at its deadline. Never throws. */
async function summarize(request: ModelRequest, timeoutMs: number, ports: CompactionPorts): Promise<SummaryOutcome> {
  const abort = new AbortController();
  const startedAt = ports.clock();
  const heard: Heard = { text: "", usage: null, end: { ok: false, failure: "unavailable" } };
  let expired = false;
  const cancel = ports.schedule(timeoutMs, () => {
    expired = true;
    abort.abort();
  });
  try {
    for await (const chunk of ports.model.stream(request, { signal: abort.signal })) {
      take(chunk, heard);
      if (heard.text.length <= MAX_SUMMARY_UNITS) continue;
      abort.abort();
      heard.end = { ok: false, failure: "too_long" };
      break;
    }
  } catch (error) {
    ports.log.error("summarizer_threw", { error: error instanceof Error ? error.name : "unknown" });
    heard.end = { ok: false, failure: "internal" };
  } finally {
    cancel();
  }
  const spent = { model: request.model.id, estimate: estimateRequest(request), usage: heard.usage, ms: ports.clock() - startedAt };
  if (expired) return { ...spent, ok: false, failure: "timeout" };
  const { end, text } = heard;
  return end.ok ? { ...spent, ok: true, text, finish: end.finish } : { ...spent, ok: false, failure: end.failure };
}

const estimateRequest = ({ system, messages }: ModelRequest): number =>
  messages.reduce((sum, message) => sum + estimateParts(message.parts), estimateTokens(system ?? ""));

function take(chunk: ModelChunk, heard: Heard): void {
  switch (chunk.type) {
    case "text":
      heard.text += chunk.text;
      return;
    case "reasoning":
      return;
    case "tool_call":
      heard.end = { ok: false, failure: "refused" };
      return;
    case "failure":
      heard.end = { ok: false, failure: chunk.failure.kind };
      return;
    case "finish":
      heard.usage = chunk.usage;
      heard.end = { ok: true, finish: chunk.finish };
      return;
    default:
      assertNever(chunk);
  }
}
