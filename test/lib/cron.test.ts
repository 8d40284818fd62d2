/** Cron expressions: which are refused, and when one comes due in a time zone. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findCronFault, findNextTime, isTimezone } from "../../src/lib/cron";

const NOW = Date.parse("2026-11-24T12:00:00Z");
const next = (expression: string, timezone: string, after: string): string | null => {
  const at = findNextTime(expression, timezone, Date.parse(after));
  return at === null ? null : new Date(at).toISOString();
};

describe("the next time", () => {
  test.each([
    ["0 9 * * 1-5", "Europe/Lisbon", "2026-11-27T10:00:00Z", "2026-11-30T09:00:00.000Z"],
    ["*/15 * * * *", "UTC", "2026-11-24T12:15:00Z", "2026-11-24T12:30:00.000Z"],
    ["30 6 * * *", "Asia/Kolkata", "2026-11-24T12:00:00Z", "2026-11-25T01:00:00.000Z"],
    ["0 0 29 2 *", "UTC", "2026-11-24T12:00:00Z", "2028-02-29T00:00:00.000Z"],
    // The hour from 02:00 to 03:00 is skipped in Berlin on this day.
    ["30 2 29 3 *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00.000Z"],
  ])("of %s in %s after %s is %s", (expression, timezone, after, expected) => {
    expect(next(expression, timezone, after)).toBe(expected);
  });

  test("of an hour that the clock repeats comes once", () => {
    const first = next("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z");
    expect(first && next("30 2 * * *", "Europe/Berlin", first)).toBe("2026-10-26T01:30:00.000Z");
  });

  test("is always later", () => {
    const field = (most: number) => fc.oneof(fc.constant("*"), fc.integer({ min: 0, max: most }).map(String));
    fc.assert(
      fc.property(field(59), field(23), fc.integer({ min: 0, max: 4_000_000_000_000 }), (minute, hour, after) => {
        const at = findNextTime(`${minute} ${hour} * * *`, "America/New_York", after);
        expect(at).toBeGreaterThan(after);
        expect((at ?? 0) - after).toBeLessThanOrEqual(2 * 86_400_000);
      }),
    );
  });
});

describe("an expression is refused", () => {
  test.each([
    ["", "must have five fields"],
    ["0 9 * *", "must have five fields"],
    ["* * * * * *", "must have five fields"],
    ["@daily", "must have five fields"],
    ["2026-12-01T09:00:00Z", "must have five fields"],
    ["60 0 * * *", "is not a cron expression"],
    ["a b c d e", "is not a cron expression"],
    ["*/0 * * * *", "is not a cron expression"],
    ["0-99999999 * * * *", "is not a cron expression"],
    ["0 0 30 2 *", "matches no date"],
  ])("%j: %s", (expression, fault) => {
    expect(findCronFault(expression, NOW)).toContain(fault);
  });

  test("and no text makes the check throw", () => {
    const part = fc.string({ maxLength: 12 }).filter((text) => !/\s/.test(text));
    fc.assert(
      fc.property(fc.array(part, { minLength: 5, maxLength: 5 }), (parts) => {
        expect([null, "string"]).toContain(findCronFault(parts.join(" "), NOW) === null ? null : "string");
      }),
    );
  });
});

test("a time zone is one of the IANA database", () => {
  expect(["Europe/Lisbon", "UTC", "Asia/Kolkata"].map(isTimezone)).toEqual([true, true, true]);
  expect(["", "Mars/Base", "../etc", "Europe/Lisbon "].map(isTimezone)).toEqual([false, false, false, false]);
});
