/** Messages that a client names without saying where they are: part of what a session's object answers. */
import type { DisplayItem } from "../contract/item";
import type { ExecutionId, ItemId, TurnId } from "../domain/ids";
import type { Caller, Outcome } from "./session-api";

export interface NamedInput {
  readonly ids: readonly ItemId[];
  /**
   * The place in this session that the request goes on behind: a turn, or null for the newest place of the current branch. Absent: the
   * request is about another session. A throwaway session is unknown to it.
   */
  readonly place?: { readonly after: TurnId | null };
}

interface NamedApproval {
  readonly execution_id: ExecutionId;
  readonly is_answered: boolean;
}

export interface NamedMessage {
  readonly message: DisplayItem;
  /** A branch that has the message: the current one, if it does. */
  readonly branch: number;
  /** The model reads the message at the request's place. */
  readonly is_there: boolean;
  /** The message's calls that the server ran, or the call that it is the result of. */
  readonly ran_here: readonly ExecutionId[];
  /** Those of them that waited for a person's approval. */
  readonly approvals: readonly NamedApproval[];
  /** The results of the message's own calls among them, as far as there are any. */
  readonly results: readonly DisplayItem[];
  /** The reply whose call the message answers, if the server ran that call. Null: the message is no such result. */
  readonly reply: DisplayItem | null;
  /** What was redacted of the message, its calls, these results and that reply. */
  readonly redacted: readonly ItemId[];
}

export interface NamedMessages {
  /** Each message once, in order of position. An id that is not recorded has none. */
  readonly data: readonly NamedMessage[];
  /** Ids that the answer has no room for. They are asked for again. */
  readonly rest: readonly ItemId[];
}

export interface NamedApi {
  /** The messages of these ids, of any branch. An id may be that of a call inside of a message. */
  named(caller: Caller, input: NamedInput): Promise<Outcome<NamedMessages>>;
}
