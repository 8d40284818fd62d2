/**
 * How long a call may be silent, and how long it may take. A model that thinks may show nothing of it for minutes (OpenAI and Google send no
 * byte meanwhile), before its first word and after a thought alike; after a piece of text, silence is a stall whoever speaks. One timer at a time, none of them per chunk.
 */
import type { ModelSpec } from "../ports";
import type { SessionPorts } from "../session-ports";

interface Watch {
  /** Something came from the provider, also what says nothing, as a ping does. `isText`: a piece of the reply's words. */
  heard(isText?: boolean): void;
  end(): void;
  /** A deadline passed, and the call was aborted for it. */
  readonly expired: boolean;
}

type WatchPorts = Pick<SessionPorts, "clock" | "schedule" | "deadlines">;

export interface Watched {
  readonly abort: AbortController;
  readonly spec: Pick<ModelSpec, "capabilities">;
}

export function watchDeadlines({ clock, schedule, deadlines }: WatchPorts, { abort, spec }: Watched): Watch {
  const thinkingMs = spec.capabilities?.reasoning === true ? deadlines.thinkingMs : 0;
  const endsAt = clock() + deadlines.totalMs;
  let silentUntil = clock() + Math.max(deadlines.firstTokenMs, thinkingMs);
  let expired = false;
  let ringsAt = Number.POSITIVE_INFINITY;
  let cancel: () => void = () => {};

  const dueAt = (): number => Math.min(silentUntil, endsAt);
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
    heard(isText = false) {
      silentUntil = clock() + (isText ? deadlines.idleMs : Math.max(deadlines.idleMs, thinkingMs));
      // A deadline that moves away is seen when the timer rings; only the first token, or words after a thought, bring it nearer.
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
