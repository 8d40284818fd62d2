/** The object's pending jobs and when they are due. One alarm serves the table, earliest first (docs/events.md). */
import { isRunning, type SessionState } from "../../domain/state";
import type { Sql } from "./sql";

const JOB_KINDS = [
  "project",
  "recover_turn",
  "wake_compaction",
  "expire_tools",
  "erase_projection",
  "scrub",
  "keep_files",
  "discard",
  "record_acts",
  "budget",
  "schedule",
  "announce",
  "follow_in_chat",
] as const;
type JobKind = (typeof JOB_KINDS)[number];

export interface Job {
  readonly kind: JobKind;
  /** Epoch milliseconds. */
  readonly due_at: number;
  readonly attempts: number;
}

/** True when the alarm must come back for turns: one is running, or messages wait while none is open. */
export const needsWatch = ({ turn, queue }: SessionState): boolean => (turn ? isRunning(turn) : queue.length > 0);

export interface Jobs {
  /** Arms a job. A job that is armed already moves to `dueAt`. */
  arm(kind: JobKind, dueAt: number, attempts?: number): void;
  /** Arms a job, unless it is armed for the same time or earlier. */
  armIfIdle(kind: JobKind, dueAt: number): void;
  disarm(kind: JobKind): void;
  due(now: number): Job[];
  get(kind: JobKind): Job | null;
  /** When the alarm must ring. Null when there is nothing to do. */
  nextDue(): number | null;
}

/** The table alone. A caller that arms a job inside a transaction sets the alarm after the commit. */
export function createJobs(sql: Sql): Jobs {
  /** A cache, since every commit asks for it and most arm nothing. Undefined: not known. */
  let earliest: number | null | undefined;
  const write = (kind: JobKind, dueAt: number, attempts: number): void => {
    earliest = undefined;
    sql.all(
      "INSERT INTO jobs (kind, due_at, attempts) VALUES (?, ?, ?) ON CONFLICT (kind) DO UPDATE SET due_at = excluded.due_at, attempts = excluded.attempts",
      kind,
      dueAt,
      attempts,
    );
  };
  const rows = (query: string, ...params: (string | number)[]): Job[] =>
    sql.all<{ kind: JobKind; due_at: number; attempts: number }>(query, ...params);
  return {
    arm: (kind, dueAt, attempts = 0) => write(kind, dueAt, attempts),
    armIfIdle(kind, dueAt) {
      const armed = this.get(kind);
      if (!armed || armed.due_at > dueAt) write(kind, dueAt, armed?.attempts ?? 0);
    },
    disarm(kind) {
      earliest = undefined;
      sql.all("DELETE FROM jobs WHERE kind = ?", kind);
    },
    due: (now) => rows("SELECT kind, due_at, attempts FROM jobs WHERE due_at <= ? ORDER BY due_at", now),
    get: (kind) => rows("SELECT kind, due_at, attempts FROM jobs WHERE kind = ?", kind)[0] ?? null,
    nextDue() {
      if (earliest === undefined) earliest = sql.all<{ due: number | null }>("SELECT min(due_at) AS due FROM jobs")[0]?.due ?? null;
      return earliest;
    },
  };
}
