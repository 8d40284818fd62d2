/**
 * The queue consumer's story: ask the session for the plan at the moment of work, summarise, hand the outcome back.
 * The session owns the attempts and judges the summary; whatever is lost, doubled or late here is harmless.
 */
import type { CompactionJob } from "../ports";
import { Efforts, PATIENCE_MS } from "../retry";
import type { SessionApi, SummaryOutcome } from "../session-api";
import { type SummarizePorts, summarize } from "./summarize";
import { waitAfter } from "./summary-wait";

export interface CompactionPorts extends SummarizePorts {
  readonly session: Pick<SessionApi, "leaseCompaction" | "recordCompaction">;
  /** From 0 to below 1: how long a retry waits. */
  readonly random: () => number;
}

/** Leases at most, whatever the policy's attempts: a bound on this loop, not a rule of the protocol. */
const LEASES_PER_JOB = 5;

/** What to do with the queue message: it is a wake-up, so `done` covers every end but a held lease. */
export type JobOutcome = { readonly kind: "done" } | { readonly kind: "again"; readonly at: number };

export async function runCompaction(job: CompactionJob, ports: CompactionPorts): Promise<JobOutcome> {
  const waiting = { efforts: new Efforts(), most: PATIENCE_MS, signal: new AbortController().signal };
  for (let round = 0; round < LEASES_PER_JOB; round++) {
    const lease = await ports.session.leaseCompaction(job, job.compaction);
    if (!lease.ok) return { kind: "done" };
    if (lease.value.kind === "held") return { kind: "again", at: lease.value.until };
    if (lease.value.kind === "nothing") return { kind: "done" };
    const failed = await workOff(job, lease.value, ports);
    if (!failed) return { kind: "done" };
    await waitAfter(failed, waiting, ports);
  }
  return { kind: "done" };
}

type Leased = Extract<Awaited<ReturnType<SessionApi["leaseCompaction"]>>, { ok: true }>["value"] & { kind: "leased" };

/** All parts of one lease; how many there are at most is the session's to say. What it returns failed, and one more attempt is allowed. */
async function workOff(job: CompactionJob, lease: Leased, ports: CompactionPorts): Promise<SummaryOutcome | null> {
  let { part, timeoutMs } = lease;
  for (;;) {
    const outcome = await summarize(part.request, { timeoutMs }, ports);
    if (!outcome.ok) ports.log.warn("summary_failed", { session: job.session, compaction: job.compaction, failure: outcome.failure });
    const settled = { compaction: job.compaction, token: lease.token, outcome, part: part.part, next: part.next };
    const recorded = await ports.session.recordCompaction(job, settled);
    if (!recorded.ok) return null;
    if (recorded.value.next !== "continue") return recorded.value.next === "retry" ? outcome : null;
    ({ part, timeoutMs } = recorded.value);
  }
}
