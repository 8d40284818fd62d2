/** A lease that its holder can do nothing more with: it is free for the next worker, and it counts as no attempt. */
import type { CompactionId } from "../domain/ids";
import { compactionCall } from "./compaction-call";
import type { CompactionPorts } from "./plan-session";
import type { SummaryOutcome } from "./session-api";

export interface GivenBack {
  readonly compaction: CompactionId;
  readonly token: number;
  /** A call that was made comes to nothing, and is recorded. Null: none was. */
  readonly outcome: SummaryOutcome | null;
}

/** Finished parts of a fold stay. */
export function giveBack({ compaction, token, outcome }: GivenBack, { writer, clock }: Pick<CompactionPorts, "writer" | "clock">): "done" {
  const call = outcome && compactionCall({ outcome, token }, writer.state);
  const command = { type: "FailCompaction", at: clock(), compaction, token, failure: "aborted", call } as const;
  const given = writer.execute({ ...command, attemptLimit: Number.POSITIVE_INFINITY, fallback: null, inside: null });
  if (!given.ok && call) writer.execute({ type: "RecordSpentCall", at: clock(), call });
  return "done";
}

/**
 * The first thing a new life of the object says of a lease that an earlier one took inside a turn: its holder is gone for certain, and nobody
 * need wait for it. It counts as an attempt, for it may be what ended that life. Finished parts of a fold stay.
 */
export function freeDeadLease(incarnation: string, { writer, clock }: Pick<CompactionPorts, "writer" | "clock">): void {
  const { requested, lease } = writer.state.compaction;
  if (!requested || !lease?.inline || lease.inline.incarnation === incarnation) return;
  const failed = { compaction: requested.id, token: lease.token, failure: "lease_expired", call: null } as const;
  const command = { type: "FailCompaction", at: clock(), ...failed, attemptLimit: Number.POSITIVE_INFINITY } as const;
  writer.execute({ ...command, fallback: null, inside: null });
}
