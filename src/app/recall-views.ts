/** What looking something up in a session's record is asked, and answers (`memory_query`, `GET …/recall`). */
import type { ExecutionId, ItemId } from "../domain/ids";
import type { ItemKind } from "../domain/message";

/** By words, within a range where there is one; else by execution, else by range. Null: not said. */
export interface RecallInput {
  readonly query: string | null;
  readonly execution: ExecutionId | null;
  readonly from: number | null;
  readonly to: number | null;
  /** UTF-16 units to skip, of an execution or a range. */
  readonly offset: number;
  /** Hits, at most. */
  readonly limit: number;
}

/** Another message around a hit, that is no hit itself. */
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
  /** Whether the model's view shows it as it is. */
  readonly in_view: boolean;
  /** One line: all of it, or the part that was asked for. */
  readonly snippet: string;
  /** To compare hits of one answer with; 0 where nothing was searched. */
  readonly score: number;
  readonly neighbours: readonly RecallNeighbour[];
}

export interface RecallReport {
  /** Best first; of a range or an execution in order of position. */
  readonly data: readonly RecallHit[];
  /** What the model would read. */
  readonly text: string;
  /** Of that text, estimated. */
  readonly tokens: number;
  /** How to ask for the rest; null: this is all. */
  readonly next: RecallNext | null;
}

export interface RecallNext {
  /** Null: of an execution. */
  readonly from: number | null;
  readonly to: number | null;
  /** UTF-16 units to skip. */
  readonly offset: number;
}
