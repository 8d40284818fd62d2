/** Events of a draft: a compaction that stops before its commit, so that a person can read, edit, commit or discard it. */
import type { CompactionId, KeyId, OverlayId } from "./ids";
import type { TextRef } from "./message";

/** The last person who edited a summary. */
export interface Edited {
  /** The API key that the editor authenticated with. */
  readonly by: KeyId;
  /** Epoch milliseconds. */
  readonly at: number;
}

export type DraftEvent =
  /** A summary was made under the lease with this token, over what that lease covers (`CompactionStarted`). The view stays unchanged. */
  | {
      readonly type: "CompactionDrafted";
      readonly compaction: CompactionId;
      readonly token: number;
      /** The id that the summary gets in the view if it is committed. */
      readonly overlay: OverlayId;
      readonly summary: TextRef;
    }
  /** Another text replaces the whole summary. */
  | { readonly type: "DraftEdited"; readonly compaction: CompactionId; readonly summary: TextRef; readonly by: KeyId };
