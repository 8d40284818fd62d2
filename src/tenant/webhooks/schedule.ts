/** When a delivery is tried again (Standard Webhooks). */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The wait before each try after the first: the last is some three days after the event. */
const RETRY_WAITS_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** A wait is longer by up to this part of it, so that what failed together is not tried again together. */
const JITTER = 0.1;

/** The wait after the failure of try number `step`, which counts from 1. Null: that was the last. */
export function toNextWait(step: number, random: number): number | null {
  const wait = RETRY_WAITS_MS[step - 1];
  return wait === undefined ? null : Math.round(wait * (1 + random * JITTER));
}

/** An endpoint that answered nothing but failures for so long is disabled. */
export const FAILING_MS = 5 * 24 * HOUR;
