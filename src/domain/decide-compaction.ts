/**
 * Who may change the view, and when. A summary is committed by compare-and-set on the base epoch, the covered
 * range, the replaced overlays and the lease's token: late, doubled or stale results decide to nothing.
 */
import { assertNever } from "../lib/assert-never";
import { err, ok, type Result } from "../lib/result";
import type { Command, CompactionCommand, EpochDraft, ModelCall } from "./commands";
import { type Decision, voidCompaction } from "./decision";
import type { CompactionTrigger, Event } from "./events";
import type { CompactionId } from "./ids";
import type { Rejection, StaleReason } from "./rejection";
import type { CompactionLease, SessionState } from "./state";

type Of<T extends CompactionCommand["type"]> = Command & Extract<CompactionCommand, { type: T }>;

export function decideCompaction(command: Command & CompactionCommand, state: SessionState): Decision {
  switch (command.type) {
    case "RequestCompaction":
      return ok(
        state.compaction.requested
          ? []
          : [{ type: "CompactionRequested", compaction: command.compaction, trigger: command.trigger, base_epoch: state.view.epoch }],
      );
    case "LeaseCompaction":
      return decideLease(command, state);
    case "RecordCompaction":
      return decideRecord(command, state);
    case "FailCompaction":
      return decideFailure(command, state);
    case "ChangeEpoch":
      return decideChange(command, state);
    case "RecordSpentCall":
      return decideSpent(command, state);
    default:
      return assertNever(command);
  }
}

const stale = (reason: StaleReason): Result<never, Rejection> => err({ code: "stale", reason });

function epochChanged(change: EpochDraft, by: { trigger: CompactionTrigger; compaction: CompactionId | null }): Event {
  return {
    type: "EpochChanged",
    base_epoch: change.base_epoch,
    epoch: change.base_epoch + 1,
    ...by,
    ops: change.ops,
    receipt: change.receipt,
  };
}

const finished = (call: ModelCall | null): Event[] => (call ? [{ type: "ModelCallFinished", ...call }] : []);

/** Inline work goes first: a compaction under way was planned on the epoch that ends here. */
function decideChange(command: Of<"ChangeEpoch">, state: SessionState): Decision {
  if (command.change.base_epoch !== state.view.epoch) return stale("epoch_moved");
  return ok([...voidCompaction(state), epochChanged(command.change, { trigger: command.trigger, compaction: command.compaction })]);
}

/** A lease's call is recorded with its result, or here; of either there is one, however often the result is delivered. */
function decideSpent({ call }: Of<"RecordSpentCall">, { compaction }: SessionState): Decision {
  if (call.lease === null || !compaction.unsettled.includes(call.lease)) return stale("lease_lost");
  return ok([{ type: "ModelCallFinished", ...call, outcome: "stale" }]);
}

/** An expired lease counts as an attempt: a summariser that hangs for ever is a summariser that failed. */
function decideLease(command: Of<"LeaseCompaction">, state: SessionState): Decision {
  const { requested, lease, next_token } = state.compaction;
  if (requested?.id !== command.compaction) return stale("compaction_over");
  if (lease && lease.expires_at > command.at) return err({ code: "lease_held", expires_at: lease.expires_at });
  if (requested.attempts >= command.attemptLimit) return stale("compaction_over");
  if (command.plan.base_epoch !== state.view.epoch) return stale("epoch_moved");
  const expired: Event[] = lease ? [failed(command.compaction, lease, "lease_expired")] : [];
  return ok([
    ...expired,
    {
      type: "CompactionStarted",
      compaction: command.compaction,
      token: next_token,
      attempt: requested.attempts + 1,
      expires_at: command.expiresAt,
      ...command.plan,
    },
  ]);
}

function failed(compaction: CompactionId, lease: CompactionLease, failure: "lease_expired"): Event {
  return { type: "CompactionFailed", compaction, token: lease.token, attempt: lease.attempt, failure, final: false };
}

function decideRecord(command: Of<"RecordCompaction">, state: SessionState): Decision {
  const { requested, lease } = state.compaction;
  if (requested?.id !== command.compaction) return stale("compaction_over");
  if (!lease || lease.token !== command.token) return stale("lease_lost");
  if (state.turn) return stale("not_idle");
  if (command.change.base_epoch !== state.view.epoch || lease.base_epoch !== state.view.epoch) return stale("epoch_moved");
  if (!coversLeasedRange(command.change, lease, state)) return stale("range_changed");
  return ok([...finished(command.call), epochChanged(command.change, { trigger: requested.trigger, compaction: command.compaction })]);
}

function coversLeasedRange(change: EpochDraft, lease: CompactionLease, state: SessionState): boolean {
  const known = new Set(state.view.overlays.map((overlay) => overlay.id));
  return change.ops.every((op) => {
    if (op.op !== "summarize") return true;
    const sameRange = op.from === lease.range.from && op.to === lease.range.to;
    const sameOverlays =
      op.replaces.length === lease.replaces.length && op.replaces.every((id) => lease.replaces.includes(id) && known.has(id));
    return sameRange && sameOverlays;
  });
}

/** The last failure ends the compaction and lets the oldest groups leave the view, in one step (FEAT-011, failure handling). */
function decideFailure(command: Of<"FailCompaction">, state: SessionState): Decision {
  const { requested, lease } = state.compaction;
  const { compaction, token, failure, fallback } = command;
  if (requested?.id !== compaction) return stale("compaction_over");
  if (token !== null && lease?.token !== token) return stale("lease_lost");
  const attempt = Math.max(requested.attempts, 1);
  const final = token === null || attempt >= command.attemptLimit;
  const events: Event[] = [...finished(command.call), { type: "CompactionFailed", compaction, token, attempt, failure, final }];
  if (!final || !fallback) return ok(events);
  if (state.turn) return stale("not_idle");
  if (fallback.base_epoch !== state.view.epoch) return stale("epoch_moved");
  return ok([...events, epochChanged(fallback, { trigger: "fallback", compaction })]);
}
