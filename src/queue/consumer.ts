/** The queue's consumer. It settles message by message and never throws, because a throw would redeliver the whole batch. */

import { z } from "zod";
import { runCompaction } from "../app/compaction/run-compaction";
import { withNames } from "../app/named-log";
import type { ChatModel, Clock, CompactionJob, CompactionQueue, Log } from "../app/ports";
import type { SessionApi } from "../app/session-api";
import type { Schedule } from "../app/session-ports";
import { idPattern, parseId } from "../domain/ids";
import { toErrorName } from "../lib/error-name";
import { serveRequest } from "../lib/request-scope";

const jobSchema = z.object({
  tenant: z.string().regex(idPattern("ten")),
  session: z.string().regex(idPattern("ses")),
  compaction: z.string().regex(idPattern("cmp")),
});

/** Apart from the job: lines can name the request of a job that cannot be read. */
const askedSchema = z.object({ request_id: z.string() });

/** The request that asked for the compaction. Null: none is known, as of a job that the session's alarm sent. */
function readAsker(body: unknown): string | null {
  const asked = askedSchema.safeParse(body);
  return asked.success ? asked.data.request_id : null;
}

/** Null when the message is not a valid job. Retrying cannot make it one. */
function parseCompactionJob(body: unknown): CompactionJob | null {
  const parsed = jobSchema.safeParse(body);
  if (!parsed.success) return null;
  const tenant = parseId("ten", parsed.data.tenant);
  const session = parseId("ses", parsed.data.session);
  const compaction = parseId("cmp", parsed.data.compaction);
  return tenant && session && compaction ? { tenant, session, compaction } : null;
}

export interface ConsumerDeps {
  readonly sessions: (job: CompactionJob) => Pick<SessionApi, "leaseCompaction" | "holdsLease" | "recordCompaction">;
  /** The models of the job's tenant, called with that tenant's credentials. */
  readonly model: (job: CompactionJob) => ChatModel;
  /** True while the job's tenant is suspended: no model is asked then. */
  readonly isSuspended: (job: CompactionJob) => Promise<boolean>;
  /** Receives a new job when a chunked summary is not finished. */
  readonly queue: CompactionQueue;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly random: () => number;
  readonly log: Log;
}

/** The parts of a queue message that the consumer uses. */
export interface QueueMessage {
  readonly body: unknown;
  readonly attempts: number;
  ack(): void;
  retry(options?: { readonly delaySeconds?: number }): void;
}

const MAX_DELAY_SECONDS = 120;

/** Messages of a batch belong to independent jobs, so they run in parallel. */
export async function consumeCompactions(messages: readonly QueueMessage[], deps: ConsumerDeps): Promise<void> {
  await Promise.all(messages.map((message) => serveRequest(readAsker(message.body), () => consumeOne(message, deps))));
}

async function consumeOne(message: QueueMessage, deps: ConsumerDeps): Promise<void> {
  const job = parseCompactionJob(message.body);
  if (!job) {
    deps.log.error("compaction_job_malformed");
    return message.ack();
  }
  const { tenant, session } = job;
  const log = withNames(deps.log, () => ({ tenant_id: tenant, session }));
  try {
    // The session asks again from time to time, as for a wake-up that the queue lost.
    if (await deps.isSuspended(job)) return message.ack();
    const isSuspended = () => deps.isSuspended(job);
    const outcome = await runCompaction(job, { ...deps, log, isSuspended, session: deps.sessions(job), model: deps.model(job) });
    // Send a new job: a long chunked summary must not use up this message's deliveries, which are meant for failures. If the job is
    // delivered twice, the second worker finds the lease held.
    if (outcome.kind === "unfinished") await deps.queue.send(job);
    if (outcome.kind !== "again") return message.ack();
    const delaySeconds = Math.min(MAX_DELAY_SECONDS, Math.max(1, Math.ceil((outcome.at - deps.clock()) / 1_000)));
    message.retry({ delaySeconds });
  } catch (error) {
    log.warn("compaction_job_failed", {
      compaction: job.compaction,
      attempts: message.attempts,
      error: toErrorName(error),
    });
    message.retry();
  }
}

/** Logs and acknowledges jobs whose deliveries were used up. The session's watchdog asks again, so only time is lost. */
export function consumeDeadLetters(messages: readonly QueueMessage[], log: Log): void {
  for (const message of messages) {
    const job = parseCompactionJob(message.body);
    const names = { tenant_id: job?.tenant ?? null, session: job?.session ?? null, compaction: job?.compaction ?? null };
    serveRequest(readAsker(message.body), () => log.error("compaction_job_dead", names));
    message.ack();
  }
}
