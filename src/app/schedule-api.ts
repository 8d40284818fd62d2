/** Schedules: part of what a session's object answers. */
import type { ScheduleView } from "../contract/schedule";
import type { KeyId } from "../domain/ids";
import type { ScheduleTime } from "../domain/schedule-events";
import { type Condition, toEtag } from "./conditions";
import type { Caller, Outcome } from "./session-api";

/** What a client compares a schedule by: what it set. A run changes nothing of it. */
export const toScheduleEtag = ({ cron, timezone, at, message }: ScheduleView): string => toEtag({ cron, timezone, at, message });

export interface ScheduleInput {
  readonly name: string;
  readonly time: ScheduleTime;
  readonly message: string;
  /** The caller's key, which the session's object adds. */
  readonly key?: KeyId;
}

export interface ScheduleApi {
  /** All of them, by name. */
  schedules(caller: Caller): Promise<Outcome<readonly ScheduleView[]>>;
  /** Sets the schedule in place of one of that name. The same schedule changes nothing. */
  setSchedule(caller: Caller, input: ScheduleInput, condition?: Condition): Promise<Outcome<ScheduleView>>;
  removeSchedule(caller: Caller, name: string, condition?: Condition): Promise<Outcome<null>>;
}
