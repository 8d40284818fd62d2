/**
 * Runs the session's schedules. The alarm calls it when one is due. The message and the note that the schedule has run are one transaction, so
 * that no run is repeated and none is lost, whenever the object dies.
 */
import type { Outcome, SessionError, SubmitInput } from "../app/session-api";
import type { TurnId } from "../domain/ids";
import type { SessionSchedule, SkipReason } from "../domain/schedule-events";
import type { SessionState } from "../domain/state";
import { toErrorName } from "../lib/error-name";
import { err, type Result } from "../lib/result";
import { mayNeedAdmission, refuseUnpaid } from "./calls/admit-turn";
import { submitMessage } from "./calls/message-calls";
import { findRunAfter } from "./calls/schedule-calls";
import { followInChat } from "./follow-in-chat";
import type { SessionRuntime } from "./runtime";
import { armNextRun } from "./watch";

/** A run that cannot start its turn is tried again this often, */
const RETRY_MS = 60_000;
/** and skipped when it is so late. */
const LATEST_MS = 15 * 60_000;

type Refusal = SessionError | { readonly code: "tenant_suspended" };
type RunOutcome = Result<unknown, Refusal>;

/** `isFinal`: trying again would not help. */
function toSkip({ code }: Refusal): { readonly reason: SkipReason; readonly isFinal: boolean } {
  switch (code) {
    case "calls_unanswered":
    case "queue_full":
    case "turn_running":
      return { reason: "busy", isFinal: false };
    case "rate_limited":
      return { reason: "limit", isFinal: false };
    case "budget_exhausted":
      return { reason: "budget", isFinal: false };
    case "tenant_suspended":
      return { reason: "suspended", isFinal: false };
    case "budgets_unavailable":
    case "models_unavailable":
      return { reason: "unavailable", isFinal: false };
    case "storage_full":
      return { reason: "storage_full", isFinal: true };
    case "message_limit":
      return { reason: "message_limit", isFinal: true };
    default:
      return { reason: "refused", isFinal: true };
  }
}

/** Runs what is due, in order of time. It never rejects: the job stays armed until every run is noted. */
export async function runSchedules(runtime: SessionRuntime): Promise<void> {
  const now = runtime.deps.clock();
  const due = runtime.state.schedules.filter(({ next_at }) => next_at !== null && next_at <= now);
  for (const schedule of due.toSorted((one, other) => (one.next_at ?? 0) - (other.next_at ?? 0)))
    await attempt(runtime, () => runSchedule(runtime, schedule));
  if (runtime.state.lifecycle === "open") await attempt(runtime, () => armSchedules(runtime));
  // The turn runs already, and the chat shows it meanwhile.
  if (runtime.exists && runtime.jobs.get("follow_in_chat")) await followInChat(runtime);
}

/** A failed write, as on a full disk, leaves the job armed as the alarm armed it. */
async function attempt({ deps }: SessionRuntime, work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    deps.log.error("schedule_failed", { error: toErrorName(error) });
  }
}

/** Arms the job for the next run. A run that is due already is one that was refused, and is tried again later. */
function armSchedules(runtime: SessionRuntime): void {
  const now = runtime.deps.clock();
  armNextRun(runtime, (next) => (next <= now ? now + RETRY_MS : next));
  runtime.syncAlarm();
}

async function runSchedule(runtime: SessionRuntime, schedule: SessionSchedule): Promise<void> {
  const { name, next_at: due_at, time } = schedule;
  if (due_at === null) return;
  const submitted = await submitScheduled(runtime, schedule, due_at);
  if (submitted.ok || runtime.state.lifecycle !== "open") return;
  const { reason, isFinal } = toSkip(submitted.error);
  const at = runtime.deps.clock();
  if (submitted.error.code === "stale" || (!isFinal && at < due_at + LATEST_MS)) return;
  runtime.execute({ type: "RecordScheduleRun", at, name, due_at, turn: null, skipped: reason, next_at: findRunAfter(time, at) });
}

/** A message would end a turn that waits for its client or for a person, whose answer would then find no turn. */
function refuseWaiting({ turn }: SessionState): Outcome<never> | null {
  if (turn?.phase !== "awaiting_tools") return null;
  return err({ code: "calls_unanswered", calls: turn.open_calls.map(({ execution, call_id }) => ({ execution, call_id })) });
}

async function submitScheduled(runtime: SessionRuntime, schedule: SessionSchedule, due_at: number): Promise<RunOutcome> {
  const { tenant } = runtime.state;
  const { deps, limits } = runtime;
  if (tenant && (await deps.isSuspended(tenant))) return err({ code: "tenant_suspended" });
  const { message, key, name, time } = schedule;
  const text = runtime.content.readRefText(message) ?? "";
  const input: SubmitInput = {
    role: "user",
    parts: [{ type: "text", text }],
    run: true,
    onBusy: "queue",
    tools: null,
    idempotency: null,
    ...(key && { key }),
  };
  const unpaid = mayNeedAdmission(runtime, input) ? await refuseUnpaid(runtime, input) : null;
  if (unpaid) return unpaid;
  return limits.enter(key, (): Promise<RunOutcome> => {
    const behind = (turn: TurnId | null) => {
      const at = deps.clock();
      return { type: "RecordScheduleRun", at, name, due_at, turn, skipped: null, next_at: findRunAfter(time, at) } as const;
    };
    return submitMessage(runtime, input, { behind, refuse: refuseWaiting });
  });
}
