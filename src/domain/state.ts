/**
 * The session's state, computed by `evolve` from its events. Its size follows the model's view, not the history: older
 * content lives in tables of the Durable Object. It is plain JSON, so a snapshot is `JSON.stringify` of it.
 */
import { type BranchState, FIRST_BRANCH } from "./branch";
import { type BreakerState, closedBreaker } from "./breaker";
import { type CallTotals, NO_CALLS } from "./call-totals";
import type { Overlay, Reduced } from "./compaction-events";
import type { CompactionLease, RequestedCompaction } from "./compaction-work";
import type { ForkedLine, LastTurn, QueuedMessage, SessionSettings, TurnChoices } from "./events";
import type { CompactionId, ExecutionId, SessionId, TenantId, TurnId } from "./ids";
import type { LearnedRatio } from "./learned-ratio";
import type { ItemMeta, PinRef, TextRef } from "./message";
import type { OpenDraft } from "./open-draft";
import type { SessionSchedule } from "./schedule-events";
import { askedSystem, generationTexts } from "./turn-choices";

/** Each snapshot stores this number, and a snapshot with another number is ignored. Raise it with any change of shape or meaning below. */
export const STATE_VERSION = 7;

export interface OpenCall {
  readonly execution: ExecutionId;
  readonly call_id: string;
  readonly name: string;
  /** The server runs the call. Absent: the client must send its result. */
  readonly server?: true;
  /** The reply's limit cut the call off: it is not run. */
  readonly cut?: true;
  /** The call waits for a person's approval. Absent: it needs none, or it was answered. */
  readonly approval?: "pending";
  /** A person approved the call. */
  readonly allowed?: true;
  /** The server has started the call in the turn's current incarnation, so its effects outside may have happened. */
  readonly started?: true;
}

/** `running_tools`: the server runs a call or is about to. `awaiting_tools`: it runs none; results or approvals are missing. */
export type TurnPhase = "generating" | "running_tools" | "awaiting_tools";

/** Whether the server runs the call without waiting for an approval. */
export const runsHere = (call: OpenCall): boolean => call.server === true && call.approval === undefined;

export function toTurnPhase(open: readonly OpenCall[]): TurnPhase {
  if (open.length === 0) return "generating";
  return open.some(runsHere) ? "running_tools" : "awaiting_tools";
}

/** Whether the turn goes on without further input, so that an incarnation of the object must work on it. */
export const isRunning = (turn: Pick<OpenTurn, "phase"> | null): boolean => turn !== null && turn.phase !== "awaiting_tools";

export interface OpenTurn extends TurnChoices {
  readonly id: TurnId;
  readonly incarnation: string;
  readonly attempt: number;
  /** The newest lives of the object that have worked on the turn without progress, this one included: no model call finished, no tool returned. */
  readonly stalled_lives: number;
  readonly started_at: number;
  readonly phase: TurnPhase;
  readonly open_calls: readonly OpenCall[];
  readonly tools: TextRef | null;
  /** Number of model calls of this turn that are over, failed ones included. */
  readonly calls: number;
  /** Number of those that the model ended: a call that failed and is made again is no round of tools. */
  readonly rounds: number;
}

/** What the model reads: overlays in place of older items, then items verbatim, in order of position. */
export interface View {
  readonly epoch: number;
  /** Ordered by where each overlay ends, a nested one before the one around it. The last summary is the newest. */
  readonly overlays: readonly Overlay[];
  readonly items: readonly ItemMeta[];
  /** Items that the view shows shortened or replaced, in order of position. */
  readonly reduced: readonly Reduced[];
  /** Providers get back what they signed from this position on. A change of the view moves it past all turns that are over. */
  readonly signed_from: number;
  /** Raw estimate, in tokens, of what is shown: overlays, items, placeholders for missing results. A running sum. */
  readonly tokens: number;
  /** The weight of the view by the `chars_4` estimator: characters over 4 (docs/policy.md, contradictions). */
  readonly rough: number;
  /** Raw estimate of the view's system messages, in tokens. A running sum. */
  readonly system: number;
  /** Number of items that hold images or files. Some models are sent less of those, so they weigh less. */
  readonly media: number;
}

/** The provider's count of one request: `input` tokens for everything up to position `up_to`, `output` tokens for the reply. */
export interface UsageAnchor {
  /** The epoch in which the request was sent. */
  readonly epoch: number;
  /** The epoch whose view still holds the counted items: `epoch`, or a later one that changed only what stands before them. */
  readonly holds_in: number;
  readonly model: string;
  readonly up_to: number;
  readonly input: number;
  readonly output: number;
  /** Reasoning tokens beside `output`. They count with the reply only if its reasoning is sent back. Absent: none. */
  readonly thinking?: number;
  /** Last position of the reply that `output` counts. */
  readonly reply_to: number;
  /** Raw estimate of the request's system prompt, tools and pins, which `input` includes. */
  readonly fixed: number;
  /** Epoch milliseconds at which the call ended. The provider's prompt cache expires some time after it. */
  readonly at: number;
}

/** Consecutive counts that are too small to be believed one by one. */
interface SuspectCount {
  readonly model: string;
  readonly epoch: number;
  /** Input and output tokens of the last doubted count together. */
  readonly tokens: number;
  readonly times: number;
}

/** A lease makes one model call at a time: each part of a chunked summary waits for the previous part. */
interface UnsettledCall {
  readonly token: number;
  /** Number of parts that were done before this call. */
  readonly part: number;
}

export interface CompactionState extends BreakerState {
  readonly requested: RequestedCompaction | null;
  readonly lease: CompactionLease | null;
  /** The draft that waits for its commit. Null when there is none. Every change of the epoch ends it. */
  readonly draft: OpenDraft | null;
  readonly next_token: number;
  /** The newest leases whose model call is not in the ledger yet, because it is running, late or lost. */
  readonly unsettled: readonly UnsettledCall[];
  /** The last ended turn when a compaction failed for good. The session requests no other one until a further turn has ended. */
  readonly failed_after: TurnId | null;
  /** After a revert, the soft trigger waits until the view weighs this many raw tokens. Null when it does not wait. */
  readonly quiet_until: number | null;
  /** What the calls of this epoch paid to re-read tokens that a compaction would have removed (docs/policy.md, rule 1). */
  readonly rent: number;
  /** Learned ratio of a summary's tokens to its source's. Null until one was learned. */
  readonly summary_share: number | null;
  /** The newest change of the view that has a row of its own in the read model: a compaction, a trim, or a revert or reset. */
  readonly changed_by: CompactionId | null;
  /** Committed compactions that were not reverted, oldest first, at most `REVERTIBLE`. Only the newest can be reverted. */
  readonly committed: readonly CommittedCompaction[];
}

interface CommittedCompaction {
  readonly id: CompactionId;
  /** The provider's count of the view before the compaction. It is valid again once the compaction is reverted. */
  readonly anchor: UsageAnchor | null;
}

/** Maximum number of a session's compactions that can be reverted, one after the other. */
export const MAX_REVERTS = 32;

interface ForkSource {
  readonly from: SessionId;
  /** The last position to be copied. */
  readonly at: number;
  /** Whether everything is copied. Until then the session accepts no messages. */
  readonly done: boolean;
  /** The items to copy. Null when the copy is done. */
  readonly line: ForkedLine | null;
}

/** Models whose providers refused the usual rendering of the view of this epoch, and took the plainest one. */
interface PlainModels {
  readonly epoch: number;
  readonly models: readonly string[];
}

/** Whether the model reads this view in the plainest rendering alone. */
export const readsPlainly = ({ plain, view }: Pick<SessionState, "plain" | "view">, model: string): boolean =>
  plain?.epoch === view.epoch && plain.models.includes(model);

export interface SessionState {
  readonly lifecycle: "new" | "open" | "erased";
  readonly tenant: TenantId | null;
  readonly session: SessionId | null;
  readonly settings: SessionSettings;
  readonly pins: readonly PinRef[];
  readonly seq: number;
  readonly next_position: number;
  /** Number of messages by people and models on the current branch, without calls and results. */
  readonly messages: number;
  readonly opened_at: number;
  readonly updated_at: number;
  /** Null when the session is not archived. No turn is open and no message waits while it is. */
  readonly archived_at: number | null;
  readonly turn: OpenTurn | null;
  readonly last_turn: LastTurn | null;
  readonly queue: readonly QueuedMessage[];
  /** Imported calls whose results may still be imported (`open-calls`). Empty while a turn is open. */
  readonly imported_calls: readonly OpenCall[];
  readonly branch: BranchState;
  /** The session that this one was forked from. Null when it is no fork. */
  readonly fork: ForkSource | null;
  readonly view: View;
  readonly anchor: UsageAnchor | null;
  /** Null when the provider's last count was believed. */
  readonly doubted: SuspectCount | null;
  readonly compaction: CompactionState;
  /** What was learned about each model, the most recently asked first (`learned-ratio`). */
  readonly ratios: readonly LearnedRatio[];
  /** Absent: no provider has refused a view. */
  readonly plain?: PlainModels;
  /** Number of redactions, those of retention included. What was redacted is marked in the items themselves. */
  readonly redactions: number;
  readonly totals: CallTotals;
  /** Number of calls for a title in the ledger. `MAX_TITLE_TRIES` once a call ended otherwise than by a crash. */
  readonly title_tries: number;
  /** By name. A fork has none of its source's. */
  readonly schedules: readonly SessionSchedule[];
}

export const initialState: SessionState = {
  lifecycle: "new",
  tenant: null,
  session: null,
  settings: { model: "", policy: "", system: null, tools: null, title: null, metadata: null },
  pins: [],
  seq: 0,
  next_position: 1,
  messages: 0,
  opened_at: 0,
  updated_at: 0,
  archived_at: null,
  turn: null,
  last_turn: null,
  queue: [],
  imported_calls: [],
  branch: FIRST_BRANCH,
  fork: null,
  view: { epoch: 0, overlays: [], items: [], reduced: [], signed_from: 0, tokens: 0, rough: 0, media: 0, system: 0 },
  anchor: null,
  doubted: null,
  compaction: {
    requested: null,
    lease: null,
    draft: null,
    next_token: 1,
    unsettled: [],
    ...closedBreaker,
    failed_after: null,
    quiet_until: null,
    rent: 0,
    summary_share: null,
    changed_by: null,
    committed: [],
  },
  ratios: [],
  redactions: 0,
  totals: NO_CALLS,
  title_tries: 0,
  schedules: [],
};

/** Raw estimate of what no compaction removes: system prompt, tools, pins, the reply's schema, and `memory_query` where it is offered. */
export const fixedTokens = (state: SessionState): number => weighFixed(state).tokens + (isRecallOffered(state) ? RECALL_TOOL_TOKENS : 0);

/** Raw estimate and bytes of what no compaction removes, `memory_query` aside. */
export function weighFixed(state: SessionState): { readonly tokens: number; readonly bytes: number } {
  let [tokens, bytes] = [0, 0];
  for (const text of [askedSystem(state), offeredTools(state), ...state.pins, ...generationTexts(state)]) {
    tokens += text?.tokens ?? 0;
    bytes += text?.bytes ?? 0;
  }
  return { tokens, bytes };
}

/** Raw weight of the definition of `memory_query` in a request (`context/recall-tool`). */
export const RECALL_TOOL_TOKENS = 132;

/** Whether `memory_query` is offered: the policy allows it and something is out of view or shortened. Changes only with the epoch. */
export const isRecallOffered = ({ settings, view }: Pick<SessionState, "settings" | "view">): boolean =>
  settings.recall !== false && (view.overlays.length > 0 || view.reduced.length > 0);

/** A title is requested once, and once more if the object crashed during the first call. */
export const MAX_TITLE_TRIES = 2;

/** The unsettled calls of all leases except `lease`. */
export const unsettledExcept = (lease: number | null, { compaction }: SessionState): readonly UnsettledCall[] =>
  compaction.unsettled.filter(({ token }) => token !== lease);

/** Whether a question still awaits its answer: a turn is open, or the last one did not complete and could be retried. */
export const isAnswerOwed = ({ turn, last_turn }: Pick<SessionState, "turn" | "last_turn">): boolean =>
  turn !== null || (last_turn !== null && last_turn.status !== "completed");

/** The tools of the next request: the turn's own or the session's. Between turns, the tools that the last turn was offered. */
export function offeredTools({ turn, last_turn, settings }: SessionState): TextRef | null {
  return (turn ? turn.tools : last_turn?.tools) ?? settings.tools;
}
