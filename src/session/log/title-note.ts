/**
 * Keeps the title call under way durably, so that the next life can record it if the object dies. There is one row, and
 * it is valid only while the ledger counts no more tries than it names.
 */
import type { ModelCall } from "../../domain/commands";
import { readMeta, writeMeta } from "./log-schema";
import type { Sql } from "./sql";

const KEY = "title_under_way";

interface TitleNote {
  /** The number of title calls that had been recorded before this one. */
  readonly tries: number;
  readonly call: ModelCall;
}

export const noteTitle = (sql: Sql, note: TitleNote): void => writeMeta(sql, KEY, JSON.stringify(note));

/** The call that an earlier life was in. Null when there was none. */
export function readTitleNote(sql: Sql, tries: number): ModelCall | null {
  const text = readMeta(sql, KEY);
  const note = text === null ? null : (JSON.parse(text) as TitleNote);
  return note?.tries === tries ? note.call : null;
}
