/** The note in place of a summary, as a change of the view: where none could be had, or where the policy wants no other. */
import { type DraftInput, draftFromSummary } from "../../context/epoch-draft";
import { fallbackNote, type NotePlan } from "../../context/fallback-note";
import type { Rung } from "../../context/plan";
import { policyOf } from "../../context/policy-choice";
import { estimateTokens } from "../../context/tokens";
import type { EpochDraft } from "../../domain/commands";
import type { ModelSpec } from "../ports";
import type { BodyText } from "../session-ports";
import type { CompactionPorts } from "./plan-session";
import { capOf } from "./summary-cap";
import { filesOf } from "./summary-files";

export interface NoteDraft {
  readonly change: EpochDraft;
  readonly bodies: readonly BodyText[];
}

/** What a note is drafted for. */
export interface Noting {
  readonly spec: ModelSpec;
  readonly input: DraftInput;
  /** What else the same change rewrites. */
  readonly also: readonly Rung[];
}

export function draftNote(note: NotePlan, { spec, input, also }: Noting, { writer, ids, content }: CompactionPorts): NoteDraft {
  const { state } = writer;
  const text = fallbackNote(note, filesOf(note.plan, state, content), capOf(spec, policyOf(state.settings.policy)));
  const overlay = ids.newId("ovl");
  const summary = { text, tokens: estimateTokens(text) };
  const change = draftFromSummary({ summary, plan: { ...note.plan, mode: null }, overlay, also }, input);
  return { change, bodies: [{ id: overlay, text }] };
}
