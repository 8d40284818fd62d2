/** Between two attempts of a summary: a summariser that is busy or out of reach is given a while; whatever else failed, time does not mend. */
import type { Efforts } from "../retry";
import type { SummaryOutcome } from "../session-api";
import type { Schedule } from "../session-ports";
import { waitFor } from "../wait";

export interface WaitPorts {
  readonly schedule: Schedule;
  readonly random: () => number;
}

export interface Waiting {
  readonly efforts: Efforts;
  /** Milliseconds that anybody waits. */
  readonly most: number;
  /** Ends the wait: nobody wants the summary any more. */
  readonly signal: AbortSignal;
}

/** At once where it would be longer than anybody waits: the next attempt may ask another model. */
export async function waitAfter(
  outcome: SummaryOutcome,
  { efforts, most, signal }: Waiting,
  { schedule, random }: WaitPorts,
): Promise<void> {
  if (outcome.ok || (outcome.failure !== "rate_limit" && outcome.failure !== "unavailable")) return;
  efforts.failed(outcome.estimate, outcome.ms);
  const { failure: kind, retry_after_ms } = outcome;
  const failure = { kind, status: null, ...(retry_after_ms === undefined ? {} : { retry_after_ms }) };
  const ms = efforts.nextWait(failure, { calls: efforts.calls, random });
  if (ms !== null && ms > 0 && ms <= most) await waitFor(ms, signal, schedule);
}
