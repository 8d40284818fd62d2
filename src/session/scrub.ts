/**
 * The overwriting of what a redaction deleted. The transaction that deletes notes it as a job, so that a life that ends in the middle
 * leaves it to the alarm of the next one, or to the client's repetition.
 */
import type { SessionRuntime } from "./runtime";
import { RECOVER_AFTER_MS } from "./watch";

/** In the transaction of the deletion. `attempts` counts the deletions that it is for. */
export function noteScrub({ jobs, deps }: SessionRuntime): void {
  jobs.arm("scrub", deps.clock() + RECOVER_AFTER_MS, (jobs.get("scrub")?.attempts ?? 0) + 1);
}

/** Overwrites what was deleted, if that is still due. What it throws leaves it due. */
export async function scrubDeleted(runtime: SessionRuntime): Promise<void> {
  const noted = runtime.jobs.get("scrub");
  if (!noted) return;
  await runtime.deps.sql.scrub();
  // Erased meanwhile, nothing is left to note it in; what was deleted meanwhile is still to be overwritten.
  if (runtime.exists && runtime.jobs.get("scrub")?.attempts === noted.attempts) runtime.jobs.disarm("scrub");
}

/** For the alarm, which comes back until it is done. */
export function resumeScrub(runtime: SessionRuntime): void {
  const { jobs, deps } = runtime;
  jobs.arm("scrub", deps.clock() + RECOVER_AFTER_MS, jobs.get("scrub")?.attempts);
  const scrubbed = scrubDeleted(runtime).catch((error: unknown) => {
    deps.log.warn("scrub_failed", { error: error instanceof Error ? error.name : "unknown" });
  });
  deps.background(scrubbed);
}
