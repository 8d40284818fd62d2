/** The object's one alarm: what is due is started, not awaited, so that nothing blocks the watchdog (docs/design.md §1.5). */
import { assertNever } from "../lib/assert-never";
import { type Job, needsWatch } from "./jobs";
import { eraseProjection } from "./lifecycle-calls";
import { RECOVER_AFTER_MS, type SessionRuntime } from "./runtime";

/** Never throws for one job's sake: the others are due too. */
export function ringAlarm(runtime: SessionRuntime): void {
  runtime.alarmRang();
  if (!runtime.exists) return;
  runtime.wake();
  for (const job of runtime.jobs.due(runtime.deps.clock())) runJob(runtime, job);
  runtime.syncAlarm();
}

function runJob(runtime: SessionRuntime, job: Job): void {
  const { clock } = runtime.deps;
  const { state, jobs } = runtime;
  switch (job.kind) {
    case "project":
      jobs.arm("project", clock() + RECOVER_AFTER_MS, job.attempts);
      return runtime.drain.start();
    case "recover_turn":
      if (needsWatch(state)) jobs.arm("recover_turn", clock() + RECOVER_AFTER_MS);
      else jobs.disarm("recover_turn");
      return;
    case "wake_compaction":
      return runtime.wakeCompaction();
    case "expire_tools":
      jobs.disarm("expire_tools");
      if (state.turn) runtime.execute({ type: "StopTurn", at: clock(), turn: state.turn.id, reason: "tools_expired", partial: null });
      return;
    case "erase_projection": {
      const { tenant, session } = state;
      jobs.arm("erase_projection", clock() + RECOVER_AFTER_MS, job.attempts);
      if (tenant && session) runtime.deps.background(eraseProjection(runtime, { tenant, session }).then(() => undefined));
      return;
    }
    default:
      assertNever(job.kind);
  }
}
