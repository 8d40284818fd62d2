/** The calls that concern a draft: show, edit, commit and discard. */
import { commitDraft, discardDraft, editDraft, previewDraft } from "../../app/compaction/draft-by-hand";
import type { CompactionView } from "../../app/control-views";
import type { DraftApi } from "../../app/draft-api";
import type * as api from "../../app/session-api";
import { fileOpsIn } from "../../context/file-ops";
import type { CompactionId } from "../../domain/ids";
import { err, ok } from "../../lib/result";
import { toShownOp } from "../log/compaction-rows";
import type { SessionRuntime } from "../runtime";
import { resolveSessionModel, toCompactionPorts } from "./control-calls";
import { transactOnce } from "./once";
import { resolveQuietly, showCompaction } from "./read-calls";

/** Shows a compaction. For a draft it adds what committing it now would do, if the model can be looked up. */
export async function showWithPreview(runtime: SessionRuntime, id: CompactionId): Promise<api.Outcome<CompactionView>> {
  const isDraft = runtime.state.compaction.draft?.id === id;
  const spec = isDraft ? await resolveQuietly(runtime) : null;
  const shown = showCompaction(runtime, id);
  const preview = shown.ok && spec && previewDraft(id, spec, runtime.ports());
  if (!preview) return shown;
  const { ops, receipt } = preview.change;
  return ok({ ...shown.value, ops: ops.map(toShownOp), receipt: { ...receipt, files: fileOpsIn(preview.text) } });
}

export async function editFor(runtime: SessionRuntime, edit: Parameters<DraftApi["editDraft"]>[1]): ReturnType<DraftApi["editDraft"]> {
  const known = showCompaction(runtime, edit.compaction);
  if (!known.ok) return known;
  const spec = await resolveSessionModel(runtime);
  if (!spec.ok) return spec;
  const edited = editDraft(edit, spec.value, runtime.ports());
  return edited.ok ? showWithPreview(runtime, edit.compaction) : edited;
}

export async function commitFor(
  runtime: SessionRuntime,
  { idempotency, ...input }: Parameters<DraftApi["commitDraft"]>[1],
): ReturnType<DraftApi["commitDraft"]> {
  const known = showCompaction(runtime, input.compaction);
  if (!known.ok) return known;
  const spec = await resolveSessionModel(runtime);
  if (!spec.ok) return spec;
  const done = transactOnce<{ id: CompactionId }>(runtime, idempotency, (step) => {
    const committed = commitDraft(input, spec.value, toCompactionPorts(runtime, step));
    return committed.ok ? ok({ id: committed.value }) : committed;
  });
  if (!done.ok) return done;
  const shown = showCompaction(runtime, input.compaction);
  return shown.ok ? ok({ compaction: shown.value, replayed: done.value.replayed }) : shown;
}

export function discardFor(runtime: SessionRuntime, id: CompactionId): api.Outcome<null> {
  const known = showCompaction(runtime, id);
  if (!known.ok) return known;
  if (known.value.failure === "discarded") return ok(null);
  const discarded = discardDraft(id, runtime.ports());
  return discarded.ok ? discarded : err(discarded.error);
}
