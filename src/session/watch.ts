/** Arms the alarm's jobs with the events that cause them, so that work that is lost with the object or in a queue is found again. */
import type { Clock, CompactionQueue, Log } from "../app/ports";
import type { StoredEvent } from "../domain/events";
import { listEventItems } from "../domain/items-of";
import type { ItemMeta } from "../domain/message";
import { findNextRun } from "../domain/schedules";
import type { SessionState } from "../domain/state";
import { backOff } from "../lib/back-off";
import { type Jobs, needsWatch } from "./log/jobs";

/** An orphaned turn is found within this time, even without a call (docs/turns.md). */
export const RECOVER_AFTER_MS = 30_000;
const TOOLS_EXPIRE_MS = 24 * 60 * 60 * 1_000;
/** The projection is tried again this long after an append, in case the drain is lost with the object. */
const PROJECT_WATCHDOG_MS = 10_000;
const COMPACTION_WATCHDOG_MS = 60_000;
const COMPACTION_WATCHDOG_MAX_MS = 60 * 60_000;

/** A throwaway session that was left behind ends this long after its last event. */
const THROWAWAY_MS = 60 * 60 * 1_000;

interface Watched {
  readonly jobs: Jobs;
  readonly state: SessionState;
}

/** Runs in the transaction of the events. */
export function armJobs({ jobs, state }: Watched, events: readonly StoredEvent[], now: number): void {
  if (state.lifecycle === "erased") return;
  const { throwaway } = state.settings;
  if (throwaway) jobs.armIfIdle("discard", state.opened_at + THROWAWAY_MS);
  else jobs.armIfIdle("project", now + PROJECT_WATCHDOG_MS);
  if (needsWatch(state)) jobs.armIfIdle("recover_turn", now + RECOVER_AFTER_MS);
  if (events.some((event) => event.type === "ToolCalled")) jobs.arm("expire_tools", now + TOOLS_EXPIRE_MS);
  if (!throwaway && events.some(changesFiles)) jobs.arm("keep_files", now);
  if (events.some(changesSchedules)) armNextRun({ jobs, state });
  if (events.some((event) => event.type === "CompactionRequested") && !state.turn) jobs.arm("wake_compaction", now);
  else if (state.compaction.requested) jobs.armIfIdle("wake_compaction", now + COMPACTION_WATCHDOG_MS);
}

const changesSchedules = ({ type }: StoredEvent): boolean => type === "ScheduleSet" || type === "ScheduleRan" || type === "ScheduleRemoved";

/** `delay`: when a run is tried that is due at `next`. Absent: then. */
export function armNextRun({ jobs, state }: Watched, delay: (next: number) => number = (next) => next): void {
  const next = findNextRun(state);
  if (next === null) jobs.disarm("schedule");
  else jobs.arm("schedule", delay(next));
}

/** Arms what the events of a restored session would have armed: its rows, its files, and what was under way. */
export function armRestored({ jobs, state }: Watched, now: number): void {
  jobs.arm("project", now);
  jobs.arm("keep_files", now);
  if (needsWatch(state)) jobs.arm("recover_turn", now + RECOVER_AFTER_MS);
  if (state.turn) jobs.arm("expire_tools", now + TOOLS_EXPIRE_MS);
  if (state.compaction.requested) jobs.arm("wake_compaction", now);
  armNextRun({ jobs, state });
}

/** When a throwaway session that no request ends is to end by itself. Its job is armed for the earliest such time and looks again. */
export const whenLeftBehind = ({ updated_at }: SessionState): number => updated_at + THROWAWAY_MS;

const namesFile = ({ attached = [] }: Pick<ItemMeta, "attached">): boolean => attached.some(({ file }) => file);

/** True when the event may change which files the session refers to. */
function changesFiles(event: StoredEvent): boolean {
  if (event.type === "MessageRedacted" || event.type === "QueuedMessageCancelled") return true;
  return (event.type === "MessageQueued" ? [event.message.item] : listEventItems(event)).some(namesFile);
}

/** True when an event of a turn's tools was committed. Clients read an execution by its id, so it must be projected soon. */
export const isOfTools = (events: readonly StoredEvent[]): boolean =>
  events.some(
    ({ type }) => type === "ToolCalled" || type === "ToolStarted" || type === "ToolResultRecorded" || type === "ApprovalRequested",
  );

/** True when a worker must be woken for the committed events. While a turn is open, the turn itself does the work or waits for it. */
export function asksForWorker(
  events: readonly StoredEvent[],
  { before, after }: { readonly before: SessionState; readonly after: SessionState },
): boolean {
  if (after.turn) return false;
  if (events.some((event) => event.type === "CompactionRequested")) return true;
  // A compaction that was requested during the turn waits for its end, and so does one that a worker gave up.
  const now = events.at(-1)?.at ?? 0;
  return before.turn !== null && isWaiting(after, now);
}

/** A requested compaction that no worker holds. */
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
 * Sends the wake-up and arms the next look, because a queue may lose it. The looks get rarer: the compaction may have
 * to wait for a turn that waits for tools.
 */
export function sendWakeUp({ jobs, state }: Watched, { clock, queue, background, log }: World): void {
  const { requested } = state.compaction;
  const { tenant, session } = state;
  if (!requested || !tenant || !session) return jobs.disarm("wake_compaction");
  const tries = jobs.get("wake_compaction")?.attempts ?? 0;
  const wait = backOff(tries, { first: COMPACTION_WATCHDOG_MS, longest: COMPACTION_WATCHDOG_MAX_MS });
  jobs.arm("wake_compaction", clock() + wait, tries + 1);
  const sent = queue.send({ tenant, session, compaction: requested.id });
  background(sent.catch(() => log.warn("queue_unreachable", { session })));
}
