/** A call's three deadlines: first token, idle between tokens, total. One timer at a time, none of them per chunk. */
import type { SessionPorts } from "./session-ports";

export interface Watch {
  /** A chunk came. */
  heard(): void;
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
  let cancel: () => void = () => {};

  const dueAt = (): number => {
    const next = lastAt === null ? startedAt + deadlines.firstTokenMs : lastAt + deadlines.idleMs;
    return Math.min(next, startedAt + deadlines.totalMs);
  };
  const look = (): void => {
    const left = dueAt() - clock();
    if (left > 0) {
      cancel = schedule(left, look);
      return;
    }
    expired = true;
    abort.abort();
  };
  cancel = schedule(dueAt() - startedAt, look);
  return {
    heard() {
      lastAt = clock();
    },
    end: () => cancel(),
    get expired() {
      return expired;
    },
  };
}
