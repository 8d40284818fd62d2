/** Times in UTC, in a form that people read. Pure: the time is an argument. */

/** `2026-05-08T13:56Z`, to the minute. */
export const toUtcMinute = (at: number): string => `${new Date(at).toISOString().slice(0, 16)}Z`;

export function toUtcDay(at: number): { readonly year: number; readonly month: number; readonly day: number } {
  const date = new Date(at);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** When the month of `at` began, `months` earlier. */
export function toMonthStart(at: number, months = 0): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, 1);
}
