/** Schedules of a session: messages that its object submits by itself, at a time or again and again (docs/api/schedules.md). */
import type { KeyId, TurnId } from "./ids";
import type { TextRef } from "./message";

/** `cron`: five fields, in the IANA time zone. `at`: once, epoch milliseconds. */
export type ScheduleTime = { readonly cron: string; readonly timezone: string } | { readonly at: number };

/** Why a run that came due started no turn. Nothing was appended. */
export type SkipReason = "busy" | "limit" | "budget" | "suspended" | "message_limit" | "storage_full" | "unavailable" | "refused";

type ScheduleRun = {
  /** When the run was due, epoch milliseconds. */
  readonly due_at: number;
  /** The turn that it started. Null: none. */
  readonly turn: TurnId | null;
  /** Null when it started a turn. */
  readonly skipped: SkipReason | null;
};

export interface SessionSchedule {
  readonly name: string;
  readonly time: ScheduleTime;
  readonly message: TextRef;
  readonly set_at: number;
  /** When the next run is due, epoch milliseconds. Null: there is none. */
  readonly next_at: number | null;
  readonly last: (ScheduleRun & { readonly at: number }) | null;
  /** The API key that set the schedule, which its turns are counted for. Absent: none is known. */
  readonly key?: KeyId;
}

type Named = { readonly name: string };

export type ScheduleEvent =
  /** Sets a schedule, in place of one of that name. */
  | ({
      readonly type: "ScheduleSet";
      readonly message: TextRef;
      readonly next_at: number;
      readonly time: ScheduleTime;
      readonly key?: KeyId;
    } & Named)
  /** A schedule came due. It stands behind the events of the turn that it started. `next_at`: null when it will not run again. */
  | ({ readonly type: "ScheduleRan"; readonly next_at: number | null } & ScheduleRun & Named)
  | ({ readonly type: "ScheduleRemoved" } & Named);

export type ScheduleCommand =
  | ({
      readonly type: "SetSchedule";
      readonly message: TextRef;
      readonly next_at: number;
      readonly time: ScheduleTime;
      readonly key?: KeyId;
    } & Named)
  | ({ readonly type: "RemoveSchedule" } & Named)
  /** Notes a run. `due_at` is when it was due: another run is not noted. */
  | ({ readonly type: "RecordScheduleRun"; readonly next_at: number | null } & ScheduleRun & Named);
