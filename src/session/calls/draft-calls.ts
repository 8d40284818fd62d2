/** The calls that concern a draft: show, edit, commit and discard. */
import { commitDraft, discardDraft, editDraft, previewDraft } from "../../app/compaction/draft-by-hand";
import type { DraftApi } from "../../app/draft-api";
import type * as api from "../../app/session-api";
import type { CompactionView } from "../../contract/compaction";
import type { CompactionId } from "../../domain/ids";
import { err, ok } from "../../lib/result";
import { toShownOp } from "../log/compaction-rows";
import type { Session } from "../session";
import { resolveSessionModel, toCompactionPorts } from "./control-calls";
import { transactOnce } from "./once";
import { resolveQuietly, showCompaction, toShownReceipt } from "./read-calls";

/** Shows a compaction. For a draft it adds what committing it now would do, if the model can be looked up. */
export async function showWithPreview(session: Session, id: CompactionId): Promise<api.Outcome<CompactionView>> {
  const isDraft = session.state.compaction.draft?.id === id;
  const spec = isDraft ? await resolveQuietly(session) : null;
  const shown = showCompaction(session, id);
  const preview = shown.ok && spec && previewDraft(id, spec, session.ports());
  if (!preview) return shown;
  const { ops, receipt } = preview.change;
  return ok({ ...shown.value, ops: ops.map(toShownOp), receipt: toShownReceipt(receipt, preview.text) });
}

export async function editFor(session: Session, edit: Parameters<DraftApi["editDraft"]>[1]): ReturnType<DraftApi["editDraft"]> {
  const known = showCompaction(session, edit.compaction);
  if (!known.ok) return known;
  const spec = await resolveSessionModel(session);
  if (!spec.ok) return spec;
  const edited = editDraft(edit, spec.value, session.ports());
  return edited.ok ? showWithPreview(session, edit.compaction) : edited;
}

export async function commitFor(
  session: Session,
  { idempotency, ...input }: Parameters<DraftApi["commitDraft"]>[1],
): ReturnType<DraftApi["commitDraft"]> {
  const known = showCompaction(session, input.compaction);
  if (!known.ok) return known;
  const spec = await resolveSessionModel(session);
  if (!spec.ok) return spec;
  const done = transactOnce<{ id: CompactionId }>(session, idempotency, (step) => {
    const committed = commitDraft(input, spec.value, toCompactionPorts(session, step));
    return committed.ok ? ok({ id: committed.value }) : committed;
  });
  if (!done.ok) return done;
  const shown = showCompaction(session, input.compaction);
  return shown.ok ? ok({ compaction: shown.value, replayed: done.value.replayed }) : shown;
}

export function discardFor(session: Session, id: CompactionId): api.Outcome<null> {
  const known = showCompaction(session, id);
  if (!known.ok) return known;
  if (known.value.failure === "discarded") return ok(null);
  const discarded = discardDraft(id, session.ports());
  return discarded.ok ? discarded : err(discarded.error);
}
