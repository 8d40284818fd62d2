/** What people see of a session's branches, and what may be asked of them: plain data. */
import type { DisplayItem } from "./session-views";

export interface BranchView {
  readonly number: number;
  /** The branch that it left; null: it is the first. */
  readonly parent: number | null;
  /** The last position that it shares with its parent. */
  readonly shared_to: number;
  readonly created_at: number;
  /** Null: it is the one that goes on. */
  readonly left_at: number | null;
  readonly current: boolean;
  /** Messages of people and models on it, shared ones included. */
  readonly messages: number;
  /** Its last position; 0: nothing is said on it. */
  readonly last_position: number;
}

/** Two branches side by side: what only one of them has. */
export interface BranchComparison {
  /** The last position that both have; 0: none. */
  readonly shared_to: number;
  readonly shared_messages: number;
  readonly a: BranchSide;
  readonly b: BranchSide;
}

export interface BranchSide {
  readonly number: number;
  /** Messages, calls and results that the other has not. */
  readonly items: readonly DisplayItem[];
  /** There are more of them: the list of messages has them page by page. */
  readonly has_more: boolean;
}

/** Which branch the items are of: a number, the present one, or all. */
export type BranchChoice = number | "current" | "all";
