/** What a person may do with the draft of a compaction, and with two summaries side by side. Part of what a session's object answers. */
import type { CompactionId, KeyId } from "../domain/ids";
import type { CompareInput, SummaryComparison } from "./comparison-views";
import type { CompactionView } from "./control-views";
import type { Caller, Idempotency, Once, Outcome } from "./session-api";

export interface DraftEdit {
  readonly compaction: CompactionId;
  /** The whole text, in place of what stands. */
  readonly summary: string;
  /** How often it had been edited when this editor read it: who did not read the last edit is refused. */
  readonly edits: number;
  /** The key that the credential proved. */
  readonly by: KeyId;
}

export interface DraftApi {
  /** A text that stands there already is no edit. */
  editDraft(caller: Caller, edit: DraftEdit): Promise<Outcome<CompactionView>>;
  /** `edits`: only if it was edited so often; null: as it stands. */
  commitDraft(
    caller: Caller,
    input: { readonly compaction: CompactionId; readonly edits: number | null; readonly idempotency: Idempotency | null },
  ): Promise<Outcome<Once<{ readonly compaction: CompactionView }>>>;
  /** With questions a model is asked each of them, of each summary alone; without, none is. */
  compareSummaries(caller: Caller, input: CompareInput): Promise<Outcome<SummaryComparison>>;
  /** Also one that is being made. Again: nothing more happens. */
  discardDraft(caller: Caller, compaction: CompactionId): Promise<Outcome<null>>;
}
