/**
 * Watches a call's deadlines: silence and total time. A model that thinks may send nothing for minutes (OpenAI and Google send no byte
 * meanwhile), before its first word and between thoughts. After a piece of text, silence is a stall for every model. One timer runs at a
 * time; no chunk starts one of its own unless it brings the deadline nearer.
 */
import type { ModelSpec } from "../ports";
import type { SessionPorts } from "../session-ports";

interface Watch {
  /** Call it for anything that comes from the provider, including pings. `isText`: the chunk is a piece of the reply's text. */
  heard(isText?: boolean): void;
  end(): void;
  /** True once a deadline passed and the call was aborted. */
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
      // A later deadline is noticed when the timer fires. Only the first sign of life, or text after thinking, brings the deadline nearer.
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
