/** What a session's object remembers of the conversation beyond the view, for whoever goes back in it. Synchronous. */
import type { ViewThen } from "../../context/rewind";
import type { ViewBefore } from "../../context/take-back";
import type { CoveredRange } from "../../domain/compaction-events";
import type { LastTurn } from "../../domain/events";
import type { TurnId } from "../../domain/ids";
import type { ItemMeta, TextRef } from "../../domain/message";

/** A branch that does not go on, as it was left. */
interface LeftBranch {
  readonly elsewhere: readonly CoveredRange[];
  /** What a retry took back on it; absent: an older build left it. */
  readonly taken_back?: readonly CoveredRange[];
  readonly messages: number;
  readonly last_turn: LastTurn | null;
  readonly view: ViewBefore;
}

export interface EndedTurn {
  readonly last: LastTurn;
  /** What it was offered in place of the session's tools. */
  readonly tools: TextRef | null;
}

export interface BranchPast {
  /** Items of these positions, in order, without what a retry took back on the present branch. */
  itemsAt(ranges: readonly CoveredRange[]): readonly ItemMeta[];
  /** All items of these positions: of what a branch that was left has shown, none was taken back on it. */
  everyItemAt(ranges: readonly CoveredRange[]): readonly ItemMeta[];
  /** The newest item of the present branch up to `position`. */
  newestUpTo(position: number): ItemMeta | null;
  /** The newest message of the user on the present branch up to `position`: what a retry from there would answer. */
  newestQuestionUpTo(position: number): ItemMeta | null;
  /** The first one behind it. */
  nextAfter(position: number): ItemMeta | null;
  /** Views of the past, the newest first, and at last the one of when `to` was the newest position. */
  earlierViews(to: number): Iterable<ViewThen>;
  /** Messages of people and models at these positions. */
  countMessages(ranges: readonly CoveredRange[]): number;
  turn(id: TurnId): EndedTurn | null;
  /** Null: there is no such branch, or it is the present one. */
  leftBranch(number: number): LeftBranch | null;
  /** Such as a redaction has burnt: nothing stands for them any more. */
  isBurnt(overlay: string): boolean;
}
