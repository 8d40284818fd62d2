/** Two summaries side by side: plain data. */
import type { TermKind } from "../context/kept-terms";
import type { CompactionFailure, CoveredRange } from "../domain/compaction-events";
import type { Edited } from "../domain/draft-events";
import type { CompactionId } from "../domain/ids";
import type { CallUsage } from "../domain/model-call";
import type { DiffLine } from "../lib/line-diff";

/** `current`: the summaries in the view, as one text. */
export type SummaryRef = CompactionId | "current";

export interface AskedQuestion {
  readonly question: string;
  /** What a good answer contains. Null when the client did not give it. */
  readonly expect: string | null;
}

export interface CompareInput {
  readonly a: SummaryRef;
  readonly b: SummaryRef;
  readonly questions: readonly AskedQuestion[];
  /** The model that answers. Null: the session's model. */
  readonly model: string | null;
}

export interface ComparedSummary {
  readonly summary: SummaryRef;
  readonly text: string;
  /** Raw estimate. */
  readonly tokens: number;
  /** Positions that the summary covers. */
  readonly range: CoveredRange;
  /** The model that wrote it. Null: several models, no model, or unknown. */
  readonly model: string | null;
  /** Null: unchanged since the model wrote it. */
  readonly edited: Edited | null;
  /** How many of `terms` the summary contains. */
  readonly kept: number;
}

interface ComparedTerm {
  readonly term: string;
  readonly kind: TermKind;
  /** How often the messages contain the term. */
  readonly count: number;
  readonly in_a: boolean;
  readonly in_b: boolean;
}

export interface SummaryAnswer {
  /** Null when there was no answer. */
  readonly text: string | null;
  /** Why there was no answer. Null when there was one. */
  readonly failure: CompactionFailure | null;
  /** Whether the answer contains what was expected. Null when there was no answer, or nothing was given as expected. */
  readonly holds: boolean | null;
  /** Whether the summary itself contains what was expected. Null when nothing was given as expected. */
  readonly in_summary: boolean | null;
  readonly usage: CallUsage | null;
}

export interface AnsweredQuestion extends AskedQuestion {
  readonly a: SummaryAnswer;
  readonly b: SummaryAnswer;
}

export interface SummaryComparison {
  readonly a: ComparedSummary;
  readonly b: ComparedSummary;
  /** The most frequent names, numbers and identifiers in the messages that either summary covers. */
  readonly terms: readonly ComparedTerm[];
  /** Whether all of those messages were read. */
  readonly terms_complete: boolean;
  readonly diff: readonly DiffLine[];
  /** The model that answered. Null when no question was asked. */
  readonly model: string | null;
  readonly questions: readonly AnsweredQuestion[];
}
