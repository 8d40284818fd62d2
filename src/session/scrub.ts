/**
 * Removes what a redaction deleted from the object's files, and from those of the chat that its message came through. The transaction that deletes
 * arms it as a job, so that the next life's alarm, or the client's repeated request, finishes it after a crash.
 */

import type { SessionState } from "../domain/state";
import { toErrorName } from "../lib/error-name";
import { readOwnChat } from "./log/chat-mark";
import type { Jobs } from "./log/jobs";
import type { RuntimeDeps } from "./runtime-deps";
import { RECOVER_AFTER_MS } from "./watch";

export interface ScrubHost {
  readonly exists: boolean;
  readonly jobs: Jobs;
  readonly deps: Pick<RuntimeDeps, "sql" | "clock" | "log" | "background" | "chats">;
  readonly state: Pick<SessionState, "tenant">;
}

/**
 * The newest deletion of each life. Its number never returns within a life: of two runs at once, the later one may settle the job, and an
 * earlier one must not take the next deletion for the one that it has covered.
 */
const newest = new WeakMap<Jobs, number>();

/** Runs in the transaction of the deletion. `attempts` is the number of the newest deletion that the job covers. */
export function noteScrub({ jobs, deps }: ScrubHost): void {
  const number = Math.max(jobs.get("scrub")?.attempts ?? 0, newest.get(jobs) ?? 0) + 1;
  newest.set(jobs, number);
  jobs.arm("scrub", deps.clock() + RECOVER_AFTER_MS, number);
}

/** Removes what was deleted, if that is still due. When it throws, or the chat is out of reach, the job stays due. */
export async function scrubDeleted(host: ScrubHost): Promise<void> {
  const noted = host.jobs.get("scrub");
  if (!noted) return;
  await host.deps.sql.scrub();
  if (!(await scrubChat(host))) return;
  // A session that was erased meanwhile has no job to clear. If `attempts` has grown, more was deleted meanwhile and
  // the job stays.
  if (host.exists && host.jobs.get("scrub")?.attempts === noted.attempts) host.jobs.disarm("scrub");
}

/** True when no chat has more of it. The chat has handled the message, but its files may still have the words. */
async function scrubChat({ exists, deps, state: { tenant } }: ScrubHost): Promise<boolean> {
  const own = exists ? readOwnChat(deps.sql) : null;
  if (!own || !tenant || !deps.chats) return true;
  const address = { tenant, ...own };
  try {
    await deps.chats(address).scrub(address);
    return true;
  } catch (error) {
    deps.log.warn("chat_not_scrubbed", { error: toErrorName(error) });
    return false;
  }
}

/** Scrubs on behalf of the alarm, which comes back until it has succeeded. */
export function resumeScrub(host: ScrubHost): void {
  const { jobs, deps } = host;
  jobs.arm("scrub", deps.clock() + RECOVER_AFTER_MS, jobs.get("scrub")?.attempts);
  const scrubbed = scrubDeleted(host).catch((error: unknown) => {
    deps.log.warn("scrub_failed", { error: toErrorName(error) });
  });
  deps.background(scrubbed);
}
