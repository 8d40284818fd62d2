/** Branches, forks and redaction: part of what a session's object answers. */

import type { BranchComparison, BranchView, Redaction } from "../contract/branch";
import type { Accepted } from "../contract/item";
import type { SessionDescription } from "../contract/session";
import type { ItemId, SessionId } from "../domain/ids";
import type { Part, ToolDefinition } from "../domain/message";
import type { ForkBegun, ForkCut, ForkHead, ForkPage, ForkPlace } from "./fork-parts";
import type { Caller, Idempotency, Once, Outcome, TurnInput } from "./session-api";

interface Keyed {
  readonly idempotency: Idempotency | null;
}

interface RedactOptions {
  /**
   * The item is to be gone, and not only its content. The calls of its message stay. If nothing but redacted messages is behind the newest
   * other one of the current branch, the session goes back to that one. A turn that waits for its client, and that the item is of, ends.
   * Absent: false.
   */
  readonly takesBack?: true;
}

export interface BranchApi {
  branches(caller: Caller): Promise<Outcome<readonly BranchView[]>>;
  /** Goes back by starting a new branch, which shares everything up to position `to`. */
  rewind(caller: Caller, input: { readonly to: number } & Keyed): Promise<Outcome<Once<{ readonly branch: BranchView }>>>;
  switchBranch(caller: Caller, input: { readonly branch: number } & Keyed): Promise<Outcome<Once<{ readonly branch: BranchView }>>>;
  /** By default `b` is the current branch, and `a` the branch that `b` left. */
  compareBranches(
    caller: Caller,
    input: { readonly a: number | null; readonly b: number | null; readonly limit: number },
  ): Promise<Outcome<BranchComparison>>;
  /** Replaces a user message on a new branch, and runs a turn for it. */
  editMessage(
    caller: Caller,
    input: { readonly message: ItemId; readonly parts: readonly Part[]; readonly tools: readonly ToolDefinition[] | null } & TurnInput &
      Keyed,
  ): Promise<Outcome<Accepted>>;
  /** Runs a new turn for a user message, on a new branch. `message`: the user message, or an item of its answer. */
  regenerate(caller: Caller, input: { readonly message: ItemId } & TurnInput & Keyed): Promise<Outcome<Accepted>>;
  /**
   * Removes the content of a message with that of its calls from the record for good, on every branch. The id of a later call, or of a result,
   * names that alone.
   */
  redact(caller: Caller, message: ItemId, options?: RedactOptions): Promise<Outcome<Redaction>>;

  /** The state that a fork at position `at` begins with. Null: at the newest position outside of a running turn. */
  forkHead(caller: Caller, at: number | null, cut?: ForkCut): Promise<Outcome<ForkHead>>;
  forkPage(caller: Caller, place: ForkPlace): Promise<Outcome<ForkPage>>;
  /** Asked of the new session: the copy that was begun in it, even if its source has changed since. Null when none was begun. */
  findFork(caller: Caller, input: { readonly from: SessionId; readonly at: number | null }): Promise<Outcome<ForkBegun | null>>;
  /** Begins the copy. A second call returns what the first one began. */
  beginFork(caller: Caller, input: { readonly from: SessionId; readonly head: ForkHead }): Promise<Outcome<ForkBegun>>;
  copyIntoFork(caller: Caller, page: ForkPage): Promise<Outcome<null>>;
  completeFork(caller: Caller): Promise<Outcome<SessionDescription>>;
}
