/** The input and the answer of a look-up in a session's record (`memory_query`, and `GET` or `POST …/recall`). */
import type { ExecutionId, ItemId } from "../domain/ids";
import type { ItemKind } from "../domain/message";

/**
 * Searches by words, within the range if there is one; without a query it reads the execution, and without an execution the range. A null
 * field was not given.
 */
export interface RecallInput {
  readonly query: string | null;
  readonly execution: ExecutionId | null;
  readonly from: number | null;
  readonly to: number | null;
  /** UTF-16 units to skip in an execution or a range. */
  readonly offset: number;
  /** The most hits. */
  readonly limit: number;
}

/** A message next to a hit that is not a hit itself. */
export interface RecallNeighbour {
  readonly position: number;
  readonly kind: ItemKind;
  readonly snippet: string;
}

export interface RecallHit {
  readonly position: number;
  readonly message_id: ItemId;
  readonly kind: ItemKind;
  readonly created_at: number;
  readonly execution_id: ExecutionId | null;
  /** Whether the model's view shows the item unchanged. */
  readonly in_view: boolean;
  /** One line: the whole text, or the matching part. */
  readonly snippet: string;
  /** Comparable only within one answer; 0 without a search. */
  readonly score: number;
  readonly neighbours: readonly RecallNeighbour[];
}

export interface RecallReport {
  /** Best first; for a range or an execution, in order of position. */
  readonly data: readonly RecallHit[];
  /** The text that the model would read. */
  readonly text: string;
  /** Estimated tokens of `text`. */
  readonly tokens: number;
  /** The input for the rest. Null when this is everything. */
  readonly next: RecallNext | null;
}

export interface RecallNext {
  /** Null for an execution. */
  readonly from: number | null;
  readonly to: number | null;
  /** UTF-16 units to skip. */
  readonly offset: number;
}
