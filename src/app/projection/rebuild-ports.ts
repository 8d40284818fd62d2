/** What a rebuild of a session's rows needs, and what it reports. */
import type { RebuildReport } from "../../contract/rebuild";
import type { KeyedRow, RowKey } from "../diff-rows";
import type { Clock, Projection } from "../ports";
import type { Caller, LogPage, Outcome } from "../session-api";
import type { Schedule } from "../session-ports";

/** The seq of the last event in the live and in the scratch rows, at one moment. 0 without a session row. */
export interface RowSeqs {
  readonly live: number;
  readonly scratch: number;
  /** True when a tombstone marks the session as erased. */
  readonly buried: boolean;
}

export interface RowPage {
  readonly standing: RowSeqs;
  /** In order of their keys, bounded in number and size. Holds at least one row if there is one. */
  readonly live: readonly KeyedRow[];
  readonly scratch: readonly KeyedRow[];
}

export interface RowPlace {
  readonly table: string;
  readonly after: RowKey | null;
}

/** Rows to copy from the scratch rows, and rows to remove, on condition that neither side has moved from `standing`. */
export interface RowRepair {
  readonly table: string;
  readonly standing: RowSeqs;
  readonly write: readonly RowKey[];
  readonly remove: readonly RowKey[];
}

/** The rows of a session twice in one database: the live rows, and rows that are built only for the comparison (scratch). */
export interface RebuildRows {
  readonly live: Projection;
  readonly scratch: Projection;
  /** In the order in which they are compared. The table of sessions is last, because it records how far the others have come. */
  readonly tables: readonly [string, ...string[]];
  stand(at: Caller): Promise<RowSeqs>;
  /** One transaction: both pages and their standing are of the same moment. */
  readPage(at: Caller, place: RowPlace): Promise<RowPage>;
  /** One transaction. It changes nothing if the rows have moved on. */
  mend(at: Caller, mending: RowRepair): Promise<void>;
  /** Removes a bounded part, with the session's row first. True when nothing is left. */
  clearScratch(at: Caller): Promise<boolean>;
}

export interface RebuildPorts {
  /** The session's log after a seq, from its object. */
  readonly readLog: (after: number) => Promise<Outcome<LogPage>>;
  readonly rows: RebuildRows;
  readonly now: Clock;
  /** The most statements of one step; absent: `STEP_BUDGET`. */
  readonly budget?: number;
  /** Absent: the timers of the platform. */
  readonly schedule?: Schedule;
}

/** Where a rebuild continues. Plain data: it travels through the client between two requests. */
export interface RebuildProgress {
  /**
   * `clear`: removes old scratch rows. `compare`: compares page by page, and corrects at once. `extend`: projects the rest of the log.
   * `clean`: removes the scratch rows again, then the rebuild is over.
   */
  readonly phase: "clear" | "compare" | "extend" | "clean";
  /** Counts from 1. Each pass checks what the previous one corrected. */
  readonly pass: number;
  readonly place: RowPlace;
  /** Differences that this pass found. */
  readonly found: number;
  /** Live rows that this pass compared. */
  readonly rows: number;
}

export interface RebuildStep extends Omit<RebuildReport, "next_cursor"> {
  /** Null: the rebuild is over. */
  readonly next: RebuildProgress | null;
}
