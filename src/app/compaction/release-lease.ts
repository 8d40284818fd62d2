/** Releases a lease whose holder cannot go on: the next worker may take it, and it does not count as an attempt. */
import type { CompactionCommand } from "../../domain/commands";
import type { CompactionId } from "../../domain/ids";
import type { SummaryOutcome } from "../session-api";
import type { CompactionPorts } from "./plan-session";
import { compactionCall } from "./summarize";

type Ports = Pick<CompactionPorts, "writer" | "clock">;

interface GivenBack {
  readonly compaction: CompactionId;
  readonly token: number;
  /** The call that was made, to be recorded although its result is not used. Null when none was made. */
  readonly outcome: SummaryOutcome | null;
  /** The number of the call's part: how many parts were done before it. */
  readonly part: number;
}

/** Releases the lease. Finished chunks are kept. */
export function releaseLease({ compaction, token, outcome, part }: GivenBack, { writer, clock }: Ports): "done" {
  const call = outcome && compactionCall({ outcome, token }, writer.state);
  const given = failLease({ compaction, token, failure: "aborted", call }, { writer, clock });
  if (!given && call) writer.execute({ type: "RecordSpentCall", at: clock(), call, part });
  return "done";
}

/**
 * Releases a lease that a turn took in an earlier life of the object. Runs first in a new life: the holder is certainly gone, and waiting
 * for the lease to expire would be useless. It counts as an attempt, because the work may have ended that life. Finished chunks
 * are kept.
 */
export function releaseDeadLease(incarnation: string, { writer, clock }: Ports): void {
  const { requested, lease } = writer.state.compaction;
  if (!requested || !lease?.inline || lease.inline.incarnation === incarnation) return;
  failLease({ compaction: requested.id, token: lease.token, failure: "lease_expired", call: null }, { writer, clock });
}

type Freed = Pick<Extract<CompactionCommand, { type: "FailCompaction" }>, "compaction" | "token" | "failure" | "call">;

/** Fails the attempt without a fallback, however many attempts are left. False when the lease was not the current one. */
function failLease(freed: Freed, { writer, clock }: Ports): boolean {
  const command = { type: "FailCompaction", at: clock(), ...freed, attemptLimit: Number.POSITIVE_INFINITY } as const;
  return writer.execute({ ...command, fallback: null, inside: null }).ok;
}
