/** The queue's consumer: settles message by message and never throws, since a throw would redeliver the whole batch. */

import { runCompaction } from "../app/compaction/run-compaction";
import { withNames } from "../app/named-log";
import type { ChatModel, Clock, CompactionJob, CompactionQueue, Log } from "../app/ports";
import type { SessionApi } from "../app/session-api";
import type { Schedule } from "../app/session-ports";
import { parseCompactionJob } from "./compaction-job";

export interface ConsumerDeps {
  readonly sessions: (job: CompactionJob) => Pick<SessionApi, "leaseCompaction" | "recordCompaction">;
  /** As the job's tenant calls models. */
  readonly model: (job: CompactionJob) => ChatModel;
  /** Takes the job of a fold that goes on. */
  readonly queue: CompactionQueue;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly random: () => number;
  readonly log: Log;
}

/** What of a queue message matters here. */
export interface QueueMessage {
  readonly body: unknown;
  readonly attempts: number;
  ack(): void;
  retry(options?: { readonly delaySeconds?: number }): void;
}

const MAX_DELAY_SECONDS = 120;

/** Messages of a batch are independent sessions: they run side by side. */
export async function consumeCompactions(messages: readonly QueueMessage[], deps: ConsumerDeps): Promise<void> {
  await Promise.all(messages.map((message) => consumeOne(message, deps)));
}

async function consumeOne(message: QueueMessage, deps: ConsumerDeps): Promise<void> {
  const job = parseCompactionJob(message.body);
  if (!job) {
    deps.log.error("compaction_job_malformed");
    return message.ack();
  }
  const { tenant, session } = job;
  const log = withNames(deps.log, () => ({ tenant, session }));
  try {
    const outcome = await runCompaction(job, { ...deps, log, session: deps.sessions(job), model: deps.model(job) });
    // A job of its own: a long fold must not use up the deliveries, which are there for failures. One that comes twice finds the lease held.
    if (outcome.kind === "unfinished") await deps.queue.send(job);
    if (outcome.kind !== "again") return message.ack();
    const delaySeconds = Math.min(MAX_DELAY_SECONDS, Math.max(1, Math.ceil((outcome.at - deps.clock()) / 1_000)));
    message.retry({ delaySeconds });
  } catch (error) {
    log.warn("compaction_job_failed", {
      compaction: job.compaction,
      attempts: message.attempts,
      error: error instanceof Error ? error.name : "unknown",
    });
    message.retry();
  }
}

/** A job that was given up: the session's watchdog asks again, so nothing is lost but time. It is said, and acknowledged. */
export function consumeDeadLetters(messages: readonly QueueMessage[], log: Log): void {
  for (const message of messages) {
    const job = parseCompactionJob(message.body);
    log.error("compaction_job_dead", { tenant: job?.tenant ?? null, session: job?.session ?? null, compaction: job?.compaction ?? null });
    message.ack();
  }
}
