/** Compares two summaries of the session. Its model calls run beside the session's turns, never in a transaction. */
import { askSummaries, measureQuestion } from "../../app/compaction/ask-summaries";
import { type ComparedText, compareTexts } from "../../app/compaction/compare-summaries";
import type { CompareInput } from "../../app/draft-api";
import { resolveModel } from "../../app/request/resolve-model";
import type * as api from "../../app/session-api";
import { SUMMARY_JOIN } from "../../context/placement";
import { toEstimate } from "../../context/sizing";
import { estimateTokens } from "../../context/tokens";
import type { SummaryComparison, SummaryRef } from "../../contract/comparison";
import { toSummaryInstructions } from "../../domain/standing-instructions";
import { err, ok } from "../../lib/result";
import type { Session } from "../session";
import { obtainOrRefuse } from "./admit-turn";
import { refusal } from "./model-refusal";
import { showCompaction } from "./read-calls";

export async function compareFor(session: Session, input: CompareInput): Promise<api.Outcome<SummaryComparison>> {
  const { redactions } = session.state;
  const [a, b] = [readComparedText(session, input.a, "a"), readComparedText(session, input.b, "b")];
  if (!a.ok) return a;
  if (!b.ok) return b;
  const compared = compareTexts(a.value, b.value, session.content);
  if (input.questions.length === 0) return ok({ ...compared, model: null, questions: [] });
  const id = input.model ?? session.state.settings.model;
  const found = await resolveModel(id, session.ports());
  if (session.state.lifecycle === "erased") return err({ code: "session_erased" });
  if (!found.ok) return err(refusal(found.error, id));
  const texts = { a: a.value.text, b: b.value.text };
  const need = session.ports().budgets.applies("comparison")
    ? measureQuestion(input.questions, { texts, spec: found.value }, session.state)
    : null;
  const unpaid = need && (await obtainOrRefuse(session, need));
  if (unpaid) return unpaid;
  const questions = await askSummaries(input.questions, { texts, spec: found.value, key: input.key, redactions }, session.ports());
  return ok({ ...compared, model: id, questions });
}

function readComparedText(session: Session, ref: SummaryRef, field: "a" | "b"): api.Outcome<ComparedText> {
  if (ref === "current") return readCurrentText(session, field);
  const shown = showCompaction(session, ref);
  if (!shown.ok) return err({ code: "invalid", field, detail: "no such compaction" });
  const { summary: text, range, receipt, draft } = shown.value;
  if (text === null || range === null) return err({ code: "invalid", field, detail: "this compaction has no summary" });
  const edited = draft?.edited_by && draft.edited_at !== null ? { by: draft.edited_by, at: draft.edited_at } : null;
  const model = receipt?.model ?? session.state.compaction.draft?.spent.model ?? null;
  const { plan } = (draft && session.state.compaction.draft) ?? {};
  const summary_instructions = receipt?.summary_instructions ?? (plan ? toSummaryInstructions(plan) : null);
  return ok({ summary: ref, text, tokens: toEstimate(estimateTokens(text)), range, model, summary_instructions, edited });
}

/** The chain of summaries as one text. Its range goes from the first position of the first summary to the last of the last. */
function readCurrentText({ state, content }: Session, field: "a" | "b"): api.Outcome<ComparedText> {
  const chain = state.view.overlays.filter((overlay) => overlay.kind === "summary");
  const [first, last] = [chain[0], chain.at(-1)];
  if (!first || !last) return err({ code: "invalid", field, detail: "the session has no summary" });
  const text = chain.map((overlay) => content.readText(overlay.id) ?? "").join(SUMMARY_JOIN);
  const range = { from: first.from, to: last.to };
  const written = { model: null, summary_instructions: null, edited: null };
  return ok({ summary: "current", text, tokens: toEstimate(estimateTokens(text)), range, ...written });
}
