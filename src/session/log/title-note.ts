/**
 * The title call under way, kept durably: should the object die over it, the next life records that it was made. One row; it counts
 * only while the ledger has no more tries than when it was written.
 */
import type { ModelCall } from "../../domain/commands";
import { readMeta, writeMeta } from "./log-schema";
import type { Sql } from "./sql";

const KEY = "title_under_way";

interface TitleNote {
  /** Calls for a title that had been recorded before it. */
  readonly tries: number;
  readonly call: ModelCall;
}

export const noteTitle = (sql: Sql, note: TitleNote): void => writeMeta(sql, KEY, JSON.stringify(note));

/** The call that an earlier life was in the middle of; null: none was. */
export function readTitleNote(sql: Sql, tries: number): ModelCall | null {
  const text = readMeta(sql, KEY);
  const note = text === null ? null : (JSON.parse(text) as TitleNote);
  return note?.tries === tries ? note.call : null;
}
