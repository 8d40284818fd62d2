/**
 * The session's state: a fold over its events, of the size of the view, not of the history. Whatever is older
 * lives in tables of the object. Plain JSON, so that a snapshot is `JSON.stringify`.
 */
import { type BranchState, FIRST_BRANCH } from "./branch";
import { type BreakerState, closedBreaker } from "./breaker";
import { type CallTotals, NO_CALLS } from "./call-totals";
import type { CompactionOptions, CompactionTrigger, FoldedPart, InlineWork, Overlay, Reduced, SummaryPlan } from "./compaction-events";
import type { ForkedLine, LastTurn, QueuedMessage, SessionSettings } from "./events";
import type { CompactionId, ExecutionId, ItemId, SessionId, TenantId, TurnId } from "./ids";
import type { LearnedRatio } from "./learned-ratio";
import type { ItemMeta, TextRef } from "./message";
import type { OpenDraft } from "./open-draft";
import type { Spent } from "./spent";

/** Snapshots carry this and are ignored when it differs: raise it with any change of shape or meaning below. */
export const STATE_VERSION = 19;

export interface OpenCall {
  readonly execution: ExecutionId;
  readonly call_id: string;
  readonly name: string;
  /** It runs here; absent: the client owes its result. */
  readonly server?: true;
  /** It waits for a person; absent: it need not, or no longer. */
  readonly approval?: "pending";
  /** A person allowed it. */
  readonly allowed?: true;
  /** It was begun, in the turn's present life: what it does outside may have happened. */
  readonly started?: true;
}

/** `running_tools`: a call runs here, or is about to. `awaiting_tools`: nothing runs; results or approvals are owed. */
export type TurnPhase = "generating" | "running_tools" | "awaiting_tools";

/** A call that runs here without waiting for anybody. */
export const runsHere = (call: OpenCall): boolean => call.server === true && call.approval === undefined;

export function phaseOf(open: readonly OpenCall[]): TurnPhase {
  if (open.length === 0) return "generating";
  return open.some(runsHere) ? "running_tools" : "awaiting_tools";
}

/** Whether something is going on by itself: it needs this life of the object. */
export const isRunning = (turn: Pick<OpenTurn, "phase"> | null): boolean => turn !== null && turn.phase !== "awaiting_tools";

export interface OpenTurn {
  readonly id: TurnId;
  readonly incarnation: string;
  readonly attempt: number;
  readonly started_at: number;
  readonly phase: TurnPhase;
  readonly open_calls: readonly OpenCall[];
  readonly tools: TextRef | null;
  /** Model calls finished in this turn. */
  readonly rounds: number;
}

/** What the model reads: overlays for what is older, then items verbatim, in order of position. */
export interface View {
  readonly epoch: number;
  /** In the order of their ends, one within another first (`viewOf`): the last summary is the newest. */
  readonly overlays: readonly Overlay[];
  readonly items: readonly ItemMeta[];
  /** Items that it shows as less than they are, by position. */
  readonly reduced: readonly Reduced[];
  /** From this position on, providers get back what they signed: a change of the view drops it from all turns that are over. */
  readonly signed_from: number;
  /** Raw estimate of overlays and items as they are shown, and of what stands for results that are missing: a running sum. */
  readonly tokens: number;
  /** The same by RFC-011's estimator, characters over 4. */
  readonly rough: number;
  /** Raw estimate of its system messages: a running sum, too. */
  readonly system: number;
  /** How many items hold images or files, which weigh less for some models. */
  readonly media: number;
}

/** The provider's own count of one request: `input` tokens for everything up to `up_to`, `output` for the reply. */
export interface UsageAnchor {
  /** The epoch that it was sent in. */
  readonly epoch: number;
  /** The epoch whose view still holds what was counted, item for item: the same, or one that changed only what stands in front. */
  readonly holds_in: number;
  readonly model: string;
  readonly up_to: number;
  readonly input: number;
  readonly output: number;
  /** Thinking that `output` leaves out: counted with the reply if it goes back to the provider. Absent: none. */
  readonly thinking?: number;
  /** Last position of the reply that `output` counted. */
  readonly reply_to: number;
  /** Raw estimate of its system prompt, tools and pins: their weight is part of `input`. */
  readonly fixed: number;
  /** When the call ended: a provider's cache forgets. */
  readonly at: number;
}

/** Counts in a row that are too small to be believed one by one. */
interface DoubtedCount {
  readonly model: string;
  readonly epoch: number;
  /** What the last one said of the request and its reply together. */
  readonly tokens: number;
  readonly times: number;
}

export interface CompactionLease extends SummaryPlan {
  readonly token: number;
  readonly attempt: number;
  readonly expires_at: number;
  readonly base_epoch: number;
  /** Null: a background worker holds it. */
  readonly inline: InlineWork | null;
}

/** What a lease's work is done for: what a turn took over is the turn's. */
export const triggerOfWork = (requested: Pick<RequestedCompaction, "trigger">, lease: CompactionLease | null): CompactionTrigger =>
  lease?.inline?.trigger ?? requested.trigger;

export interface RequestedCompaction {
  readonly id: CompactionId;
  readonly trigger: CompactionTrigger;
  readonly at: number;
  readonly attempts: number;
  readonly options: CompactionOptions | null;
  /** What a fold has done so far: kept over a retry that is planned alike. */
  readonly folded: FoldedPart | null;
  /** The plan that it was done for. */
  readonly folded_for: SummaryPlan | null;
  /** Leases from this token on are its own. */
  readonly first_token: number;
  /** What those leases' calls have cost, as far as they are in the ledger. */
  readonly spent: Spent;
}

/** One call at a time is made under a lease: the next part of a fold is asked for when the one before it is done. */
interface UnsettledCall {
  readonly token: number;
  /** How many parts of the fold were done before it. */
  readonly part: number;
}

export interface CompactionState extends BreakerState {
  readonly requested: RequestedCompaction | null;
  readonly lease: CompactionLease | null;
  /** The one that waits for its commit; null: none does. Whatever moves the epoch ends it. */
  readonly draft: OpenDraft | null;
  readonly next_token: number;
  /** The newest leases whose model call is not in the ledger yet: it is under way, late or lost. */
  readonly unsettled: readonly UnsettledCall[];
  /** The last turn that had ended when one failed for good: it is not asked for again before another has. */
  readonly failed_after: TurnId | null;
  /** After a revert: the soft trigger waits until the view weighs this much (raw); null: it does not wait. */
  readonly quiet_until: number | null;
  /** What the calls of this epoch paid to read again what a compaction would have removed (docs/policy.md). */
  readonly rent: number;
  /** Tokens of a summary over those of its source, learned; null: nothing was learned yet. */
  readonly summary_share: number | null;
  /** The newest change of the view that has a row of its own: a compaction, a trim, what took one back. */
  readonly changed_by: CompactionId | null;
  /** Compactions that stand, oldest first, the newest of which can be reverted; at most `REVERTIBLE`. */
  readonly committed: readonly CommittedCompaction[];
}

interface CommittedCompaction {
  readonly id: CompactionId;
  /** What the provider had counted of the view as it was before: it holds again when the compaction is taken back. */
  readonly anchor: UsageAnchor | null;
}

/** So many compactions of a session can be taken back, one after the other. */
export const REVERTIBLE = 32;

interface ForkSource {
  readonly from: SessionId;
  /** The last position that is copied. */
  readonly at: number;
  /** All of it is copied: before that nothing is said in it. */
  readonly done: boolean;
  /** Of what; null: it is done. */
  readonly line: ForkedLine | null;
}

/** A model, as far as it decides which images and files it is sent. */
export interface MediaReader {
  readonly provider: string;
  readonly capabilities?: { readonly images: boolean; readonly files: boolean };
}

export interface SessionState {
  readonly lifecycle: "new" | "open" | "erased";
  readonly tenant: TenantId | null;
  readonly session: SessionId | null;
  readonly settings: SessionSettings;
  readonly pins: readonly TextRef[];
  readonly seq: number;
  readonly next_position: number;
  /** Messages of people and models; calls and results do not count. */
  readonly messages: number;
  readonly opened_at: number;
  readonly updated_at: number;
  readonly turn: OpenTurn | null;
  readonly last_turn: LastTurn | null;
  readonly queue: readonly QueuedMessage[];
  /** Imported calls whose results may still be imported (`open-calls`). Empty while a turn is open. */
  readonly imported_calls: readonly OpenCall[];
  readonly branch: BranchState;
  /** Whose past it shares; null: it began by itself. */
  readonly fork: ForkSource | null;
  readonly view: View;
  readonly anchor: UsageAnchor | null;
  /** Null: the last count was believed. */
  readonly doubted: DoubtedCount | null;
  readonly compaction: CompactionState;
  /** What was learned of each model, the one that was asked last in front (`learned-ratio`). */
  readonly ratios: readonly LearnedRatio[];
  readonly redacted: readonly ItemId[];
  readonly totals: CallTotals;
  /** Who is to read the next request: only in a measure, never stored. Absent: a model that is sent every image and file. */
  readonly reader?: MediaReader;
  /** How often a title was asked for, as far as the ledger says; `MAX_TITLE_TRIES` once one was answered, or failed. */
  readonly title_tries: number;
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
  redacted: [],
  totals: NO_CALLS,
  title_tries: 0,
};

/** Raw estimate of everything that a request holds whatever is compacted: system prompt, tools, pins. */
export function fixedTokens(state: SessionState): number {
  const tools = offeredTools(state);
  const pins = state.pins.reduce((sum, pin) => sum + pin.tokens, 0);
  const recall = isRecallOffered(state) ? recallToolTokens(state) : 0;
  return (state.settings.system?.tokens ?? 0) + (tools?.tokens ?? 0) + pins + recall;
}

/** What the definition of `memory_query` weighs in a request (`context/recall-tool`), raw, and what it weighs more with the session's id in it. */
export const RECALL_TOOL_TOKENS = 128;
export const SESSION_ID_TOKENS = 28;

/** What the definition of `memory_query` weighs in this session's requests, once it is offered. */
export const recallToolTokens = ({ settings }: Pick<SessionState, "settings">): number =>
  RECALL_TOOL_TOKENS + (settings.recall_names_session ? SESSION_ID_TOKENS : 0);

/** Something is out of the model's view, or shown as less than it is: it may look it up. It changes with the epoch only. */
export const isRecallOffered = ({ settings, view }: Pick<SessionState, "settings" | "view">): boolean =>
  settings.recall !== false && (view.overlays.length > 0 || view.reduced.length > 0);

/** A title is asked for once, and once more if the object died over the first call. */
export const MAX_TITLE_TRIES = 2;

/** The unsettled calls of every lease but one. */
export const unsettledExcept = (lease: number | null, { compaction }: SessionState): readonly UnsettledCall[] =>
  compaction.unsettled.filter(({ token }) => token !== lease);

/** A question is being answered, or would be by a retry of the last turn. */
export const isAnswerOwed = ({ turn, last_turn }: Pick<SessionState, "turn" | "last_turn">): boolean =>
  turn !== null || (last_turn !== null && last_turn.status !== "completed");

/** The tools of the next request: the turn's own or the session's; between turns, those that the last turn was offered. */
export function offeredTools({ turn, last_turn, settings }: SessionState): TextRef | null {
  return (turn ? turn.tools : last_turn?.tools) ?? settings.tools;
}
