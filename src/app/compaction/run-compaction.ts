/**
 * The queue consumer's story: ask the session for the plan at the moment of work, summarise, hand the outcome back.
 * The session owns the attempts and judges the summary; whatever is lost, doubled or late here is harmless.
 */
import type { CompactionJob } from "../ports";
import { Efforts, PATIENCE_MS } from "../request/retry";
import type { SessionApi, SummaryOutcome } from "../session-api";
import { type SummarizePorts, summarize, waitAfter } from "./summarize";

interface ConsumerPorts extends SummarizePorts {
  readonly session: Pick<SessionApi, "leaseCompaction" | "recordCompaction">;
  /** From 0 to below 1: how long a retry waits. */
  readonly random: () => number;
}

/** Leases at most, whatever the policy's attempts: a bound on this loop, not a rule of the protocol. */
const LEASES_PER_JOB = 5;

/** A consumer has 15 minutes. A fold whose next part may not end within them is given back, and goes on with a job of its own, which is no further attempt. */
const JOB_MS = 14 * 60_000;

/**
 * What to do with the queue message: it is a wake-up, so `done` covers every end but a held lease (`again`) and a fold that is not at its end
 * (`unfinished`: parts were kept, and the lease is free).
 */
type JobOutcome = { readonly kind: "done" | "unfinished" } | { readonly kind: "again"; readonly at: number };

export async function runCompaction(job: CompactionJob, ports: ConsumerPorts): Promise<JobOutcome> {
  const waiting = { efforts: new Efforts(), most: PATIENCE_MS, signal: new AbortController().signal };
  const until = ports.clock() + JOB_MS;
  for (let round = 0; round < LEASES_PER_JOB; round++) {
    const lease = await ports.session.leaseCompaction(job, job.compaction);
    if (!lease.ok) return { kind: "done" };
    if (lease.value.kind === "held") return { kind: "again", at: lease.value.until };
    if (lease.value.kind === "nothing") return { kind: "done" };
    const failed = await workOff(job, { lease: lease.value, until }, ports);
    if (failed === "later") return { kind: "unfinished" };
    if (!failed) return { kind: "done" };
    await waitAfter(failed, waiting, ports);
  }
  return { kind: "done" };
}

type Leased = Extract<Awaited<ReturnType<SessionApi["leaseCompaction"]>>, { ok: true }>["value"] & { kind: "leased" };

interface Work {
  readonly lease: Leased;
  readonly until: number;
}

/** The parts of one lease, while there is time for one more. An outcome that it returns is a failure, and one more attempt is allowed. */
async function workOff(job: CompactionJob, { lease, until }: Work, ports: ConsumerPorts): Promise<SummaryOutcome | "later" | null> {
  let { part, timeoutMs } = lease;
  for (;;) {
    const outcome = await summarize(part.request, { timeoutMs }, ports);
    if (!outcome.ok) ports.log.warn("summary_failed", { session: job.session, compaction: job.compaction, failure: outcome.failure });
    const leaves = ports.clock() + timeoutMs >= until && { leaves: true as const };
    const settled = { compaction: job.compaction, token: lease.token, outcome, part: part.part, next: part.next, ...leaves };
    const recorded = await ports.session.recordCompaction(job, settled);
    if (!recorded.ok) return null;
    const { value } = recorded;
    if (value.next === "later") return "later";
    if (value.next !== "continue") return value.next === "retry" ? outcome : null;
    ({ part, timeoutMs } = value);
  }
}
