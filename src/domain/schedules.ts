/** Decides on schedules, and folds their events. The time of the next run travels in the command, because cron expressions need a calendar. */
import { err, ok } from "../lib/result";
import type { Deciders } from "./decision";
import type { Evolvers } from "./evolver";
import type { ScheduleCommand, ScheduleEvent, SessionSchedule } from "./schedule-events";
import type { SessionState } from "./state";

/** Each is in every snapshot of the session. */
export const MAX_SCHEDULES = 16;

export const findSchedule = ({ schedules }: Pick<SessionState, "schedules">, name: string): SessionSchedule | null =>
  schedules.find((schedule) => schedule.name === name) ?? null;

const without = (schedules: readonly SessionSchedule[], name: string): readonly SessionSchedule[] =>
  schedules.filter((schedule) => schedule.name !== name);

/** When the session's object must next run a schedule, epoch milliseconds. Null: never. */
export function findNextRun({ schedules }: Pick<SessionState, "schedules">): number | null {
  const times = schedules.flatMap(({ next_at }) => next_at ?? []);
  return times.length === 0 ? null : Math.min(...times);
}

/** The schedule that has been over for longest: it makes room for a new one. */
const findOver = (schedules: readonly SessionSchedule[]): SessionSchedule | undefined =>
  schedules.filter(({ next_at }) => next_at === null).toSorted((one, other) => (one.last?.at ?? 0) - (other.last?.at ?? 0))[0];

export const scheduleDeciders: Deciders<ScheduleCommand["type"]> = {
  SetSchedule: ({ name, message, next_at, time, key }, state) => {
    const others = without(state.schedules, name);
    const isFull = others.length >= MAX_SCHEDULES;
    const over = isFull ? findOver(others) : null;
    if (isFull && !over) return err({ code: "schedule_limit", limit: MAX_SCHEDULES });
    const room: readonly ScheduleEvent[] = over ? [{ type: "ScheduleRemoved", name: over.name }] : [];
    return ok([...room, { type: "ScheduleSet", name, message, next_at, time, ...(key && { key }) }]);
  },
  RemoveSchedule: ({ name }, state) =>
    findSchedule(state, name) ? ok([{ type: "ScheduleRemoved", name }]) : err({ code: "schedule_not_found", schedule: name }),
  RecordScheduleRun: ({ name, due_at, turn, skipped, next_at }, state) =>
    findSchedule(state, name)?.next_at === due_at
      ? ok([{ type: "ScheduleRan", name, due_at, turn, skipped, next_at }])
      : err({ code: "stale", reason: "schedule_changed" }),
};

const byName = (one: SessionSchedule, other: SessionSchedule): number => (one.name < other.name ? -1 : 1);

export const scheduleEvolvers: Evolvers<ScheduleEvent["type"]> = {
  ScheduleSet: (state, { name, message, next_at, time, key, at }) => {
    const last = findSchedule(state, name)?.last ?? null;
    const schedule = { name, time, message, set_at: at, next_at, last, ...(key && { key }) };
    return { ...state, schedules: [...without(state.schedules, name), schedule].sort(byName) };
  },
  ScheduleRan: (state, { name, due_at, turn, skipped, next_at, at }) => ({
    ...state,
    schedules: state.schedules.map((schedule) =>
      schedule.name === name ? { ...schedule, next_at, last: { due_at, at, turn, skipped } } : schedule,
    ),
  }),
  ScheduleRemoved: (state, { name }) => ({ ...state, schedules: without(state.schedules, name) }),
};
