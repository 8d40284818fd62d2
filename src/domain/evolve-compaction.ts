/** How compaction events change the state. The view of older items changes only here: by overlays, never by rewriting an item. */
import { assertNever } from "../lib/assert-never";
import { closedBreaker, FAILURES_TO_OPEN, FRUITLESS_TO_OPEN, openBreaker } from "./breaker";
import {
  type ChunkProgress,
  type CompactionEvent,
  type CompactionFailure,
  type CoveredRange,
  type EpochOp,
  isSummarized,
  type Overlay,
  type Reduced,
  type Reduction,
  type SummaryPlan,
} from "./compaction-events";
import { NOTHING_SPENT } from "./compaction-spend";
import { takePlan } from "./compaction-work";
import type { EventOf } from "./events";
import type { Evolvers } from "./evolver";
import type { OverlayId } from "./ids";
import type { ItemMeta } from "./message";
import { mayBlameInstructions } from "./standing-instructions";
import { type CompactionState, MAX_REVERTS, type SessionState, type UsageAnchor, unsettledExcept, type View } from "./state";
import { toWeighedView } from "./view";

/** A compaction made progress if the next request is smaller by at least a tenth (docs/field.md: OpenHands). */
export const PROGRESS_RATIO = 0.9;
/** After a revert, the soft trigger waits until the view has grown by a fifth. */
const GROWTH_RATIO = 1.2;
/** How fast a session learns the length of its summaries (docs/policy.md, constants). */
const LEARNING_RATE = 0.2;

export const compactionEvolvers: Evolvers<CompactionEvent["type"]> = {
  CompactionRequested: requestCompaction,
  CompactionStarted: startCompaction,
  CompactionProgressed: progress,
  CompactionFailed: failCompaction,
  EpochChanged: changeEpoch,
};

const withCompaction = (state: SessionState, change: Partial<CompactionState>): SessionState => ({
  ...state,
  compaction: { ...state.compaction, ...change },
});

function requestCompaction(state: SessionState, event: EventOf<"CompactionRequested">): SessionState {
  const { compaction: id, trigger, at, options = null, key } = event;
  const reset = trigger === "manual" ? closedBreaker : {};
  const first_token = state.compaction.next_token;
  return withCompaction(state, {
    ...reset,
    requested: {
      ...{ id, trigger, at, attempts: 0, options, folded: null, folded_for: null, first_token, spent: NOTHING_SPENT },
      ...(key !== undefined && { key }),
    },
    lease: null,
  });
}
/** Maximum number of leases whose calls are tracked. A result that arrives after this many further leases is not recorded in the ledger. */
const MAX_UNSETTLED = 16;

function startCompaction(state: SessionState, event: EventOf<"CompactionStarted">): SessionState {
  const { token, attempt, expires_at, base_epoch } = event;
  const { inline = null } = event;
  const { requested } = state.compaction;
  const goesOn = requested?.folded && requested.folded_for && canResumeChunks(requested.folded, requested.folded_for, event);
  const folded = goesOn ? {} : { folded: null, folded_for: null };
  const part = goesOn ? (requested.folded?.parts ?? 0) : 0;
  return withCompaction(state, {
    requested: requested && { ...requested, attempts: attempt, ...folded },
    lease: { token, attempt, expires_at, base_epoch, ...takePlan(event), inline },
    next_token: token + 1,
    unsettled: [...state.compaction.unsettled, { token, part }].slice(-MAX_UNSETTLED),
  });
}

/**
 * Whether what was read so far is also the beginning of the new plan. Messages that arrived since may only extend the
 * source at its end.
 */
const canResumeChunks = (done: ChunkProgress, before: SummaryPlan, now: SummaryPlan): boolean =>
  now.mode === "transcript" &&
  now.merge === before.merge &&
  now.split === before.split &&
  now.source.from === before.source.from &&
  now.reread_from === before.reread_from &&
  now.source.to >= Math.max(before.source.to, done.position) &&
  now.replaces.join() === before.replaces.join();

function progress(state: SessionState, { part, expires_at }: EventOf<"CompactionProgressed">): SessionState {
  const { requested, lease } = state.compaction;
  return withCompaction(state, {
    requested: requested && { ...requested, folded: part, folded_for: lease },
    lease: lease && { ...lease, expires_at },
    // The next part's call is under way.
    unsettled: lease ? [...unsettledExcept(lease.token, state), { token: lease.token, part: part.parts }] : state.compaction.unsettled,
  });
}

/** Failures that do not count against the breaker: the view changed, there was nothing to do, a person discarded the compaction, or no model was asked. */
const UNCOUNTED_FAILURES: ReadonlySet<CompactionFailure> = new Set(["superseded", "nothing_to_do", "discarded", "budget"] as const);

function failCompaction(state: SessionState, event: EventOf<"CompactionFailed">): SessionState {
  const { compaction } = state;
  // The draft ends. A compaction that is under way meanwhile goes on.
  if (compaction.draft?.id === event.compaction) return withCompaction(state, { draft: null });
  if (!event.final) {
    // A worker that gives its lease back makes no more calls under it.
    const unsettled = event.failure === "aborted" ? unsettledExcept(event.token, state) : compaction.unsettled;
    return withCompaction(state, { lease: null, requested: attemptsAfter(compaction, event), unsettled });
  }
  const counts = !UNCOUNTED_FAILURES.has(event.failure);
  const failures = compaction.failures + (counts ? 1 : 0);
  const opens = counts && failures >= FAILURES_TO_OPEN;
  const breaker = opens ? openBreaker(compaction.breaker, state.view.tokens) : compaction.breaker;
  const failed_after = state.last_turn?.id ?? null;
  return withCompaction(state, { lease: null, requested: null, failures, breaker, failed_after });
}

/** A call that was aborted on this side, for example because its turn was stopped, does not count as an attempt. */
function attemptsAfter({ requested, lease }: CompactionState, { failure }: EventOf<"CompactionFailed">): CompactionState["requested"] {
  if (!requested) return null;
  if (failure === "aborted") return { ...requested, attempts: Math.max(0, requested.attempts - 1) };
  return lease && mayBlameInstructions(failure, lease) ? { ...requested, unusable: true } : requested;
}

/** Applies an epoch change. It ends any compaction under way, because that was planned on the old epoch. */
function changeEpoch(state: SessionState, event: EventOf<"EpochChanged">): SessionState {
  const shown = event.ops.reduce(applyOp, { ...state.view, epoch: event.epoch, signed_from: openTurnFrom(state) });
  const view = toWeighedView(shown);
  const compaction: Partial<CompactionState> = {
    requested: null,
    lease: null,
    draft: null,
    rent: 0,
    changed_by: event.compaction,
    committed: committedAfter(state, event),
    // A note that was made as a fallback says nothing about the length of summaries.
    ...(isSummarized(event) ? judge(state, event, view) : {}),
    ...(event.ops.some((op) => op.op === "revert") ? { quiet_until: Math.ceil(view.tokens * GROWTH_RATIO) } : {}),
  };
  return withCompaction({ ...state, ...plainAfter(state, event), view, anchor: anchorAfter(state, event) }, compaction);
}

/** What was refused is still there where items were only made smaller. */
function plainAfter({ plain, view }: SessionState, { ops, epoch }: EventOf<"EpochChanged">): Pick<SessionState, "plain"> {
  const isThere = plain?.epoch === view.epoch && ops.every(({ op }) => op === "clear_results" || op === "shorten" || op === "evict_media");
  return plain && isThere ? { plain: { ...plain, epoch } } : {};
}

/**
 * The first position whose signed metadata stays: where the open turn's items begin, or the next position between
 * turns. Providers refuse a tool loop whose reasoning is removed.
 */
function openTurnFrom({ turn, view, next_position }: SessionState): number {
  return (turn && view.items.find((item) => item.turn === turn.id)?.position) ?? next_position;
}

/** The provider's count is valid again only if a revert restores the view that was counted. */
function anchorAfter({ compaction }: SessionState, { ops, epoch }: EventOf<"EpochChanged">): UsageAnchor | null {
  const reverted = ops.find((op) => op.op === "revert");
  const before = compaction.committed.find(({ id }) => id === reverted?.compaction)?.anchor;
  return before ? { ...before, holds_in: epoch } : null;
}

function committedAfter(
  { compaction: { committed }, anchor, view }: SessionState,
  event: EventOf<"EpochChanged">,
): CompactionState["committed"] {
  if (event.ops.some((op) => op.op === "reset")) return [];
  const reverted = event.ops.find((op) => op.op === "revert");
  if (reverted) return committed.filter(({ id }) => id !== reverted.compaction);
  const counted = anchor?.holds_in === view.epoch ? anchor : null;
  return event.compaction ? [...committed, { id: event.compaction, anchor: counted }].slice(-MAX_REVERTS) : committed;
}

/** What an accepted summary changes: the breaker, and the expected length of the next summary. */
function judge(state: SessionState, event: EventOf<"EpochChanged">, view: View): Partial<CompactionState> {
  const { compaction } = state;
  const { tokens_before, tokens_after, edited } = event.receipt;
  // A rebuild makes the same summaries again from the record, so its gain says nothing about progress.
  if (isRebuild(state, event)) return { failures: 0 };
  const fruitless = tokens_after > tokens_before * PROGRESS_RATIO ? compaction.fruitless + 1 : 0;
  const breaker = fruitless >= FRUITLESS_TO_OPEN ? openBreaker(compaction.breaker, view.tokens) : null;
  const source = state.view.items.filter((item) => event.ops.some((op) => op.op === "summarize" && isRead(op, item)));
  const read = source.reduce((sum, item) => sum + item.tokens, 0);
  const written = event.ops.reduce((sum, op) => sum + (op.op === "summarize" ? op.tokens : 0), 0);
  // The view has no weight for content that was trimmed or summarised before, so such a source teaches nothing. Nor does text that a person
  // edited.
  const fresh = !edited && event.ops.every((op) => op.op !== "summarize" || (op.generation === 0 && op.replaces.length === 0));
  const known = compaction.summary_share;
  const share = fresh && read > 0 ? Math.min(1, written / read) : known;
  const summary_share = known === null || share === null ? share : known + (share - known) * LEARNING_RATE;
  return { failures: 0, fruitless, breaker, quiet_until: null, summary_share };
}

const isRebuild = ({ compaction: { requested, draft } }: SessionState, { compaction }: EventOf<"EpochChanged">): boolean =>
  [requested, draft].some((known) => known?.id === compaction && known?.options?.rebuild === true);

/** Whether the summary reads the item. A system message that stays in the view is not read. */
const isRead = (op: CoveredRange & { readonly keeps: readonly number[] }, { kind, position }: ItemMeta): boolean =>
  isWithin(op, position) && !(kind === "system" && op.keeps.includes(position));

const isWithin = (range: CoveredRange, position: number): boolean => position >= range.from && position <= range.to;

function applyOp(view: View, op: EpochOp): View {
  switch (op.op) {
    case "summarize": {
      const { from, to, items, tokens, boundary_timestamp, generation } = op;
      const overlay: Overlay = { id: op.overlay, kind: "summary", from, to, items, tokens, boundary_timestamp, generation };
      const keeps = new Set(op.keeps);
      return cover(view, { overlay, replaces: op.replaces, shows: (position) => position > to || keeps.has(position) });
    }
    case "drop":
      return cover(view, {
        overlay: { id: op.overlay, kind: "dropped", from: op.from, to: op.to, items: op.items, tokens: 0 },
        replaces: op.replaces,
        // Items before `from` stay: the message that opened the turn, while later rounds leave the view.
        shows: (position) => !isWithin(op, position),
      });
    case "clear_results":
      return reduce(view, op.items, (item) => ({ ...item, how: "cleared" }));
    case "shorten":
      return reduce(view, op.items, (item) => ({ ...item, how: "shortened", chars: op.chars }));
    case "evict_media":
      return reduce(view, op.items, (item) => ({ ...item, how: "evicted" }));
    case "revert":
    case "reset":
      return {
        ...view,
        overlays: op.overlays,
        items: [...op.items, ...view.items.filter((item) => item.position > op.to)].sort(byPosition),
        reduced: [...op.reduced, ...view.reduced.filter((entry) => entry.position > op.to)],
      };
    default:
      return assertNever(op);
  }
}

const byPosition = (a: ItemMeta, b: ItemMeta): number => a.position - b.position;

/** Replaces earlier entries of the same positions: a result that was shortened may be cleared later. */
function reduce(view: View, items: readonly Reduction[], toReduced: (item: Reduction) => Reduced): View {
  const now = new Set(items.map((item) => item.position));
  const others = view.reduced.filter((entry) => !now.has(entry.position));
  return { ...view, reduced: [...others, ...items.map(toReduced)].sort((a, b) => a.position - b.position) };
}

interface Covering {
  readonly overlay: Overlay;
  readonly replaces: readonly OverlayId[];
  readonly shows: (position: number) => boolean;
}

function cover(view: View, { overlay, replaces, shows }: Covering): View {
  const gone = new Set(replaces);
  return {
    ...view,
    overlays: [...view.overlays.filter((known) => !gone.has(known.id)), overlay],
    items: view.items.filter((item) => shows(item.position)),
    reduced: view.reduced.filter((entry) => shows(entry.position)),
  };
}
