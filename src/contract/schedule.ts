/** A schedule of a session: a message that the session's object submits by itself. */
import { z } from "@hono/zod-openapi";
import { idOrNull, time } from "./ids";

/** A schedule's name, which is part of paths. */
export const SCHEDULE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
export const SCHEDULE_NAME_RULE = "1 to 64 letters, digits, _ or -, a letter or digit first";

const scheduleRun = z.object({
  due_at: time,
  at: time.openapi({ description: "When it ran. Later than `due_at` if the service was away, or no turn could start" }),
  turn_id: idOrNull("trn").openapi({ description: "The turn that it started, or that waits in the session's queue" }),
  skipped: z
    .enum(["busy", "limit", "budget", "suspended", "message_limit", "storage_full", "unavailable", "refused"])
    .nullable()
    .openapi({ description: "Why it started no turn. Nothing was appended" }),
});

export const scheduleView = z
  .object({
    name: z.string(),
    cron: z.string().nullable().openapi({ description: "Five fields: minute, hour, day of the month, month, day of the week" }),
    timezone: z.string().nullable().openapi({ description: "The IANA time zone of `cron`" }),
    at: z.int().nullable().openapi({ description: "For a schedule that runs once: when. Epoch milliseconds" }),
    message: z.string().openapi({ description: "The text of the user's message" }),
    next_at: z.int().nullable().openapi({ description: "When it runs next, epoch milliseconds. Null: not again" }),
    last_run: scheduleRun.nullable(),
    updated_at: time,
  })
  .openapi("Schedule");
export type ScheduleView = z.infer<typeof scheduleView>;
