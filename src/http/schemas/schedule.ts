/** What a client sets a schedule with. */
import { z } from "@hono/zod-openapi";
import { SCHEDULE_NAME, SCHEDULE_NAME_RULE } from "../../contract/schedule";
import type { ScheduleTime } from "../../domain/schedule-events";
import { findCronFault, isTimezone } from "../../lib/cron";

const MAX_MESSAGE = 16_000;
const MAX_CRON = 128;
/** No farther, so that a time in seconds or microseconds is found out. */
const MAX_YEARS_MS = 10 * 366 * 24 * 60 * 60 * 1_000;

export const scheduleName = z.string().regex(SCHEDULE_NAME, SCHEDULE_NAME_RULE);

const at = z
  .union(
    [z.int().min(0), z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))],
    "must be epoch milliseconds, or a time such as 2026-12-01T09:00:00+01:00",
  )
  .openapi({
    type: ["integer", "string"],
    description: "Once: epoch milliseconds, or an ISO 8601 time with its offset",
    example: "2026-12-01T09:00:00+01:00",
  });

export const scheduleInput = z
  .strictObject({
    message: z.string().max(MAX_MESSAGE).regex(/\S/, "must not be empty").openapi({ description: "The text of the user's message" }),
    cron: z.string().max(MAX_CRON).optional().openapi({
      description: "Again and again, at most once a minute. Five fields: minute, hour, day of the month, month, day of the week",
      example: "0 9 * * 1-5",
    }),
    timezone: z
      .string()
      .max(64)
      .refine(isTimezone, "must be a time zone of the IANA database, such as Europe/Lisbon")
      .optional()
      .openapi({ description: "The time zone of `cron`. Absent: UTC", example: "Europe/Lisbon" }),
    at: at.optional(),
  })
  .openapi("PutSchedule");
type ScheduleBody = z.infer<typeof scheduleInput>;

/** The time, or the field at fault. `now`: epoch milliseconds. */
export function readScheduleTime(
  { cron, timezone, at }: ScheduleBody,
  now: number,
): ScheduleTime | { readonly field: string; readonly detail: string } {
  if (cron !== undefined && at !== undefined) return { field: "at", detail: "must not be given beside cron" };
  if (cron !== undefined) {
    const detail = findCronFault(cron, now);
    return detail ? { field: "cron", detail } : { cron: cron.trim(), timezone: timezone ?? "UTC" };
  }
  if (at === undefined) return { field: "cron", detail: "needed, or at" };
  if (timezone !== undefined) return { field: "timezone", detail: "is of cron: a time has its own offset" };
  if (at <= now) return { field: "at", detail: "is in the past" };
  return at > now + MAX_YEARS_MS ? { field: "at", detail: "is more than ten years ahead; it counts milliseconds" } : { at };
}
