/** Branches of a session, forks of it, and what is taken out of its record: part of what a session's object answers. */
import type { ItemId, SessionId } from "../domain/ids";
import type { Part, ToolDefinition } from "../domain/message";
import type { BranchComparison, BranchView } from "./branch-views";
import type { ForkBegun, ForkHead, ForkPage, ForkPlace } from "./fork-parts";
import type { Caller, Idempotency, Once, Outcome } from "./session-api";
import type { Accepted, SessionDescription } from "./session-views";

interface Keyed {
  readonly idempotency: Idempotency | null;
}

export interface BranchApi {
  branches(caller: Caller): Promise<Outcome<readonly BranchView[]>>;
  /** Goes back: a new branch, which shares everything up to position `to`. */
  rewind(caller: Caller, input: { readonly to: number } & Keyed): Promise<Outcome<Once<{ readonly branch: BranchView }>>>;
  switchBranch(caller: Caller, input: { readonly branch: number } & Keyed): Promise<Outcome<Once<{ readonly branch: BranchView }>>>;
  /** By default `b` is the present one, and `a` the one that `b` left. */
  compareBranches(
    caller: Caller,
    input: { readonly a: number | null; readonly b: number | null; readonly limit: number },
  ): Promise<Outcome<BranchComparison>>;
  /** Says it differently, on a new branch, and has it answered. */
  editMessage(
    caller: Caller,
    input: { readonly message: ItemId; readonly parts: readonly Part[]; readonly tools: readonly ToolDefinition[] | null } & Keyed,
  ): Promise<Outcome<Accepted>>;
  /** Has a message of the user answered again, on a new branch. `message`: it, or what answered it. */
  regenerate(caller: Caller, input: { readonly message: ItemId } & Keyed): Promise<Outcome<Accepted>>;
  /** Takes a message's content out of the record for good, on every branch. */
  redact(caller: Caller, message: ItemId): Promise<Outcome<{ readonly message_id: ItemId; readonly position: number }>>;

  /** What a fork at position `at` begins with. Null: at the newest, without a turn under way. */
  forkHead(caller: Caller, at: number | null): Promise<Outcome<ForkHead>>;
  forkPage(caller: Caller, place: ForkPlace): Promise<Outcome<ForkPage>>;
  /** Of the new session: the copy that was begun in it, whatever became of its source since. Null: none was. */
  findFork(caller: Caller, input: { readonly from: SessionId; readonly at: number | null }): Promise<Outcome<ForkBegun | null>>;
  /** Begun twice it is the first one that counts. */
  beginFork(caller: Caller, input: { readonly from: SessionId; readonly head: ForkHead }): Promise<Outcome<ForkBegun>>;
  copyIntoFork(caller: Caller, page: ForkPage): Promise<Outcome<null>>;
  completeFork(caller: Caller): Promise<Outcome<SessionDescription>>;
}
