/** What a person may do with a draft compaction, and how two summaries are compared. Part of what a session's object answers. */

import type { CompactionView } from "../contract/compaction";
import type { SummaryComparison, SummaryRef } from "../contract/comparison";
import type { CompactionId, KeyId } from "../domain/ids";
import type { Caller, Idempotency, Once, Outcome } from "./session-api";

export interface DraftEdit {
  readonly compaction: CompactionId;
  /** The whole new text of the summary. */
  readonly summary: string;
  /** The number of edits that the draft had when the editor read it. The edit is refused if there were more since. */
  readonly edits: number;
  /** The API key of the editor. */
  readonly by: KeyId;
}

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
  /** The caller's key, which the session's object adds. The model calls are counted for it. */
  readonly key?: KeyId;
}

export interface DraftApi {
  /** Submitting the current text again is no edit. */
  editDraft(caller: Caller, edit: DraftEdit): Promise<Outcome<CompactionView>>;
  /** `edits`: commit only if the draft has had this many edits; null: commit its current text. */
  commitDraft(
    caller: Caller,
    input: { readonly compaction: CompactionId; readonly edits: number | null; readonly idempotency: Idempotency | null },
  ): Promise<Outcome<Once<{ readonly compaction: CompactionView }>>>;
  /** With questions, a model answers each of them from each summary alone. Without questions no model is asked. */
  compareSummaries(caller: Caller, input: CompareInput): Promise<Outcome<SummaryComparison>>;
  /** Discards a draft, or a compaction that is still producing one. A second call does nothing more. */
  discardDraft(caller: Caller, compaction: CompactionId): Promise<Outcome<null>>;
}
