/** The refusals that concern schedules: part of the table in `problem`. */
import type { SessionError } from "../app/session-api";
import { conflict, type RouteAnswer, unknown } from "./answer";

type Code = "schedule_not_found" | "schedule_limit";

export const scheduleAnswers: { readonly [C in Code]: (error: Extract<SessionError, { code: C }>) => RouteAnswer } = {
  schedule_not_found: () => unknown("schedule", "schedule_name"),
  schedule_limit: ({ limit }) => conflict("Too many schedules", `A session has at most ${limit} schedules that will run.`, { limit }),
};
