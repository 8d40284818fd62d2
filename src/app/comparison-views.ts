/** Two summaries side by side: plain data. */
import type { TermKind } from "../context/kept-terms";
import type { CompactionFailure, CoveredRange } from "../domain/compaction-events";
import type { Edited } from "../domain/draft-events";
import type { CompactionId } from "../domain/ids";
import type { CallUsage } from "../domain/model-call";
import type { DiffLine } from "../lib/line-diff";

/** `current`: the summaries that stand in the view, as one text. */
export type SummaryRef = CompactionId | "current";

export interface AskedQuestion {
  readonly question: string;
  /** What a good answer holds; null: nobody said. */
  readonly expect: string | null;
}

export interface CompareInput {
  readonly a: SummaryRef;
  readonly b: SummaryRef;
  readonly questions: readonly AskedQuestion[];
  /** Who answers; null: the session's model. */
  readonly model: string | null;
}

export interface ComparedSummary {
  readonly summary: SummaryRef;
  readonly text: string;
  /** Raw estimate. */
  readonly tokens: number;
  /** Positions that it stands for. */
  readonly range: CoveredRange;
  /** Who wrote it; null: several, nobody, or it is not known. */
  readonly model: string | null;
  /** Null: as the model wrote it. */
  readonly edited: Edited | null;
  /** How many of `terms` it has. */
  readonly kept: number;
}

interface ComparedTerm {
  readonly term: string;
  readonly kind: TermKind;
  /** How often the messages say it. */
  readonly count: number;
  readonly in_a: boolean;
  readonly in_b: boolean;
}

export interface SummaryAnswer {
  /** Null: there was none. */
  readonly text: string | null;
  /** Why there was none; null: there was. */
  readonly failure: CompactionFailure | null;
  /** Whether it holds what was expected; null: nobody said what. */
  readonly holds: boolean | null;
  /** Whether the summary itself does. */
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
  /** What the messages that either stands for say most often, of what nobody can guess. */
  readonly terms: readonly ComparedTerm[];
  /** Whether all of those messages were read. */
  readonly terms_complete: boolean;
  readonly diff: readonly DiffLine[];
  /** Who answered; null: nothing was asked. */
  readonly model: string | null;
  readonly questions: readonly AnsweredQuestion[];
}
