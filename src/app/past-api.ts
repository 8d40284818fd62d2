/** What the model saw: past requests, how two of them differ, and what a turn was asked with. Part of what a session's object answers. */

import type { ContextDiff, PastContext } from "../contract/context";
import type { TurnSettings } from "../contract/turn";
import type { TurnId } from "../domain/ids";
import type { Caller, Outcome } from "./session-api";

/**
 * Names a request of the session. `turn` null: the next request. `call` counts a turn's calls from 1; null: the last one that has a
 * request.
 */
export interface RequestRef {
  readonly turn: TurnId | null;
  readonly call: number | null;
}

export interface PastApi {
  /** What a turn of any branch was asked with: its own choices over the session's settings when it started. */
  askedWith(caller: Caller, turn: TurnId): Promise<Outcome<TurnSettings>>;
  /** The request of a turn's call, rebuilt from the log and compared with the digest that was recorded when it was sent. */
  contextAt(caller: Caller, input: { readonly turn: TurnId; readonly call: number | null }): Promise<Outcome<PastContext>>;
  contextDiff(caller: Caller, input: { readonly from: RequestRef; readonly to: RequestRef }): Promise<Outcome<ContextDiff>>;
}
