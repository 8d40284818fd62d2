/** A compaction that stops before its commit: what a person may read, change, and then commit or discard. */
import type { CompactionId, KeyId, OverlayId } from "./ids";
import type { TextRef } from "./message";

/** Who changed a summary by hand, last. */
export interface Edited {
  /** The key that its editor's credential proved. */
  readonly by: KeyId;
  /** Epoch milliseconds. */
  readonly at: number;
}

export type DraftEvent =
  /** A summary was made under the lease of this token, over what that lease covers (`CompactionStarted`); the view stays as it is. */
  | {
      readonly type: "CompactionDrafted";
      readonly compaction: CompactionId;
      readonly token: number;
      /** The summary's id in the view, should it be committed. */
      readonly overlay: OverlayId;
      readonly summary: TextRef;
    }
  /** Another text takes the summary's place, whole. */
  | { readonly type: "DraftEdited"; readonly compaction: CompactionId; readonly summary: TextRef; readonly by: KeyId };
