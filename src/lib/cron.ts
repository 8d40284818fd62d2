/** Cron expressions of five fields in a time zone, by croner: it knows time zones, leap years and the hours that a change of the clock skips or repeats. */
import { Cron } from "croner";

const parse = (expression: string, timezone: string): Cron => new Cron(expression, { mode: "5-part", timezone });

/** The first time after `after` that matches, epoch milliseconds. Null: none ever does. Throws for an invalid expression or time zone. */
export function findNextTime(expression: string, timezone: string, after: number): number | null {
  return parse(expression, timezone).nextRun(new Date(after))?.getTime() ?? null;
}

/** Why the expression is refused. Null: it is valid, and there is a time that matches. */
export function findCronFault(expression: string, now: number): string | null {
  // A date is taken for an expression that matches once.
  if (expression.trim().split(/\s+/).length !== 5) return "must have five fields: minute, hour, day of the month, month, day of the week";
  try {
    return findNextTime(expression, "UTC", now) === null ? "matches no date" : null;
  } catch {
    return "is not a cron expression: five fields, such as 0 9 * * 1-5";
  }
}

export function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).format(0) !== "";
  } catch {
    return false;
  }
}
