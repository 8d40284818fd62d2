/**
 * Decides which command may change the view, and when. A summary is committed by compare-and-set on the base epoch, the
 * covered range, the replaced overlays and the lease's fencing token. Late, duplicate or stale results are rejected.
 */
import { err, ok, type Result } from "../lib/result";
import type { CommandOf, CompactionCommand, EpochChange, ModelCall, TurnRun } from "./commands";
import { type CompactionTrigger, isStandalone, type SummaryPlan } from "./compaction-events";
import { type CompactionLease, type RequestedCompaction, triggerOfWork } from "./compaction-work";
import { type Deciders, type Decision, endRequested, voidCompaction } from "./decision";
import type { Event } from "./events";
import type { CompactionId } from "./ids";
import type { Rejection, StaleReason } from "./rejection";
import type { SessionState } from "./state";

export const compactionDeciders: Deciders<CompactionCommand["type"]> = {
  RequestCompaction: decideRequest,
  LeaseCompaction: decideLease,
  ProgressCompaction: decideProgress,
  RecordCompaction: decideRecord,
  FailCompaction: decideFailure,
  ChangeEpoch: decideChange,
  RevertCompaction: decideRevert,
  ResetSummary: decideTakingBack,
  RecordSpentCall: decideSpent,
};

const stale = (reason: StaleReason): Result<never, Rejection> => err({ code: "stale", reason });

export function epochChanged(change: EpochChange, by: { trigger: CompactionTrigger; compaction: CompactionId | null }): Event {
  return {
    type: "EpochChanged",
    base_epoch: change.base_epoch,
    epoch: change.base_epoch + 1,
    ...by,
    ops: change.ops,
    receipt: change.receipt,
  };
}

export const finished = (call: ModelCall | null): Event[] => (call ? [{ type: "ModelCallFinished", ...call }] : []);

/**
 * There is at most one compaction and one draft at a time. While one is under way, a request by hand is refused, and a
 * request by the session itself changes nothing unless a turn needs room (`isInTheWay`).
 */
function decideRequest(command: CommandOf<"RequestCompaction">, state: SessionState): Decision {
  const { requested, lease, draft } = state.compaction;
  const { compaction, trigger, options, key } = command;
  if (requested && trigger === "manual") return err({ code: "compaction_running", compaction: requested.id });
  if (requested && !isInTheWay(requested, trigger)) return ok([]);
  if (draft && options?.draft) return err({ code: "draft_open", compaction: draft.id });
  const base_epoch = state.view.epoch;
  const ended = requested ? [endRequested(requested, lease, "superseded")] : [];
  return ok([
    ...ended,
    { type: "CompactionRequested", compaction, trigger, base_epoch, ...(options ? { options } : {}), ...(key !== undefined && { key }) },
  ]);
}

/**
 * Whether a compaction under way must end for a turn that has no room. The turn needs the view changed now and by the
 * policy, which neither a draft nor a rebuild does.
 */
export const isInTheWay = ({ options }: Pick<RequestedCompaction, "options">, trigger: CompactionTrigger): boolean =>
  isStandalone(options) && trigger !== "threshold" && trigger !== "rent";

/** Inline work ends a compaction under way, because that was planned on the epoch that ends here. */
function decideChange(command: CommandOf<"ChangeEpoch">, state: SessionState): Decision {
  if (command.change.base_epoch !== state.view.epoch) return stale("epoch_moved");
  const { compaction, trigger, change } = command;
  return ok([...voidCompaction(state, compaction), epochChanged(change, { trigger, compaction })]);
}

function decideRevert(command: CommandOf<"RevertCompaction">, state: SessionState): Decision {
  const newest = state.compaction.committed.at(-1)?.id ?? null;
  return newest === command.reverts ? decideTakingBack(command, state) : err({ code: "not_newest", newest });
}

/** Allowed only between turns: inside a turn, only work that the turn itself waits for changes the epoch (docs/compaction-protocol.md). */
function decideTakingBack(command: CommandOf<"RevertCompaction"> | CommandOf<"ResetSummary">, state: SessionState): Decision {
  if (state.turn) return err({ code: "turn_running", turn: state.turn.id });
  return decideChange(
    { at: command.at, type: "ChangeEpoch", compaction: command.compaction, trigger: "manual", change: command.change },
    state,
  );
}

/** A lease's call is recorded either with its result or here, exactly once, however often the result is delivered. */
function decideSpent({ call, part }: CommandOf<"RecordSpentCall">, { compaction }: SessionState): Decision {
  const isUnsettled = compaction.unsettled.some((known) => known.token === call.lease && known.part === part);
  if (!isUnsettled) return stale("lease_lost");
  return ok([{ type: "ModelCallFinished", ...call, outcome: "stale" }]);
}

/** An expired lease counts as an attempt, because a summariser that never answers has failed. */
function decideLease(command: CommandOf<"LeaseCompaction">, state: SessionState): Decision {
  const { requested, lease, next_token } = state.compaction;
  if (requested?.id !== command.compaction) return stale("compaction_over");
  const runs = lease !== null && lease.expires_at > command.at;
  if (runs && !command.inline) return err({ code: "lease_held", expires_at: lease.expires_at });
  // A turn that needs room requests a compaction of its own.
  if (command.inline && isStandalone(requested.options)) return stale("compaction_over");
  if (requested.attempts >= command.attemptLimit) return stale("compaction_over");
  if (command.plan.base_epoch !== state.view.epoch) return stale("epoch_moved");
  const expired: Event[] = lease && !runs ? [failed(command.compaction, lease, "lease_expired")] : [];
  return ok([
    ...expired,
    {
      type: "CompactionStarted",
      compaction: command.compaction,
      token: next_token,
      attempt: requested.attempts + 1,
      expires_at: command.expiresAt,
      ...command.plan,
      ...(command.inline ? { inline: command.inline } : {}),
    },
  ]);
}

function failed(compaction: CompactionId, lease: CompactionLease, failure: "lease_expired"): Event {
  return { type: "CompactionFailed", compaction, token: lease.token, attempt: lease.attempt, failure, final: false };
}

/** Why a command of a lease's holder is stale: its compaction is over, or its token is not the newest. Null when it is valid. */
export function staleLease(
  command: { readonly compaction: CompactionId; readonly token: number },
  state: SessionState,
): StaleReason | null {
  const { requested, lease } = state.compaction;
  if (requested?.id !== command.compaction) return "compaction_over";
  return lease?.token === command.token ? null : "lease_lost";
}

/** A part of a chunked summary changes nothing in the view, so it is accepted while a turn runs. */
function decideProgress(command: CommandOf<"ProgressCompaction">, state: SessionState): Decision {
  const reason = staleLease(command, state);
  if (reason) return stale(reason);
  const { compaction, token, part, expiresAt } = command;
  return ok([...finished(command.call), { type: "CompactionProgressed", compaction, token, expires_at: expiresAt, part }]);
}

function decideRecord(command: CommandOf<"RecordCompaction">, state: SessionState): Decision {
  const reason = staleLease(command, state);
  if (reason) return stale(reason);
  const { requested, lease } = state.compaction;
  // A compaction that was requested as a draft can only be committed by a person (`decide-draft`).
  if (!requested || !lease || requested.options?.draft) return stale("lease_lost");
  if (state.turn && !isInside(command.inside, state)) return stale("not_idle");
  if (command.change.base_epoch !== state.view.epoch || lease.base_epoch !== state.view.epoch) return stale("epoch_moved");
  if (!coversLeasedRange(command.change, lease, state)) return stale("range_changed");
  return ok([
    ...finished(command.call),
    ...voidCompaction(state, command.compaction),
    epochChanged(command.change, { trigger: triggerOfWork(requested, lease), compaction: command.compaction }),
  ]);
}

const isInside = (run: TurnRun | null, { turn }: SessionState): boolean =>
  turn?.phase === "generating" && run?.turn === turn.id && run.incarnation === turn.incarnation;

export function coversLeasedRange(change: EpochChange, lease: SummaryPlan, state: SessionState): boolean {
  const known = new Set(state.view.overlays.map((overlay) => overlay.id));
  return change.ops.every((op) => {
    if (op.op !== "summarize") return true;
    const sameRange =
      op.from === lease.range.from && op.to === lease.range.to && op.keeps.every((position) => lease.keeps.includes(position));
    const sameOverlays =
      op.replaces.length === lease.replaces.length && op.replaces.every((id) => lease.replaces.includes(id) && known.has(id));
    return sameRange && sameOverlays;
  });
}

/** The last failed attempt ends the compaction and, in the same step, applies the fallback if there is one. */
function decideFailure(command: CommandOf<"FailCompaction">, state: SessionState): Decision {
  const { requested, lease } = state.compaction;
  const { compaction, token, failure, fallback } = command;
  if (requested?.id !== compaction) return stale("compaction_over");
  if (token !== null && lease?.token !== token) return stale("lease_lost");
  const attempt = Math.max(requested.attempts, 1);
  const final = token === null || attempt >= command.attemptLimit;
  const events: Event[] = [...finished(command.call), { type: "CompactionFailed", compaction, token, attempt, failure, final }];
  if (!final || !fallback) return ok(events);
  if (state.turn && !isInside(command.inside, state)) return stale("not_idle");
  if (fallback.base_epoch !== state.view.epoch) return stale("epoch_moved");
  return ok([...events, ...voidCompaction(state, compaction), epochChanged(fallback, { trigger: "fallback", compaction })]);
}
