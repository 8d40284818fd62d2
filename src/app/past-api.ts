/** What the model saw: past requests, and how two of them differ. Part of what a session's object answers. */
import type { TurnId } from "../domain/ids";
import type { ContextDiff, PastContext, RequestRef } from "./past-views";
import type { Caller, Outcome } from "./session-api";

export interface PastApi {
  /** The request of a turn's call, rebuilt from the log and compared with the digest that was recorded when it was sent. */
  contextAt(caller: Caller, input: { readonly turn: TurnId; readonly call: number | null }): Promise<Outcome<PastContext>>;
  contextDiff(caller: Caller, input: { readonly from: RequestRef; readonly to: RequestRef }): Promise<Outcome<ContextDiff>>;
}
