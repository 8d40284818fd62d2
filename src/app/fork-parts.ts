/**
 * What is transferred when a session is copied. Positions start at 1 again, and items, calls and summaries get ids of the copy's own. Plain
 * data, in pages that fit RPC.
 */
import type { Generation } from "../context/generation";
import type { CoveredRange, Overlay, Reduced } from "../domain/compaction-events";
import type { OverlayId } from "../domain/ids";
import type { ItemMeta, ToolDefinition } from "../domain/message";

/**
 * Which items are copied. It is fixed when the copy begins and stored by the copy, so that an interrupted copy goes on with the same items.
 */
export interface ForkLine {
  /** The last shared position, in the source's numbers. */
  readonly at: number;
  /** Positions of the source's other branches. */
  readonly elsewhere: readonly CoveredRange[];
  /** The positions that the source's view showed, in the source's numbers. */
  readonly shown: readonly CoveredRange[];
  /** The source's newest event when the copy began. Absent: an older build began it. */
  readonly seq?: number;
}

/** A copy that ends behind calls of the client. `without`: results of them that lie before its end, in the source's numbers. */
export interface ForkCut {
  readonly without: readonly CoveredRange[];
}

/** A pin that is a copy of messages. `from`: their positions in the copy's numbers, the named one first. */
export interface CopiedPin {
  readonly text: string;
  readonly from: readonly number[];
}

/** A copy that was begun. */
export interface ForkBegun {
  readonly line: ForkLine;
  readonly done: boolean;
}

/** The source's state when the copy began. Later changes of the source do not reach the copy, but for redactions while it is under way. */
export interface ForkHead extends ForkLine {
  readonly model: string;
  readonly policy: string;
  readonly recall: boolean;
  readonly system: string | null;
  readonly tools: readonly ToolDefinition[] | null;
  readonly title: string | null;
  /** In the copy's numbers: the position up to which a model read what it made the title from. Absent: no model made it. */
  readonly title_read_to?: number;
  /** The session's own instructions for summaries, and those of its policy. */
  readonly summary_instructions: string | null;
  readonly policy_instructions: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** The source's external id is its own, and is not copied. */
  readonly end_user: string | null;
  /** Absent when there are none. */
  readonly generation?: Generation;
  /** The copy is a throwaway session, whatever the source is. Absent: it stays. */
  readonly throwaway?: true;
  /** A string: a text of the client's own. */
  readonly pins: readonly (string | CopiedPin)[];
  /**
   * In the copy's numbers. `text`: the text of a summary, else null. `read`: the positions that a summary was made from; absent for what is none.
   */
  readonly overlays: readonly { readonly overlay: Overlay; readonly text: string | null; readonly read?: readonly CoveredRange[] }[];
  readonly reduced: readonly Reduced[];
}

/** Where the next page begins. */
export interface ForkPlace extends ForkLine {
  /** The last position of the source that was copied. */
  readonly after: number;
  /** Items copied so far, which is also the last position of the copy. */
  readonly copied: number;
}

export interface ForkRedaction {
  /** Of what is copied up to this page, in the copy's numbers. */
  readonly positions: readonly number[];
  /** The summaries that went in the source: it alone knows all that each was made from. */
  readonly texts: readonly OverlayId[];
  /** A model made the title that the copy began with from anything that was redacted, copied or not. */
  readonly isTitleMadeFrom: boolean;
}

export interface ForkPage {
  /** `redacted`: the item has no content any more, and `text` is its placeholder. Absent: false. */
  readonly items: readonly { readonly meta: ItemMeta; readonly text: string; readonly redacted?: true }[];
  /** True when an overlay in the copy's view covers the items. */
  readonly aside: boolean;
  /** What was redacted in the source since the copy began. Absent: nothing that the copy has. */
  readonly redaction?: ForkRedaction;
  /** The last position of the source that this page reached. Null: there are no more items. */
  readonly next: number | null;
}
