/**
 * What travels when a session is copied: positions count anew from 1, ids of items, calls and summaries are the copy's own. Plain data, in
 * pages that RPC carries.
 */
import type { CoveredRange, Overlay, Reduced } from "../domain/compaction-events";
import type { ItemMeta, ToolDefinition } from "../domain/message";

/** Which items are copied: settled when the copy begins, and kept by it, so that one that was broken off goes on with the same ones. */
export interface ForkLine {
  /** The last position that is shared, as the source counts. */
  readonly at: number;
  /** Positions of the source's other branches. */
  readonly elsewhere: readonly CoveredRange[];
  /** What the source's view showed, as the source counts. */
  readonly shown: readonly CoveredRange[];
}

/** A copy that was begun. */
export interface ForkBegun {
  readonly line: ForkLine;
  readonly done: boolean;
}

/** What the source was like when the copy began: its later changes are not the copy's. */
export interface ForkHead extends ForkLine {
  readonly model: string;
  readonly policy: string;
  readonly recall: boolean;
  readonly system: string | null;
  readonly tools: readonly ToolDefinition[] | null;
  readonly title: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly pins: readonly string[];
  /** As the copy counts. `text`: of a summary. `read`: the positions that it was made from; absent: an older build's head. */
  readonly overlays: readonly { readonly overlay: Overlay; readonly text: string | null; readonly read?: readonly CoveredRange[] }[];
  readonly reduced: readonly Reduced[];
}

/** Where the next page begins. */
export interface ForkPlace extends ForkLine {
  /** The last position of the source that is copied. */
  readonly after: number;
  /** Items copied so far: the last position of the copy. */
  readonly copied: number;
}

export interface ForkPage {
  readonly items: readonly { readonly meta: ItemMeta; readonly text: string }[];
  /** Something in the copy's view stands for them. */
  readonly aside: boolean;
  /** The last position of the source that this page has come to; null: there is no more. */
  readonly next: number | null;
}
