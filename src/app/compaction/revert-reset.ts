/** Reverts a compaction, and resets the summaries: changes of the view by a person, between two turns. Synchronous. */
import { assumeWindow, toRequestLimit } from "../../context/budget";
import { buildManualChange, fitsAfter } from "../../context/epoch-change";
import { toPolicy } from "../../context/policy-choice";
import { buildResetOp, buildRevertOp, MAX_RESTORED_UNITS } from "../../context/revert-reset";
import type { CompactionId } from "../../domain/ids";
import { err, ok } from "../../lib/result";
import type { ModelSpec } from "../ports";
import { toChangeInput, toModelLimits } from "../request/build-request";
import type { Outcome } from "../session-api";
import type { SessionPast } from "../session-past";
import type { CompactionPorts } from "./plan-session";

type Ports = Pick<CompactionPorts, "writer" | "content" | "clock" | "ids"> & { readonly past: SessionPast };

/**
 * Returns the id of the new change. Refused unless `reverts` is the newest compaction in force, no turn runs, and the restored view fits.
 */
export function revertCompaction(reverts: CompactionId, spec: ModelSpec, ports: Ports): Outcome<CompactionId> {
  const { writer, clock, ids, past } = ports;
  const { state } = writer;
  const newest = state.compaction.committed.at(-1)?.id ?? null;
  if (newest !== reverts) return err({ code: "not_newest", newest });
  if (state.turn) return err({ code: "turn_running", turn: state.turn.id });
  const before = past.viewBefore(reverts);
  if (!before) return err({ code: "compaction_not_found", compaction: reverts });
  const op = buildRevertOp(reverts, before, past.itemsAt(before.shown));
  if (JSON.stringify(op.items).length > MAX_RESTORED_UNITS) return err({ code: "too_many_items", items: op.items.length });
  const limits = assumeWindow(toModelLimits(spec), toPolicy(state.settings.policy));
  const { fits, tokens } = fitsAfter(state, [op], limits);
  if (!fits) return err({ code: "would_not_fit", tokens, limit: toRequestLimit(limits) ?? tokens });
  const compaction = ids.newId("cmp");
  const change = buildManualChange([op], toChangeInput({ limits: toModelLimits(spec), trigger: "manual" }, ports));
  const changed = writer.execute({ type: "RevertCompaction", at: clock(), compaction, reverts, change });
  return changed.ok ? ok(compaction) : err(changed.error);
}

/** Returns the change's id. Null when there is no summary. */
export function resetSummary(spec: ModelSpec, ports: Ports): Outcome<CompactionId | null> {
  const { writer, clock, ids, past } = ports;
  const { state } = writer;
  if (!state.view.overlays.some((overlay) => overlay.kind === "summary")) return ok(null);
  if (state.turn) return err({ code: "turn_running", turn: state.turn.id });
  const policy = toPolicy(state.settings.policy);
  const op = buildResetOp({ state, limits: toModelLimits(spec), policy, history: past.history(), newOverlay: () => ids.newId("ovl") });
  const compaction = ids.newId("cmp");
  const change = buildManualChange([op], toChangeInput({ limits: toModelLimits(spec), trigger: "manual" }, ports));
  const changed = writer.execute({ type: "ResetSummary", at: clock(), compaction, change });
  return changed.ok ? ok(compaction) : err(changed.error);
}
