/** The object's one alarm. It starts what is due and does not await it, so that nothing blocks the watchdog (docs/events.md). */
import { assertNever } from "../lib/assert-never";
import { toErrorName } from "../lib/error-name";
import { deliverActsSoon } from "./acts";
import { forgetLeftRestore } from "./calls/restore-calls";
import { discard, finishErasure } from "./erasure";
import { followInChat } from "./follow-in-chat";
import { keepFiles } from "./kept-files";
import { type Job, needsWatch } from "./log/jobs";
import type { SessionRuntime } from "./runtime";
import { runSchedules } from "./schedules";
import { resumeScrub } from "./scrub";
import { RECOVER_AFTER_MS, whenLeftBehind } from "./watch";

/** Handles an alarm of the platform. It never throws: the platform drops an alarm that keeps failing, and with it every job that is due. */
export function ringAlarm(runtime: SessionRuntime): void {
  runtime.alarmRang();
  try {
    if (!runtime.exists) return forgetLeftRestore(runtime);
    const now = runtime.deps.clock();
    const isAwake = attempt(runtime, () => runtime.wake());
    if (isAwake) attempt(runtime, () => endWatch(runtime));
    const done = isAwake ? runtime.jobs.due(now).map((job) => attempt(runtime, () => runJob(runtime, job))) : [false];
    // A job that failed is still due, but must not be tried again at once.
    runtime.syncAlarm(done.includes(false) ? now + RECOVER_AFTER_MS : 0);
  } catch (error) {
    runtime.deps.log.error("alarm_failed", { error: toErrorName(error) });
    runtime.deps.setAlarm(runtime.deps.clock() + ALARM_AGAIN_MS);
  }
}

/** The watch over a turn that has ended goes with the first alarm after it: its own would load the session to find nothing. */
function endWatch({ state, jobs }: SessionRuntime): void {
  if (!needsWatch(state)) jobs.disarm("recover_turn");
}

/** The wait after an alarm that failed. The cause may be a log that this build cannot read, and the next deployment may read it. */
const ALARM_AGAIN_MS = 5 * 60_000;

/** Runs one job, so that its failure does not stop the others. A job that failed stays due. Returns false when it failed. */
function attempt(runtime: SessionRuntime, work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    runtime.deps.log.error("job_failed", { error: toErrorName(error) });
    return false;
  }
}

function runJob(runtime: SessionRuntime, job: Job): void {
  const { clock } = runtime.deps;
  const { state, jobs } = runtime;
  switch (job.kind) {
    case "project":
      // The object ended between the checkpoint and the end of the job.
      if (!runtime.drain.isBehind()) return jobs.disarm("project");
      jobs.arm("project", clock() + RECOVER_AFTER_MS, job.attempts);
      return runtime.drain.start();
    case "recover_turn":
      // After a failed write no other code goes on with the turn or message that it left behind.
      runtime.advanceSoon();
      return jobs.arm("recover_turn", clock() + RECOVER_AFTER_MS);
    case "wake_compaction":
      return watchCompaction(runtime, job);
    case "expire_tools":
      return expireTools(runtime);
    case "erase_projection": {
      const { tenant, session } = state;
      jobs.arm("erase_projection", clock() + RECOVER_AFTER_MS, job.attempts);
      if (tenant && session) runtime.deps.background(finishErasure(runtime, { tenant, session }).then(() => undefined));
      return;
    }
    case "scrub":
      return resumeScrub(runtime);
    case "discard":
      return discardIfLeft(runtime);
    case "keep_files":
      jobs.arm("keep_files", clock() + RECOVER_AFTER_MS, job.attempts);
      return runtime.deps.background(keepFiles(runtime));
    case "record_acts": {
      const { tenant, session } = state;
      jobs.arm("record_acts", clock() + RECOVER_AFTER_MS, job.attempts);
      if (tenant && session) runtime.deps.background(deliverActsSoon(runtime, { tenant, session }));
      return;
    }
    case "budget":
      jobs.arm("budget", clock() + RECOVER_AFTER_MS, job.attempts);
      return runtime.deps.background(runtime.wallet.giveBack());
    case "schedule":
      jobs.arm("schedule", clock() + RECOVER_AFTER_MS, job.attempts);
      return runtime.deps.background(runSchedules(runtime));
    case "announce":
      jobs.arm("announce", clock() + RECOVER_AFTER_MS, job.attempts);
      return runtime.announcer.start();
    case "follow_in_chat":
      jobs.arm("follow_in_chat", clock() + RECOVER_AFTER_MS, job.attempts);
      return runtime.deps.background(followInChat(runtime));
    default:
      assertNever(job.kind);
  }
}

/** Ends a throwaway session that its request left behind. Every event puts that off. */
function discardIfLeft(runtime: SessionRuntime): void {
  const { state, jobs } = runtime;
  const { tenant, session, lifecycle } = state;
  if (lifecycle !== "open" || !tenant || !session) return jobs.disarm("discard");
  const at = whenLeftBehind(state);
  const isLeft = at <= runtime.deps.clock();
  jobs.arm("discard", isLeft ? runtime.deps.clock() + RECOVER_AFTER_MS : at);
  if (isLeft) discard(runtime, { tenant, session });
}

/** Wakes no worker while a lease runs: its holder is at work, and a second worker would spend its deliveries on waiting. */
function watchCompaction(runtime: SessionRuntime, { attempts }: Job): void {
  const { lease } = runtime.state.compaction;
  if (lease && lease.expires_at > runtime.deps.clock()) return runtime.jobs.arm("wake_compaction", lease.expires_at, attempts);
  runtime.wakeCompaction();
}

/**
 * Ends a turn whose tool results did not come in time. A turn that runs server tools is checked later: it may wait for
 * the client again.
 */
function expireTools(runtime: SessionRuntime): void {
  const { jobs } = runtime;
  const { turn } = runtime.state;
  const { clock } = runtime.deps;
  if (turn?.phase === "running_tools") return jobs.arm("expire_tools", clock() + RECOVER_AFTER_MS);
  if (turn?.phase === "awaiting_tools")
    runtime.execute({ type: "StopTurn", at: clock(), turn: turn.id, reason: "tools_expired", partial: null, call: null });
  jobs.disarm("expire_tools");
}
