/**
 * The model call under way, kept durably: should the object die in the middle of it, the next life records that it was
 * made. One row, overwritten by the next call; it counts only while its turn stands where it was written.
 */
import type { ModelCall } from "../../domain/commands";
import type { OpenTurn } from "../../domain/state";
import { readMeta, writeMeta } from "./log-schema";
import type { Sql } from "./sql";

const KEY = "call_under_way";

interface CallNote {
  readonly incarnation: string;
  /** Calls of its turn that had been recorded before it. */
  readonly rounds: number;
  readonly call: ModelCall;
}

export function noteCall(sql: Sql, { incarnation, rounds }: OpenTurn, call: ModelCall): void {
  writeMeta(sql, KEY, JSON.stringify({ incarnation, rounds, call } satisfies CallNote));
}

/** The call that `turn` was in the middle of when its object died; null: none was, or it was not noted yet. */
export function readCallNote(sql: Sql, turn: OpenTurn): ModelCall | null {
  const text = readMeta(sql, KEY);
  const note = text === null ? null : (JSON.parse(text) as CallNote);
  const isOpen = note?.call.turn === turn.id && note.incarnation === turn.incarnation && note.rounds === turn.rounds;
  return note && isOpen ? note.call : null;
}
