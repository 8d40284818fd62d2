/** Turns a plan's rungs, or an accepted summary, into the epoch change that is committed, with its receipt. */
import type { EpochDraft } from "../domain/commands";
import type { CallUsage, CompactionTrigger, EpochOp, Receipt } from "../domain/events";
import { evolve } from "../domain/evolve";
import type { OverlayId } from "../domain/ids";
import type { CompactionLease, SessionState } from "../domain/state";
import { assertNever } from "../lib/assert-never";
import { measureNext } from "./budget";
import type { Rung } from "./plan";
import type { AcceptedSummary } from "./summary-check";

export interface DraftInput {
  readonly state: SessionState;
  /** The model whose window is being fitted. */
  readonly model: string;
  readonly trigger: CompactionTrigger;
  readonly newOverlay: () => OverlayId;
  /** The summariser's call; null when no model ran. */
  readonly summarizer: { readonly model: string; readonly usage: CallUsage | null; readonly ms: number } | null;
}

/** Rungs that need no model, as one change. */
export function draftFromRungs(rungs: readonly Rung[], input: DraftInput): EpochDraft {
  const ops = rungs.map((rung) => toOp(rung, input));
  return { base_epoch: input.state.view.epoch, ops, receipt: receiptOf(ops, input) };
}

function toOp(rung: Rung, input: DraftInput): EpochOp {
  switch (rung.rung) {
    case "shorten_results":
      return { op: "shorten_results", positions: rung.positions };
    case "drop":
      return { op: "drop", overlay: input.newOverlay(), from: rung.from, to: rung.to, replaces: rung.replaces, items: rung.items };
    case "summarize":
      throw new TypeError("a summary is drafted from its text, not from its rung");
    default:
      return assertNever(rung);
  }
}

/** The summary over the range that was leased. `overlay` names its body. */
export function draftFromSummary(
  summary: AcceptedSummary,
  lease: CompactionLease,
  input: DraftInput & { readonly overlay: OverlayId },
): EpochDraft {
  const { view } = input.state;
  const covered = view.items.filter((item) => item.position >= lease.range.from && item.position <= lease.range.to);
  const replaced = view.overlays.filter((overlay) => lease.replaces.includes(overlay.id));
  const kept = view.items.find((item) => item.position > lease.range.to);
  const op: EpochOp = {
    op: "summarize",
    overlay: input.overlay,
    from: lease.range.from,
    to: lease.range.to,
    replaces: lease.replaces,
    tokens: summary.tokens,
    bytes: new TextEncoder().encode(summary.text).byteLength,
    items: covered.length + replaced.reduce((sum, overlay) => sum + overlay.items, 0),
    boundary_timestamp: kept?.at ?? covered.at(-1)?.at ?? 0,
  };
  return { base_epoch: view.epoch, ops: [op], receipt: receiptOf([op], input) };
}

/** Before and after by the same estimator: the change is applied to a copy and measured. */
function receiptOf(ops: readonly EpochOp[], { state, model, trigger, summarizer }: DraftInput): Receipt {
  const none: Receipt = { tokens_before: 0, tokens_after: 0, items_before: 0, items_after: 0, model: null, usage: null, ms: 0 };
  const { epoch } = state.view;
  const change = { type: "EpochChanged", base_epoch: epoch, epoch: epoch + 1, trigger, compaction: null, ops, receipt: none } as const;
  const after = evolve(state, { ...change, seq: state.seq + 1, at: state.updated_at });
  return {
    tokens_before: measureNext(state, model).tokens,
    tokens_after: measureNext(after, model).tokens,
    items_before: state.view.items.length,
    items_after: after.view.items.length,
    model: summarizer?.model ?? null,
    usage: summarizer?.usage ?? null,
    ms: summarizer?.ms ?? 0,
  };
}
