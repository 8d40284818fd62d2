/** What the parts of a tenant's object share that come back by its one alarm: arming it, and how long they wait. */
import type { Clock } from "../../app/ports";
import { backOff } from "../../lib/back-off";

/** The object's one alarm. */
export interface TenantAlarm {
  /** Null when no alarm is set, or it is ringing. */
  get(): Promise<number | null>;
  set(at: number): void;
}

const LONGEST_RETRY_MS = 60 * 60 * 1_000;

/** The wait after `failures` failures in a row: `first`, and then twice as long each time, up to an hour. */
export const toRetryWait = (first: number, failures: number): number => backOff(failures, { first, longest: LONGEST_RETRY_MS });

/** Arms the alarm for what is due, unless it rings before. Null: nothing is due. */
export async function armAlarm(alarm: TenantAlarm, due: number | null, now: Clock): Promise<void> {
  const set = due === null ? null : await alarm.get();
  if (due !== null && (set === null || set > due)) alarm.set(Math.max(due, now()));
}
