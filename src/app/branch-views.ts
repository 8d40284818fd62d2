/** What clients see of a session's branches, and what they may ask of them: plain data. */
import type { DisplayItem } from "./session-views";

export interface BranchView {
  readonly number: number;
  /** The branch that it started from. Null for the first branch. */
  readonly parent: number | null;
  /** The last position that it shares with its parent. */
  readonly shared_to: number;
  readonly created_at: number;
  /** Null while it is the current branch. */
  readonly left_at: number | null;
  readonly current: boolean;
  /** Messages of people and models on the branch, including shared ones. */
  readonly messages: number;
  /** Its last position; 0 when it is empty. */
  readonly last_position: number;
}

/** Two branches side by side: the items that only one of them has. */
export interface BranchComparison {
  /** The last position that both have; 0 when there is none. */
  readonly shared_to: number;
  readonly shared_messages: number;
  readonly a: BranchSide;
  readonly b: BranchSide;
}

export interface BranchSide {
  readonly number: number;
  /** Messages, calls and results that the other branch does not have. */
  readonly items: readonly DisplayItem[];
  /** True when there are more items. The list of messages returns them page by page. */
  readonly has_more: boolean;
}

/** Selects the items' branch: by number, the current one, or all. */
export type BranchChoice = number | "current" | "all";
