/** What the model saw: past requests, how two of them differ, and what a turn was asked with. Part of what a session's object answers. */

import type { ContextDiff, PastContext } from "../contract/context";
import type { TurnSettings } from "../contract/turn";
import type { ItemId, TurnId } from "../domain/ids";
import type { Caller, Outcome } from "./session-api";

/**
 * Names a request of the session. `turn` null: the next request. `call` counts a turn's calls from 1; null: the last one that has a
 * request.
 */
export interface RequestRef {
  readonly turn: TurnId | null;
  readonly call: number | null;
}

/** What the model could read as a turn started, with every redaction up to now. Later compactions and messages are not in it. */
export interface StartContext {
  /** The summaries, oldest first, as one text. Null: there was none, or all are gone. */
  readonly summary: string | null;
  /** The messages that stood in full or reduced, the turn's own question included, in order. */
  readonly messages: readonly ItemId[];
}

/** The client's note about a turn. */
export interface TurnNote {
  readonly turn: TurnId;
  readonly note: string;
  /** The first message that the turn produced. Null: it has produced none. */
  readonly first: ItemId | null;
}

export interface PastApi {
  /** What a turn of any branch was asked with: its own choices over the session's settings when it started. */
  askedWith(caller: Caller, turn: TurnId): Promise<Outcome<TurnSettings>>;
  /** The notes of these turns that hold the text `having`. Turns without such a note are left out. */
  notes(caller: Caller, input: { readonly turns: readonly TurnId[]; readonly having: string }): Promise<Outcome<readonly TurnNote[]>>;
  /** Unknown as long as the turn has not started. */
  contextAtStart(caller: Caller, turn: TurnId): Promise<Outcome<StartContext>>;
  /** The request of a turn's call, rebuilt from the log and compared with the digest that was recorded when it was sent. */
  contextAt(caller: Caller, input: { readonly turn: TurnId; readonly call: number | null }): Promise<Outcome<PastContext>>;
  contextDiff(caller: Caller, input: { readonly from: RequestRef; readonly to: RequestRef }): Promise<Outcome<ContextDiff>>;
}
