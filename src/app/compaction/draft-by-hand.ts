/** What a person does with a draft: read, edit, commit, discard. Synchronous. */
import { toPolicy } from "../../context/policy-choice";
import { estimateTokens } from "../../context/tokens";
import type { CompactionId } from "../../domain/ids";
import { err, ok } from "../../lib/result";
import type { DraftEdit } from "../draft-api";
import type { ModelSpec } from "../ports";
import { buildTextBody } from "../request/build-items";
import type { ChangePorts } from "../request/build-request";
import type { Outcome } from "../session-api";
import { changeFromSummary, type SummaryChange } from "./change-from-summary";
import { toModelSummaryCap } from "./summarizers";

/**
 * The most UTF-16 units of an edited summary, even where the policy's cap is lower: the cap guards against a model's excess, not a person's
 * text.
 */
const EDITED_UNITS = 64_000;

/** At least one letter or digit: punctuation alone says nothing (`context/summary-check`). */
const SAYS_SOMETHING = /[\p{L}\p{N}]/u;

export function editDraft({ compaction, summary, edits, by }: DraftEdit, spec: ModelSpec, ports: ChangePorts): Outcome<null> {
  const { writer, content, clock, ids } = ports;
  const { draft } = writer.state.compaction;
  if (draft?.id !== compaction) return err({ code: "not_drafted", compaction });
  const text = summary.trim();
  if (text === content.readText(draft.summary.body)) return ok(null);
  if (!SAYS_SOMETHING.test(text)) return err({ code: "invalid", field: "summary", detail: "must not be empty" });
  const cap = toModelSummaryCap(spec, toPolicy(writer.state.settings.policy));
  if (text.length > EDITED_UNITS && estimateTokens(text) > cap)
    return err({ code: "invalid", field: "summary", detail: `at most ${EDITED_UNITS} characters, or ${cap} tokens` });
  const { ref, bodies } = buildTextBody(text, ids);
  if (!ref) return err({ code: "not_drafted", compaction });
  const edited = writer.execute({ type: "EditDraft", at: clock(), compaction, edits, summary: ref, by }, bodies);
  return edited.ok ? ok(null) : err(edited.error);
}

/** What committing the draft now would do. Null when there is no such draft. */
export function previewDraft(
  compaction: CompactionId,
  spec: ModelSpec,
  ports: ChangePorts,
): (SummaryChange & { readonly text: string }) | null {
  const { draft } = ports.writer.state.compaction;
  const text = draft?.id === compaction ? ports.content.readText(draft.summary.body) : null;
  if (!draft || text === null) return null;
  const { plan, overlay, options, spent, attempts } = draft;
  const summary = { text, tokens: draft.summary.tokens };
  const made = { summary, plan, overlay, trigger: "manual", options, summarizer: { ...spent, attempts } } as const;
  return { ...changeFromSummary(made, spec, ports), text };
}

/** Commits by the same compare-and-set as a worker's result. `edits` null: commit the current text. */
export function commitDraft(
  { compaction, edits }: { readonly compaction: CompactionId; readonly edits: number | null },
  spec: ModelSpec,
  ports: ChangePorts,
): Outcome<CompactionId> {
  const { writer, clock } = ports;
  const { draft } = writer.state.compaction;
  const shown = previewDraft(compaction, spec, ports);
  if (!draft || !shown) return err({ code: "not_drafted", compaction });
  const { change, isWorthIt, text } = shown;
  const command = { type: "CommitDraft", at: clock(), compaction, edits: edits ?? draft.edits, change } as const;
  const { tokens_before, tokens_after } = change.receipt;
  // A running turn, or an edit in between, explains the refusal better: then `CommitDraft` below gives the reason.
  if (!isWorthIt && !writer.state.turn && command.edits === draft.edits) return err({ code: "not_smaller", tokens_before, tokens_after });
  const committed = writer.execute(command, [{ id: draft.overlay, text }]);
  return committed.ok ? ok(compaction) : err(committed.error);
}

export function discardDraft(compaction: CompactionId, { writer, clock }: Pick<ChangePorts, "writer" | "clock">): Outcome<null> {
  const discarded = writer.execute({ type: "DiscardDraft", at: clock(), compaction });
  return discarded.ok ? ok(null) : err(discarded.error);
}
