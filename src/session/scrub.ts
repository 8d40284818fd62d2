/**
 * Overwrites what a redaction deleted. The transaction that deletes arms it as a job, so that the next life's alarm, or
 * the client's repeated request, finishes it after a crash.
 */
import type { SessionRuntime } from "./runtime";
import { RECOVER_AFTER_MS } from "./watch";

/** Runs in the transaction of the deletion. `attempts` counts the deletions that the job covers. */
export function noteScrub({ jobs, deps }: SessionRuntime): void {
  jobs.arm("scrub", deps.clock() + RECOVER_AFTER_MS, (jobs.get("scrub")?.attempts ?? 0) + 1);
}

/** Overwrites what was deleted, if that is still due. When it throws, the job stays due. */
export async function scrubDeleted(runtime: SessionRuntime): Promise<void> {
  const noted = runtime.jobs.get("scrub");
  if (!noted) return;
  await runtime.deps.sql.scrub();
  // A session that was erased meanwhile has no job to clear. If `attempts` has grown, more was deleted meanwhile and
  // the job stays.
  if (runtime.exists && runtime.jobs.get("scrub")?.attempts === noted.attempts) runtime.jobs.disarm("scrub");
}

/** Scrubs on behalf of the alarm, which comes back until it has succeeded. */
export function resumeScrub(runtime: SessionRuntime): void {
  const { jobs, deps } = runtime;
  jobs.arm("scrub", deps.clock() + RECOVER_AFTER_MS, jobs.get("scrub")?.attempts);
  const scrubbed = scrubDeleted(runtime).catch((error: unknown) => {
    deps.log.warn("scrub_failed", { error: error instanceof Error ? error.name : "unknown" });
  });
  deps.background(scrubbed);
}
