/** What a schedule may be set with over HTTP, and which field a refusal names. */
import { describe, expect, test } from "vitest";
import { readScheduleTime, scheduleInput } from "../../src/http/schemas/schedule";

const NOW = Date.parse("2026-11-24T12:00:00Z");
const message = "Give me today's briefing.";

const read = (body: object) => {
  const parsed = scheduleInput.safeParse(body);
  return parsed.success ? readScheduleTime(parsed.data, NOW) : { field: parsed.error.issues[0]?.path.join("."), detail: "shape" };
};

describe("the time of a schedule", () => {
  test.each([
    [
      { cron: " 0 9 * * 1-5 ", message },
      { cron: "0 9 * * 1-5", timezone: "UTC" },
    ],
    [
      { cron: "0 9 * * *", timezone: "Asia/Tokyo", message },
      { cron: "0 9 * * *", timezone: "Asia/Tokyo" },
    ],
    [{ at: NOW + 1, message }, { at: NOW + 1 }],
    [{ at: "2026-12-01T09:00:00+01:00", message }, { at: Date.parse("2026-12-01T08:00:00Z") }],
  ])("%j is %j", (body, time) => {
    expect(read(body)).toEqual(time);
  });

  test.each([
    [{ message }, "cron"],
    [{ cron: "0 9 * * *", at: NOW + 1, message }, "at"],
    [{ cron: "every day", message }, "cron"],
    [{ cron: "0 0 30 2 *", message }, "cron"],
    [{ cron: "* * * * * *", message }, "cron"],
    [{ cron: "0 9 * * *", timezone: "Berlin", message }, "timezone"],
    [{ at: NOW + 1, timezone: "Europe/Berlin", message }, "timezone"],
    [{ at: NOW, message }, "at"],
    [{ at: (NOW + 1) * 1_000, message }, "at"],
    [{ at: "2026-12-01T09:00:00", message }, "at"],
    [{ at: "tomorrow", message }, "at"],
    [{ at: 1.5, message }, "at"],
    [{ cron: "0 9 * * *", message: "   " }, "message"],
    [{ cron: "0 9 * * *", message: "x".repeat(16_001) }, "message"],
    [{ cron: "0 9 * * *" }, "message"],
  ])("%j is refused for %s", (body, field) => {
    expect(read(body)).toMatchObject({ field });
  });
});
