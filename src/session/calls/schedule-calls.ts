/** Sets, shows and removes a session's schedules. `schedules.ts` of the session runs them. */
import { type Condition, refuseUnmet } from "../../app/conditions";
import { buildTextBody } from "../../app/request/build-items";
import { type ScheduleApi, type ScheduleInput, toScheduleEtag } from "../../app/schedule-api";
import type * as api from "../../app/session-api";
import type { ScheduleView } from "../../contract/schedule";
import type { ScheduleTime, SessionSchedule } from "../../domain/schedule-events";
import { findSchedule } from "../../domain/schedules";
import { findNextTime } from "../../lib/cron";
import { err, ok } from "../../lib/result";
import type { Session } from "../session";

/** The first run after `now`. Null: there is none. */
export const findRunAfter = (time: ScheduleTime, now: number): number | null =>
  "at" in time ? (time.at > now ? time.at : null) : findNextTime(time.cron, time.timezone, now);

function showSchedule({ content }: Session, { name, time, message, next_at, last, set_at }: SessionSchedule): ScheduleView {
  const once = "at" in time ? time.at : null;
  const { cron, timezone } = "at" in time ? { cron: null, timezone: null } : time;
  const last_run = last && { due_at: last.due_at, at: last.at, turn_id: last.turn, skipped: last.skipped };
  return { name, cron, timezone, at: once, message: content.readRefText(message) ?? "", next_at, last_run, updated_at: set_at };
}

export const listSchedules = (session: Session): readonly ScheduleView[] =>
  session.state.schedules.map((schedule) => showSchedule(session, schedule));

function readNamed(session: Session, name: string): ScheduleView | null {
  const found = findSchedule(session.state, name);
  return found && showSchedule(session, found);
}

const isAlike = ({ time, message }: ScheduleInput, view: ScheduleView): boolean =>
  view.message === message && ("at" in time ? view.at === time.at : view.cron === time.cron && view.timezone === time.timezone);

export function setSchedule(session: Session, input: ScheduleInput, condition?: Condition): api.Outcome<ScheduleView> {
  const { name, time, message, key } = input;
  const present = readNamed(session, name);
  const unmet = refuseUnmet(condition, present && toScheduleEtag(present));
  if (unmet) return unmet;
  if (present && present.next_at !== null && isAlike(input, present)) return ok(present);
  const { clock, ids } = session.deps;
  const at = clock();
  const next_at = findRunAfter(time, at);
  if (next_at === null) return err({ code: "invalid", field: "at" in time ? "at" : "cron", detail: "is in the past" });
  const { ref, bodies } = buildTextBody(message, ids);
  if (!ref) return err({ code: "invalid", field: "message", detail: "is empty" });
  const set = session.execute({ type: "SetSchedule", at, name, time, message: ref, next_at, ...(key && { key }) }, bodies);
  if (!set.ok) return err(set.error);
  const view = readNamed(session, name);
  return view ? ok(view) : err({ code: "schedule_not_found", schedule: name });
}

export function removeSchedule(session: Session, name: string, condition?: Condition): Awaited<ReturnType<ScheduleApi["removeSchedule"]>> {
  const present = readNamed(session, name);
  const unmet = refuseUnmet(condition, present && toScheduleEtag(present));
  if (unmet) return unmet;
  const removed = session.execute({ type: "RemoveSchedule", at: session.deps.clock(), name });
  return removed.ok ? ok(null) : err(removed.error);
}
