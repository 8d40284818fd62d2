/**
 * Keeps the model call under way durably, so that the next life can record it if the object dies. There is one row,
 * which the next call overwrites. The note is valid only while the turn's incarnation and number of calls are those that it
 * names.
 */
import type { ModelCall } from "../../domain/commands";
import type { OpenTurn } from "../../domain/state";
import { readMeta, writeMeta } from "./log-schema";
import type { Sql } from "./sql";

const KEY = "call_under_way";

interface CallNote {
  readonly incarnation: string;
  /** The number of the turn's calls that had been recorded before this one. */
  readonly calls: number;
  readonly call: ModelCall;
}

export function noteCall(sql: Sql, { incarnation, calls }: OpenTurn, call: ModelCall): void {
  writeMeta(sql, KEY, JSON.stringify({ incarnation, calls, call } satisfies CallNote));
}

/** The call that `turn` was in when its object died. Null when there was none, or it was not noted yet. */
export function readCallNote(sql: Sql, turn: OpenTurn): ModelCall | null {
  const text = readMeta(sql, KEY);
  const note = text === null ? null : (JSON.parse(text) as CallNote);
  const isOpen = note?.call.turn === turn.id && note.incarnation === turn.incarnation && note.calls === turn.calls;
  return note && isOpen ? note.call : null;
}
