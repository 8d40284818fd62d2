/** What a session's object knows of the conversation beyond the view: for going back, reverting a compaction and resetting. Synchronous. */

import type { ViewBefore } from "../context/revert-reset";
import type { ViewThen } from "../context/rewind";
import type { CoveredRange } from "../domain/compaction-events";
import type { LastTurn } from "../domain/events";
import type { CompactionId, TurnId } from "../domain/ids";
import type { ItemMeta } from "../domain/message";

/** A branch that is not the current one, in the state in which it was left. */
interface LeftBranch {
  readonly elsewhere: readonly CoveredRange[];
  /** What a retry took back on it. */
  readonly taken_back: readonly CoveredRange[];
  readonly messages: number;
  readonly last_turn: LastTurn | null;
  readonly view: ViewBefore;
}

export interface SessionPast {
  /** Items at these positions, in order, without those that a retry took back on the current branch. */
  itemsAt(ranges: readonly CoveredRange[]): readonly ItemMeta[];
  /**
   * All items at these positions, including those that a retry took back on the current branch: the view of a branch that was left may show
   * them.
   */
  everyItemAt(ranges: readonly CoveredRange[]): readonly ItemMeta[];
  /** The newest item of the current branch up to `position`. */
  newestUpTo(position: number): ItemMeta | null;
  /** The newest user message of the current branch up to `position`: the one that a retry from there would answer. */
  newestQuestionUpTo(position: number): ItemMeta | null;
  /** The first item after `position` on the current branch. */
  nextAfter(position: number): ItemMeta | null;
  /**
   * Earlier views of the current branch and the branches that it came from, newest first, and then the view at the time when `to` was the
   * newest position.
   */
  earlierViews(to: number): Iterable<ViewThen>;
  /** Counts the messages of people and models at these positions. */
  countMessages(ranges: readonly CoveredRange[]): number;
  /** How the turn ended. Null while it is queued or open. */
  turn(id: TurnId): LastTurn | null;
  /** Null when there is no such branch, or it is the current one. */
  leftBranch(number: number): LeftBranch | null;
  /** Whether a redaction has removed the summary's text for good. */
  isPurged(overlay: string): boolean;
  /** The view before that compaction. Null when the compaction never took effect. */
  viewBefore(compaction: CompactionId): ViewBefore | null;
  /** The whole current branch, newest first, without what a retry took back. */
  history(): Iterable<ItemMeta>;
}
