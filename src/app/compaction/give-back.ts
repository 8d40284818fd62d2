/** A lease that its holder can do nothing more with: it is free for the next worker, and it counts as no attempt. */
import type { CompactionCommand } from "../../domain/commands";
import type { CompactionId } from "../../domain/ids";
import type { SummaryOutcome } from "../session-api";
import type { CompactionPorts } from "./plan-session";
import { compactionCall } from "./summarize";

type Ports = Pick<CompactionPorts, "writer" | "clock">;

interface GivenBack {
  readonly compaction: CompactionId;
  readonly token: number;
  /** A call that was made comes to nothing, and is recorded. Null: none was. */
  readonly outcome: SummaryOutcome | null;
  /** Which part the call was of: how many were done before it. */
  readonly part: number;
}

/** Finished parts of a fold stay. */
export function giveBack({ compaction, token, outcome, part }: GivenBack, { writer, clock }: Ports): "done" {
  const call = outcome && compactionCall({ outcome, token }, writer.state);
  const given = free({ compaction, token, failure: "aborted", call }, { writer, clock });
  if (!given && call) writer.execute({ type: "RecordSpentCall", at: clock(), call, part });
  return "done";
}

/**
 * The first thing a new life of the object says of a lease that an earlier one took inside a turn: its holder is gone for certain, and nobody
 * need wait for it. It counts as an attempt, for it may be what ended that life. Finished parts of a fold stay.
 */
export function freeDeadLease(incarnation: string, { writer, clock }: Ports): void {
  const { requested, lease } = writer.state.compaction;
  if (!requested || !lease?.inline || lease.inline.incarnation === incarnation) return;
  free({ compaction: requested.id, token: lease.token, failure: "lease_expired", call: null }, { writer, clock });
}

type Freed = Pick<Extract<CompactionCommand, { type: "FailCompaction" }>, "compaction" | "token" | "failure" | "call">;

/** Whatever attempts are left, nothing takes the place of a summary. False: the lease was not the current one. */
function free(freed: Freed, { writer, clock }: Ports): boolean {
  const command = { type: "FailCompaction", at: clock(), ...freed, attemptLimit: Number.POSITIVE_INFINITY } as const;
  return writer.execute({ ...command, fallback: null, inside: null }).ok;
}
