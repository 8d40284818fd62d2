/** A call's three deadlines: first token, idle between tokens, total. One timer at a time, none of them per chunk. */
import type { SessionPorts } from "./session-ports";

export interface Watch {
  /** The provider wrote something, whether a chunk came out of it or not. */
  readonly heard: () => void;
  end(): void;
  /** A deadline passed, and the call was aborted for it. */
  readonly expired: boolean;
}

export function watchDeadlines(
  { clock, schedule, deadlines }: Pick<SessionPorts, "clock" | "schedule" | "deadlines">,
  abort: AbortController,
): Watch {
  const startedAt = clock();
  let lastAt: number | null = null;
  let expired = false;
  let ringsAt = Number.POSITIVE_INFINITY;
  let cancel: () => void = () => {};

  const dueAt = (): number => {
    const next = lastAt === null ? startedAt + deadlines.firstTokenMs : lastAt + deadlines.idleMs;
    return Math.min(next, startedAt + deadlines.totalMs);
  };
  const arm = (): void => {
    ringsAt = dueAt();
    cancel = schedule(ringsAt - clock(), look);
  };
  const look = (): void => {
    if (dueAt() > clock()) return arm();
    expired = true;
    abort.abort();
  };
  arm();
  return {
    heard() {
      lastAt = clock();
      // A deadline that moves away is seen when the timer rings; only after the first token is there one that comes nearer.
      if (dueAt() >= ringsAt) return;
      cancel();
      arm();
    },
    end: () => cancel(),
    get expired() {
      return expired;
    },
  };
}
