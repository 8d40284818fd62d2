/** Exports and restorations of a session: what may be asked of its object (docs/export-format.md). */
import type { StoredRow } from "../domain/event-versions";
import type { Caller, Outcome } from "./session-api";

/** Refusals of exports and imports by the tenant's object. */
export type TransferError =
  | { readonly code: "session_not_found" }
  | { readonly code: "export_not_found"; readonly export: string }
  /** As many exports as may be kept at once. */
  | { readonly code: "export_limit"; readonly limit: number }
  | { readonly code: "import_not_found"; readonly import: string }
  /** As many imports as may be kept at once. */
  | { readonly code: "import_limit"; readonly limit: number }
  /** A file of this id is stored, or its bytes are still to be removed. Only an import names an id. */
  | { readonly code: "file_taken"; readonly file: string };

/** A row of a body, as it is stored. */
export interface BodyRow {
  readonly id: string;
  readonly part: number;
  readonly text: string;
}

/** The last line that was taken of a session. */
export type ExportPlace =
  | { readonly kind: "event"; readonly seq: number }
  | { readonly kind: "body"; readonly id: string; readonly part: number }
  /** `next`: the first byte that is not taken. An empty id: no file is taken yet. */
  | { readonly kind: "file"; readonly id: string; readonly next: number };

/** A page of a session's lines. */
export interface SessionLines {
  /** The session's newest event. */
  readonly seq: number;
  readonly end_user: string | null;
  readonly lines: readonly { readonly text: string; readonly place: ExportPlace }[];
  /** The page is the last one. Only the session's files follow. */
  readonly done: boolean;
}

export interface TransferApi {
  /** The lines of the session after `after`. `moved`: its newest event is not `seq` any more. A null `seq` begins. */
  exportLines(
    caller: Caller,
    input: { readonly seq: number | null; readonly after: ExportPlace | null },
  ): Promise<Outcome<SessionLines | { readonly moved: true }>>;
  /** Stores rows of a session that is being restored. Until `finishRestore` there is no such session. `first`: forgets an earlier try. */
  stageRestore(
    caller: Caller,
    input: { readonly first: boolean; readonly events: readonly StoredRow[]; readonly bodies: readonly BodyRow[] },
  ): Promise<Outcome<null>>;
  /** Folds what is staged, and opens the session. Refused as invalid, and forgotten, when the log is not that of an open session: `field` is the seq of the event at fault, or `log`. */
  finishRestore(caller: Caller, input: { readonly seq: number }): Promise<Outcome<null>>;
  /** Forgets what is staged. */
  dropRestore(caller: Caller): Promise<Outcome<null>>;
}
