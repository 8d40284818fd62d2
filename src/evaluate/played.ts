/** What plans are made for and carried out on: a session without an object, whatever its content is known by. */
import type { SummaryText } from "../context/epoch-draft";
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
export interface Played {
  readonly state: SessionState;
  readonly now: number;
  readonly newId: NewId;
  /** Throws when the session refuses: nothing is asked that it may refuse. */
  execute(command: Command): void;
  /** Content; empty: it is not known any more. */
  read(item: ItemMeta): readonly Part[];
  /** What a transcript holds of each of these positions. */
  transcript(range: CoveredRange): readonly number[];
  /** The summaries that stand. */
  chainTokens(): number;
  /** How long the summary over this range was when it was really made; null: none was. */
  recordedLength(range: CoveredRange): number | null;
  /** Tokens of a summary over those of its source, where it is known how long this session's are; null: it is not. */
  readonly summaryShare: number | null;
  /** A summary takes its place: `text`, where one was written, else one of that length. */
  keepSummary(overlay: OverlayId, summary: KeptSummary): SummaryText;
}
