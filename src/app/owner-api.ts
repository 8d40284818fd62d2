/** For whom a session's model calls are counted: what the tenant's object asks of a session when an end user is erased. */
import type { Caller, Outcome } from "./session-api";

export interface OwnerApi {
  /** The end users that earlier calls are counted for, without the session's present one. */
  formerEndUsers(caller: Caller): Promise<Outcome<readonly string[]>>;
  /**
   * Deletes these names of former end users: the calls stay, without one. True when the read model has no name that was ever deleted so.
   * Repeat the call while it is false, also with no names.
   */
  forgetEndUsers(caller: Caller, names: readonly string[]): Promise<Outcome<boolean>>;
}
