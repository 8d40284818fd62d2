/**
 * A session without an object, for which plans are made and on which they are carried out. How its content is known differs
 * by implementation.
 */
import type { SummaryText } from "../context/epoch-change";
import type { Command } from "../domain/commands";
import type { CoveredRange } from "../domain/compaction-events";
import type { NewId, OverlayId } from "../domain/ids";
import type { ItemMeta, Part } from "../domain/message";
import type { SessionState } from "../domain/state";

export interface KeptSummary {
  readonly tokens: number;
  readonly range: CoveredRange;
  readonly text?: string;
}

/** Tokens are the provider's, so far as they are known. */
export interface ReplayedSession {
  readonly state: SessionState;
  readonly now: number;
  readonly newId: NewId;
  /** Throws when the session refuses the command. Callers only use commands that it accepts. */
  execute(command: Command): void;
  /** The content of an item; empty when it is no longer known. */
  read(item: ItemMeta): readonly Part[];
  /** Tokens that a transcript holds for each of these positions. */
  transcript(range: CoveredRange): readonly number[];
  /** Tokens of the summaries in the view. */
  chainTokens(): number;
  /** Tokens of the summary that was really made over this range; null when there was none. */
  recordedLength(range: CoveredRange): number | null;
  /** Tokens of this session's summaries divided by those of their sources; null when that is not known. */
  readonly summaryShare: number | null;
  /** Stores a summary: its `text` if it has one, else a stand-in of that length. */
  keepSummary(overlay: OverlayId, summary: KeptSummary): SummaryText;
}
