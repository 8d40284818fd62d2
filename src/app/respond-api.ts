/** One request with everything that is new, and the stream of its answer: part of what a session's object answers. */
import type { Accepted, DisplayItem } from "../contract/item";
import type { SessionDescription } from "../contract/session";
import type { OnBusy } from "../domain/commands";
import type { CompactionId, SessionId, TurnId } from "../domain/ids";
import type { ToolDefinition } from "../domain/message";
import type { ForkCut } from "./fork-parts";
import type { ApprovalInput, Caller, Idempotency, OpenInput, Outcome, ToolResultInput, TurnInput } from "./session-api";
import type { WrittenMessage } from "./written-message";

/**
 * Everything that one request adds, in one transaction: all or none. The order is: the place, the results, the approvals, the messages, the
 * turn.
 *
 * A request that only answers calls continues their turn. It may name what the turn is asked with (`TurnInput`, `tools`). If it names
 * anything, it names everything, as for a new turn; and if that differs from what the turn was asked with, the turn ends as superseded after
 * the results, and a new turn answers the same message. A turn that goes on keeps its own note, whatever the request's is.
 */
export interface RespondInput extends TurnInput {
  /**
   * The turn that the request continues. On another place than the newest of the current branch this goes on with the branch that ends
   * there, or starts one. Null: the newest place of the current branch.
   */
  readonly after: TurnId | null;
  /** Results for the open calls of the waiting turn. If they answer all of them and no message follows, that turn goes on. */
  readonly results: readonly ToolResultInput[];
  /**
   * A person's answers to calls that wait for approval, recorded after the results. If it is given, all that the turn waits for is answered
   * by the request; absent: what is not answered here may be answered later.
   */
  readonly approvals?: readonly ApprovalInput[];
  /**
   * Messages in order. With `run` a last one of a user starts the turn, and those before it are appended. Where they end with another
   * message, all are appended, and the turn answers what is recorded then: the result of an imported call, an instruction, or the model's
   * own words (`PromptRules.userAtEnd`).
   */
  readonly messages: readonly WrittenMessage[];
  /** False: no turn starts or goes on. A turn whose last call is answered ends as superseded. */
  readonly run: boolean;
  /** For this turn only. Null: the session's. */
  readonly tools: readonly ToolDefinition[] | null;
  /** What a lone user message without `after` does while a turn runs. Absent: it waits. All other requests are rejected then. */
  readonly onBusy?: OnBusy;
  /**
   * The waiting turn that the messages supersede, with every call of it that the request does not answer. Absent, or another turn waits:
   * such calls refuse the messages.
   */
  readonly supersedes?: TurnId;
  /** A request that answers calls begins a new turn, though it is asked as their turn was: it has a note of its own. Absent: false. */
  readonly renews?: true;
  /** The answer comes with the live stream of the turn, so that its caller need not ask for it. Absent: without. */
  readonly listens?: true;
  readonly idempotency: Idempotency | null;
}

/**
 * A request that continues a turn as a place that never moves. Whatever else goes on in the session, none of it ends for the request, and the
 * request does not wait for it.
 */
export interface RespondFromInput extends RespondInput {
  readonly after: TurnId;
  /** From 1: the wait for its client at which the turn is continued. One more than it has waits: its end. */
  readonly leg: number;
  /** The id of the copy, where one is needed. A request that is repeated with its idempotency key keeps the first one's. */
  readonly copy: SessionId;
}

/**
 * Where a request is to be continued: in a copy of the session that ends at this place, because the session is busy elsewhere or has left the
 * place behind for good. Nothing was recorded but the choice, under the idempotency key. `cut`: the place is behind calls whose results the
 * request brings. They are results of imported calls in the copy.
 */
export interface CopiedPlace {
  readonly copy: SessionId;
  readonly at: number;
  readonly cut?: ForkCut;
}

/** `stream`: the live stream of the turn, from its beginning. Absent: it was not asked for, no turn runs, or the request is a repeated one. */
export type Responded = Accepted & { readonly stream?: ReadableStream<Uint8Array> };

/** How much is read of the end of a conversation. */
export interface EndInput {
  /** The most messages. 0: none. */
  readonly limit: number;
  /** Read no further back than to the model's words before the newest message of a user. */
  readonly toQuestion: boolean;
  /** The beginning of the system prompt is read, too. */
  readonly withSystem?: true;
}

/** A message at the end of a conversation. */
export type EndItem = Pick<DisplayItem, "role" | "content" | "position" | "turn_id" | "call_id" | "execution_id" | "tool_calls">;

/** The end of a conversation and what is open there: what a request is compared with that holds more than is new. */
export interface ConversationEnd extends Pick<SessionDescription, "model" | "epoch" | "turn" | "stream_offset"> {
  readonly last_turn: TurnId | null;
  /** The turn of the oldest message that waits. */
  readonly next_turn: TurnId | null;
  /** In order of position. */
  readonly items: readonly EndItem[];
  /** `items` is the whole conversation. */
  readonly is_whole: boolean;
  /** The beginning of the system prompt that the last turn was asked with. Null: it had none. Absent: it was not read. */
  readonly system?: string | null;
}

/** The live stream of a turn, and what it does not tell. */
export interface FollowedTurn {
  readonly stream: ReadableStream<Uint8Array>;
  /** The compaction that runs as the stream begins. Null: none runs. */
  readonly compacting: CompactionId | null;
}

export interface RespondApi {
  conversationEnd(caller: Caller, input: EndInput): Promise<Outcome<ConversationEnd>>;
  /** `turn_id`: the turn to await; null without `run`. `position`: of the starting message, the last appended one, or the first result. */
  respond(caller: Caller, input: RespondInput): Promise<Outcome<Responded>>;
  respondFrom(caller: Caller, input: RespondFromInput): Promise<Outcome<Responded | CopiedPlace>>;
  /** The turn's live stream, for a client that shows from its beginning on whether a compaction runs. */
  follow(caller: Caller, input: { readonly after: number | null; readonly turn: TurnId }): Promise<Outcome<FollowedTurn>>;
  /** Opens a session and responds in it, as one call. A throwaway session that is refused ends at once. */
  openAndRespond(caller: Caller, input: { readonly open: OpenInput; readonly respond: RespondInput }): Promise<Outcome<Responded>>;
}
