/**
 * What the queue consumer does with a job: asks the session for the plan, summarises, and returns the outcome. The session counts the
 * attempts and judges the summary, so a lost, repeated or late message does no harm.
 *
 * A turn has its own loop over leases and parts (`app/turn/make-room`). Here each step is a call to the object and the queue's time ends
 * the loop; there a step must not await between its check and its command, and the turn or its deadline ends it. One loop for both would
 * take a callback for each of these differences, and be longer than the two.
 */
import type { CompactionJob } from "../ports";
import { PATIENCE_MS, RetryBudget } from "../request/retry";
import type { SessionApi, SummaryOutcome } from "../session-api";
import { type SummarizePorts, summarize, waitAfter } from "./summarize";

interface ConsumerPorts extends SummarizePorts {
  readonly session: Pick<SessionApi, "leaseCompaction" | "holdsLease" | "recordCompaction">;
  /** True while the tenant is suspended. Then no further part is asked for. */
  readonly isSuspended: () => Promise<boolean>;
  /** A random number from 0 to below 1, for the wait before a retry. */
  readonly random: () => number;
}

/** The most leases per job, whatever the policy's attempts. It bounds this loop, and is no rule of the protocol. */
const LEASES_PER_JOB = 5;

/**
 * A consumer has 15 minutes. A chunked summary whose next chunk may not end in time is given back, and continues as a new job without
 * counting as an attempt.
 */
const JOB_MS = 14 * 60_000;

/**
 * What to do with the queue message. `done`: acknowledge it; this covers all other endings, since the message is only a wake-up. `again`:
 * another worker holds the lease. `unfinished`: chunks were kept, and the lease is free.
 */
type JobOutcome = { readonly kind: "done" | "unfinished" } | { readonly kind: "again"; readonly at: number };

export async function runCompaction(job: CompactionJob, ports: ConsumerPorts): Promise<JobOutcome> {
  const waiting = { budget: new RetryBudget(), most: PATIENCE_MS, signal: new AbortController().signal };
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

/** Summarises the parts of one lease, while there is time for another part. Returns the failed outcome when one more attempt is allowed. */
async function workOff(job: CompactionJob, { lease, until }: Work, ports: ConsumerPorts): Promise<SummaryOutcome | "later" | null> {
  let { part, timeoutMs } = lease;
  const held = { compaction: job.compaction, token: lease.token };
  const mayRepeat = async (): Promise<boolean> => {
    const { reservation } = part.request;
    const holds = await ports.session.holdsLease(job, { ...held, reservation }).catch(() => null);
    return holds?.ok === true && holds.value;
  };
  for (;;) {
    const outcome = await summarize(part.request, { timeoutMs, mayRepeat }, ports);
    if (!outcome.ok) ports.log.warn("summary_failed", { session: job.session, compaction: job.compaction, failure: outcome.failure });
    const leaves = ports.clock() + timeoutMs >= until && { leaves: true as const };
    const result = { ...held, outcome, part: part.part, next: part.next, ...leaves };
    const recorded = await ports.session.recordCompaction(job, result);
    if (!recorded.ok) return null;
    const { value } = recorded;
    if (value.next === "later") return "later";
    if (value.next !== "continue") return value.next === "retry" ? outcome : null;
    if (await ports.isSuspended()) return "later";
    ({ part, timeoutMs } = value);
  }
}
