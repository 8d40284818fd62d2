/** What the alarm must come back for: armed with the events that cause it, so that whatever is lost with the object or by a queue is found. */
import type { Clock, CompactionQueue, Log } from "../app/ports";
import type { StoredEvent } from "../domain/events";
import type { SessionState } from "../domain/state";
import { type Jobs, needsWatch } from "./log/jobs";

/** An orphaned turn is found within this time without any call (docs/design.md §4). */
export const RECOVER_AFTER_MS = 30_000;
const TOOLS_EXPIRE_MS = 24 * 60 * 60 * 1_000;
/** The projection is tried again this much after an append, should the drain be lost with the object. */
const PROJECT_WATCHDOG_MS = 10_000;
const COMPACTION_WATCHDOG_MS = 60_000;
const COMPACTION_WATCHDOG_MAX_MS = 60 * 60_000;

interface Watched {
  readonly jobs: Jobs;
  readonly state: SessionState;
}

/** In the transaction of the events. */
export function armJobs({ jobs, state }: Watched, events: readonly StoredEvent[], now: number): void {
  if (state.lifecycle === "erased") return;
  jobs.armIfIdle("project", now + PROJECT_WATCHDOG_MS);
  if (needsWatch(state)) jobs.armIfIdle("recover_turn", now + RECOVER_AFTER_MS);
  if (events.some((event) => event.type === "ToolCalled")) jobs.arm("expire_tools", now + TOOLS_EXPIRE_MS);
  if (events.some((event) => event.type === "CompactionRequested") && !state.turn) jobs.arm("wake_compaction", now);
  else if (state.compaction.requested) jobs.armIfIdle("wake_compaction", now + COMPACTION_WATCHDOG_MS);
}

/** Whether something of a turn's tools was committed that is read by its id. */
export const isOfTools = (events: readonly StoredEvent[]): boolean =>
  events.some(
    ({ type }) => type === "ToolCalled" || type === "ToolStarted" || type === "ToolResultRecorded" || type === "ApprovalRequested",
  );

/** Whether a worker must be woken for what was committed: inside a turn it is the turn that does the work, and waits for it. */
export function asksForWorker(
  events: readonly StoredEvent[],
  { before, after }: { readonly before: SessionState; readonly after: SessionState },
): boolean {
  if (after.turn) return false;
  if (events.some((event) => event.type === "CompactionRequested")) return true;
  // What was asked for by hand while the turn ran waits for its end, and so does what a worker gave up on.
  const now = events.at(-1)?.at ?? 0;
  return before.turn !== null && isWaiting(after, now);
}

/** A compaction that nobody works at. */
const isWaiting = ({ compaction: { requested, lease } }: SessionState, now: number): boolean =>
  requested !== null && (lease === null || lease.expires_at <= now);

interface World {
  readonly clock: Clock;
  readonly queue: CompactionQueue;
  /** Keeps the object alive until the work is done. */
  readonly background: (work: Promise<void>) => void;
  readonly log: Log;
}

/**
 * Sends the wake-up, and looks again later: a queue may lose it. Less and less often, as it may have to wait for a turn
 * that waits for its tools.
 */
export function sendWakeUp({ jobs, state }: Watched, { clock, queue, background, log }: World): void {
  const { requested } = state.compaction;
  const { tenant, session } = state;
  if (!requested || !tenant || !session) return jobs.disarm("wake_compaction");
  const tries = jobs.get("wake_compaction")?.attempts ?? 0;
  const wait = Math.min(COMPACTION_WATCHDOG_MS * 2 ** tries, COMPACTION_WATCHDOG_MAX_MS);
  jobs.arm("wake_compaction", clock() + wait, tries + 1);
  const sent = queue.send({ tenant, session, compaction: requested.id });
  background(sent.catch(() => log.warn("queue_unreachable", { session })));
}
