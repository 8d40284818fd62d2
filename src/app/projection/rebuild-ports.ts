/** What a rebuild of a session's rows needs of the world, and what it says of them. */
import type { KeyedRow, RowDifference, RowKey } from "../diff-rows";
import type { Clock, Projection } from "../ports";
import type { Caller, Outcome } from "../session-api";
import type { LogPage } from "../session-views";

/** Where the rows of both kinds stand at one moment: the seq of their last event, 0 without a session's row. */
export interface Standing {
  readonly live: number;
  readonly scratch: number;
  /** A tombstone says that the session was erased. */
  readonly buried: boolean;
}

export interface RowPage {
  readonly standing: Standing;
  /** In order of their keys, bounded in number and weight; at least one if there is one. */
  readonly live: readonly KeyedRow[];
  readonly scratch: readonly KeyedRow[];
}

export interface RowPlace {
  readonly table: string;
  readonly after: RowKey | null;
}

/** Rows to be taken over from the scratch rows, and rows to be removed, while both still stand where they stood. */
export interface Mending {
  readonly table: string;
  readonly standing: Standing;
  readonly write: readonly RowKey[];
  readonly remove: readonly RowKey[];
}

/** The rows of a session twice in one database: the live ones, and those made only to be compared (scratch). */
export interface RebuildRows {
  readonly live: Projection;
  readonly scratch: Projection;
  /** In the order in which they are compared. The table of sessions is the last: it says where the others stand. */
  readonly tables: readonly [string, ...string[]];
  stand(at: Caller): Promise<Standing>;
  /** One transaction: both pages and their standing are of the same moment. */
  readPage(at: Caller, place: RowPlace): Promise<RowPage>;
  /** One transaction, which changes nothing if the rows have moved on. */
  mend(at: Caller, mending: Mending): Promise<void>;
  /** Removes a bounded part, the session's row with the first. True: nothing is left. */
  clearScratch(at: Caller): Promise<boolean>;
}

export interface RebuildPorts {
  /** The session's log after a seq, from its object. */
  readonly readLog: (after: number) => Promise<Outcome<LogPage>>;
  readonly rows: RebuildRows;
  readonly now: Clock;
  /** What one step may cost, in statements; absent: `STEP_BUDGET`. */
  readonly budget?: number;
}

/** Where a rebuild goes on. Plain data: it travels through the client between two requests. */
export interface RebuildProgress {
  /** `clear`: the scratch rows go. `compare`: page by page, mended at once. `extend`: the rest of the log. `clean`: as `clear`, and over. */
  readonly phase: "clear" | "compare" | "extend" | "clean";
  /** From 1. What the first one mended, the next one looks at again. */
  readonly pass: number;
  readonly place: RowPlace;
  /** Differences that this pass found. */
  readonly found: number;
  /** Live rows that this pass looked at. */
  readonly rows: number;
}

export interface RebuildStep {
  readonly session: string;
  /** What was wrong, as far as this step saw. */
  readonly differences: readonly RowDifference[];
  /** Nothing is wrong now; null: it is not over. */
  readonly repaired: boolean | null;
  /** Live rows that the pass has looked at so far; at the end, all of them. */
  readonly rows: number;
  /** Null: it is over. */
  readonly next: RebuildProgress | null;
}
