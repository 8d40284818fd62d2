/**
 * Decides on drafts. A draft is committed by the same compare-and-set as a worker's summary: base epoch, covered range
 * and replaced overlays must be as leased. Appended messages do not affect a draft; every change of the epoch ends it
 * (`voidCompaction`).
 */
import { err, ok, type Result } from "../lib/result";
import type { CommandOf, DraftCommand, EpochChange } from "./commands";
import { coversLeasedRange, epochChanged, finished, staleLease } from "./decide-compaction";
import { type Deciders, type Decision, endDraft, endRequested, voidCompaction } from "./decision";
import type { CompactionId } from "./ids";
import type { OpenDraft } from "./open-draft";
import type { Rejection } from "./rejection";
import type { SessionState } from "./state";

export const draftDeciders: Deciders<DraftCommand["type"]> = {
  RecordDraft: decideRecord,
  EditDraft: decideEdit,
  CommitDraft: decideCommit,
  DiscardDraft: decideDiscard,
  RecordAnswer: ({ call }) => ok(finished(call)),
};

/** A draft changes nothing in the view, so it is accepted while a turn runs. */
function decideRecord(command: CommandOf<"RecordDraft">, state: SessionState): Decision {
  const reason = staleLease(command, state);
  if (reason) return err({ code: "stale", reason });
  const { requested, lease } = state.compaction;
  // A compaction that was not requested as a draft is committed, or fails.
  if (!requested?.options?.draft || !lease) return err({ code: "stale", reason: "lease_lost" });
  if (lease.base_epoch !== state.view.epoch) return err({ code: "stale", reason: "epoch_moved" });
  const { compaction, token, overlay, summary } = command;
  return ok([...finished(command.call), { type: "CompactionDrafted", compaction, token, overlay, summary }]);
}

function findDraft(id: CompactionId, { compaction: { draft } }: SessionState): Result<OpenDraft, Rejection> {
  return draft?.id === id ? ok(draft) : err({ code: "not_drafted", compaction: id });
}

/** Refuses an edit of a version that the editor has not read. */
function decideEdit({ compaction, edits, summary, by }: CommandOf<"EditDraft">, state: SessionState): Decision {
  const found = findDraft(compaction, state);
  if (!found.ok) return found;
  if (found.value.edits !== edits) return err({ code: "draft_edited", edits: found.value.edits });
  return ok([{ type: "DraftEdited", compaction, summary, by }]);
}

/**
 * Committed by hand, so only between turns. It ends a compaction that was requested meanwhile, because that was planned
 * on the epoch that ends here.
 */
function decideCommit({ compaction, edits, change }: CommandOf<"CommitDraft">, state: SessionState): Decision {
  const found = findDraft(compaction, state);
  if (!found.ok) return found;
  const draft = found.value;
  if (state.turn) return err({ code: "turn_running", turn: state.turn.id });
  if (draft.edits !== edits) return err({ code: "draft_edited", edits: draft.edits });
  const { epoch } = state.view;
  if (change.base_epoch !== epoch || draft.base_epoch !== epoch) return err({ code: "stale", reason: "epoch_moved" });
  if (!isOfDraft(change, draft) || !coversLeasedRange(change, draft.plan, state)) return err({ code: "stale", reason: "range_changed" });
  return ok([...voidCompaction(state, compaction), epochChanged(withEditor(change, draft), { trigger: "manual", compaction })]);
}

const isOfDraft = ({ ops }: EpochChange, { overlay }: OpenDraft): boolean =>
  ops.filter((op) => op.op === "summarize" && op.overlay === overlay).length === 1;

/** Adds the draft's last editor to the receipt. */
const withEditor = (change: EpochChange, { edited }: OpenDraft): EpochChange =>
  edited ? { ...change, receipt: { ...change.receipt, edited } } : change;

function decideDiscard({ compaction }: CommandOf<"DiscardDraft">, { compaction: { requested, lease, draft } }: SessionState): Decision {
  if (draft?.id === compaction) return ok([endDraft(draft, "discarded")]);
  const isMade = requested?.id === compaction && requested.options?.draft;
  return isMade ? ok([endRequested(requested, lease, "discarded")]) : err({ code: "not_drafted", compaction });
}
