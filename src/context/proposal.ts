/** What a compaction would do to the view now: where it would cut, what the summary would read, and what each part weighs. */
import type { CoveredRange, Overlay } from "../domain/compaction-events";
import type { ItemMeta } from "../domain/message";
import { findInstructions } from "../domain/standing-instructions";
import { fixedTokens, isAnswerOwed, type SessionState } from "../domain/state";
import { overlayTokens } from "../domain/view";
import { assumeWindow, type ModelLimits, toRequestLimit, toSizing } from "./budget";
import { countRequestMessages, findTail, keptTokens } from "./cut";
import { INSTRUCTION_TOKENS, isWarm, type PricedMode, toCompactionPrice, UNKNOWN_PRICES, type ViewSizes } from "./economy";
import { type Group, groupItems } from "./groups";
import type { PlanInput, SummarizeRung } from "./plan";
import type { Policy } from "./policy";
import type { Sizing } from "./sizing";

/** Expected ratio of a summary's tokens to its source's, until the session has learned its own (docs/policy.md, the rules). */
export const FIRST_SUMMARY_SHARE = 0.15;
/** One summary takes at most a quarter of the window. */
const WINDOW_SHARE_OF_SUMMARY = 4;
/** Minimum cap of a summary, in tokens: in a small window the chain's share does not reduce it further, because its sections need room. */
const LEAST_SUMMARY_TOKENS = 512;
/** Maximum ratio of record that is read again to new source. It bounds the cost, however long the history is (docs/policy.md, the view). */
const REREAD_RATIO = 2;
/** Minimum number of tokens that each part of a chunked summary reads. */
const LEAST_PART_TOKENS = 200;

export interface Proposal {
  /** Groups that leave the view, oldest first, all closed. Computed on demand, because most callers need only the weights. */
  readonly older: readonly Group[];
  /** The items of `older`. */
  readonly olderItems: readonly ItemMeta[];
  readonly tail: readonly Group[];
  /** The chain of summaries, oldest first. */
  readonly summaries: readonly SummaryOverlay[];
  readonly merge: boolean;
  /** Raw tokens of the record that the summary reads again, although existing summaries have read them. 0 when there are none. */
  readonly reread: number;
  readonly sizes: ViewSizes;
  readonly priced: PricedMode;
  readonly warm: boolean;
}

type SummaryOverlay = Extract<Overlay, { kind: "summary" }>;

/** Maximum tokens of one summary by this model. */
export function toSummaryCap(limits: { readonly window: number | null; readonly maxOutput: number }, policy: Policy): number {
  const cap = Math.min(policy.summary.max_tokens, limits.maxOutput);
  const usable = toRequestLimit(limits);
  if (limits.window === null || usable === null) return cap;
  const { chain_ratio } = policy.summary;
  const share = chain_ratio === null ? cap : Math.max(LEAST_SUMMARY_TOKENS, Math.floor(usable * chain_ratio));
  return Math.min(cap, share, Math.floor(limits.window / WINDOW_SHARE_OF_SUMMARY));
}

/** Proposes a compaction that keeps `budget` tokens verbatim. Null when nothing can leave the view. */
export function propose(input: PlanInput, budget: number = keptTokens(input)): Proposal | null {
  const { state, policy } = input;
  const limits = assumeWindow(input.limits, policy);
  const tail = findTail({ ...input, limits }, budget);
  const { items, overlays } = state.view;
  const end = items.length - sum(tail, (group) => group.items.length);
  if (end === 0) return null;
  const summaries = overlays.filter((overlay) => overlay.kind === "summary");
  const sizing = toSizing(input);
  const kept = sum(tail, (group) => sizing.group(group));
  const upTo = items[end - 1]?.position ?? 0;
  const cap = toSummaryCap(limits, policy);
  const standing = policy.keep.system_messages ? sizing.system - sum(tail, (group) => countSystemTokens(sizing, group)) : 0;
  const { sizes, reread } = computeSizes(input, { summaries, kept, standing, upTo, cap });
  const warm = isWarm(state, input.now);
  const mayRead = mayReadPrefix(policy) && isReadItself(input);
  const samePrefix = mayRead && reread === 0 && input.trigger !== "overflow" && !hasTrimmed(state, upTo);
  const instruction = INSTRUCTION_TOKENS + (findInstructions(state.settings, input.options ?? null)?.tokens ?? 0);
  const room = computeRoom(limits, { cap, instruction });
  const priced = toCompactionPrice(sizes, { prices: limits.prices ?? UNKNOWN_PRICES, warm, samePrefix, room, instruction });
  let older: readonly Group[] | null = null;
  let olderItems: readonly ItemMeta[] | null = null;
  return {
    get older() {
      older ??= groupItems(this.olderItems, NO_OPEN_CALLS);
      return older;
    },
    get olderItems() {
      olderItems ??= items.slice(0, end);
      return olderItems;
    },
    tail,
    summaries,
    merge: sizes.merge,
    reread,
    sizes,
    priced,
    warm,
  };
}

interface Cut {
  readonly summaries: readonly SummaryOverlay[];
  /** Raw tokens of the tail. */
  readonly kept: number;
  /** Raw tokens of the system messages before the cut that stay. */
  readonly standing: number;
  /** The last position before the cut. */
  readonly upTo: number;
  readonly cap: number;
}

function computeSizes(
  input: PlanInput,
  { summaries, kept, standing, upTo, cap }: Cut,
): { readonly sizes: ViewSizes; readonly reread: number } {
  const { state } = input;
  const { items, overlays } = state.view;
  const { shown: tokens, ratio, offer } = toSizing(input);
  const chain = overlayTokens(overlays);
  // The source is what remains of the running sum, so computing it does not depend on its length.
  const source = tokens - chain - kept - standing;
  const share = state.compaction.summary_share ?? FIRST_SUMMARY_SHARE;
  // The state keeps no weight of items that left the view, only their number. Each counts as the average of the items that are shown.
  const mean = (tokens - chain) / items.length;
  const trimmed = mean * itemsGone(state, upTo, (overlay) => overlay.kind === "dropped");
  const fresh = Math.min(cap, source * share);
  const merge = summaries.length > 0 && isChainFull(input, (chain + fresh) * ratio);
  const gone = mean * itemsGone(state, upTo, (overlay) => overlay.kind === "summary");
  const reread = merge && isRereadDue(input, summaries) ? Math.floor(Math.min(gone, source * REREAD_RATIO)) : 0;
  const folded = merge ? chain : 0;
  const sizes = {
    fixed: fixedTokens(state) * ratio,
    chain: chain * ratio,
    source: source * ratio,
    standing: standing * ratio,
    tail: kept * ratio,
    beside: (folded + trimmed + reread) * ratio,
    summary: Math.min(cap, (source + folded) * share) * ratio,
    merge,
    offer: offer * ratio,
  };
  return { sizes, reread };
}

/** Whether the cache can hold the turn's prefix for the summariser. It does not if another model writes the summary or answered last. */
const isReadItself = ({ state, policy, limits }: PlanInput): boolean =>
  (policy.summary.models[0] ?? limits.model.id) === limits.model.id && state.anchor?.model === limits.model.id;

const countSystemTokens = (sizing: Sizing, { items }: Group): number =>
  sum(items, (item) => (item.kind === "system" ? sizing.item(item) : 0));

const NO_OPEN_CALLS: ReadonlySet<string> = new Set();

const sum = <T>(values: readonly T[], weight: (value: T) => number): number => values.reduce((total, value) => total + weight(value), 0);

/**
 * Whether trimmed items belong to the next summary. They are not in the turn's own request, so a summariser that reads
 * that request would miss them.
 */
const hasTrimmed = ({ view }: SessionState, upTo: number): boolean =>
  view.overlays.some((overlay) => overlay.kind === "dropped" && overlay.from <= upTo);

/** Number of items that left the view up to `upTo`, under the overlays that `counts` selects. */
const itemsGone = ({ view }: SessionState, upTo: number, counts: (overlay: Overlay) => boolean): number =>
  sum(view.overlays, (overlay) => (overlay.from <= upTo && counts(overlay) ? overlay.items : 0));

/** Tokens of transcript that one call holds: it must also hold the instruction, the summary so far and the answer. */
const computeRoom = (limits: ModelLimits, { cap, instruction }: { readonly cap: number; readonly instruction: number }): number =>
  Math.max(LEAST_PART_TOKENS, (toRequestLimit(limits) ?? Number.POSITIVE_INFINITY) - instruction - 2 * cap);

/**
 * Whether this merge also reads the newest of what the summaries cover, to correct drift: after every `rebuild_after`
 * merges. Only the first attempt of background work does so, and only where a further attempt may follow. If it fails,
 * the next attempt is an ordinary merge, and the next reread is due after as many merges again.
 */
function isRereadDue({ state, policy, trigger }: PlanInput, summaries: readonly SummaryOverlay[]): boolean {
  const { rebuild_after, attempts, models } = policy.summary;
  if (rebuild_after === null || (findGeneration(summaries) + 1) % (rebuild_after + 1) !== 0) return false;
  const { requested, failures } = state.compaction;
  const mayFail = Math.max(attempts, models.length) > 1;
  return mayFail && failures === 0 && (requested?.attempts ?? 0) === 0 && (trigger === "threshold" || trigger === "rent");
}

const findGeneration = (summaries: readonly SummaryOverlay[]): number =>
  summaries.reduce((most, { generation }) => Math.max(most, generation), 0);

function isChainFull({ limits, policy }: PlanInput, chain: number): boolean {
  const { chain_ratio } = policy.summary;
  if (chain_ratio === null) return true;
  return chain > (toRequestLimit(assumeWindow(limits, policy)) ?? Number.POSITIVE_INFINITY) * chain_ratio;
}

/** The summary rung of the proposal. Null when there is nothing new to summarise. */
export function summarizeRung(input: PlanInput, proposal: Proposal, reason: string): SummarizeRung | null {
  const { state, policy } = input;
  const sizing = toSizing(input);
  const { older, tail, summaries, merge, reread, sizes } = proposal;
  const last = older.at(-1);
  const newest = summaries.at(-1);
  // Everything older is already read by a summary, such as a question that it left in the view.
  if (!last || (newest && last.to <= newest.to)) return null;
  const kept = keptPositions(input, proposal);
  const { covered, range, source } = coverage(state, proposal, { last, stays: new Set(kept) });
  const staying = tail.flatMap((group) => group.items).filter((item) => item.position <= range.to);
  const keeps = [...kept, ...staying.map((item) => item.position)];
  const leaving = proposal.olderItems.length - kept.length;
  if (leaving === 0 && !covered.some((overlay) => overlay.kind === "dropped")) return null;
  return {
    rung: "summarize",
    range,
    source,
    replaces: covered.map((overlay) => overlay.id),
    keeps,
    reread,
    merge,
    generation: merge ? findGeneration(summaries) + 1 : 0,
    split: splitAt(older, tail, policy.keep.split_turn_messages),
    items: sum(covered, (overlay) => overlay.items) + leaving,
    tokens: sum(older, (group) => sizing.group(group) - (policy.keep.system_messages ? countSystemTokens(sizing, group) : 0)),
    expected: Math.ceil(sizes.summary / sizing.ratio),
    boundary_timestamp: tail[0]?.items[0]?.at ?? last.items.at(-1)?.at ?? 0,
    mode: mayReadPrefix(policy) ? proposal.priced.mode : "transcript",
    gain: Math.floor(Math.max(0, sizes.source + (merge ? sizes.chain : 0) - sizes.summary)),
    reason,
  };
}

interface Leaving {
  readonly last: Group;
  /** Positions before the cut that stay in the view. */
  readonly stays: ReadonlySet<number>;
}

interface Coverage {
  /** Overlays that the summary replaces, beside items. */
  readonly covered: readonly Overlay[];
  readonly range: CoveredRange;
  readonly source: CoveredRange;
}

function coverage({ view }: SessionState, { older, summaries, merge }: Proposal, { last: { from, to: last }, stays }: Leaving): Coverage {
  const covered = view.overlays.filter((overlay) => overlay.from <= last && (overlay.kind === "dropped" || merge));
  // The last item that leaves may lie inside an overlay, so the range must reach to the overlay's end.
  const to = covered.reduce((end, overlay) => Math.max(end, overlay.to), last);
  const start = view.overlays.reduce((least, overlay) => Math.min(least, overlay.from), older[0]?.from ?? from);
  const newest = summaries.at(-1);
  // A system message that stays is not read.
  const isRead = ({ items }: Group): boolean => items.some((item) => item.kind !== "system" || !stays.has(item.position));
  // Trimmed items, and items that an earlier summary left in its range, have not been read yet.
  const unread = [...older.filter(isRead), ...covered.filter((overlay) => overlay.kind === "dropped")].map((each) => each.from);
  const first = unread.reduce((least, each) => Math.min(least, each), newest ? newest.to + 1 : to);
  if (!newest) return { covered, range: { from: start, to }, source: { from: first, to } };
  return { covered, range: { from: merge ? start : first, to }, source: { from: first, to } };
}

/** Positions that stay before the cut: the question that still awaits its answer and, if the policy says so, system messages. */
export function keptPositions({ state, policy }: PlanInput, { olderItems, tail }: Proposal): number[] {
  const isAsked = isAnswerOwed(state) && !tail.some((group) => group.isUser);
  const asked = isAsked ? olderItems.findLast((item) => item.kind === "user") : undefined;
  const stays = (item: ItemMeta): boolean => item === asked || (policy.keep.system_messages && item.kind === "system");
  return olderItems.filter(stays).map((item) => item.position);
}

/**
 * The first position of the turn that the cut splits, if its beginning has at least `least` messages and so gets a
 * summary of its own. Else null.
 */
function splitAt(older: readonly Group[], tail: readonly Group[], least: number | null): number | null {
  if (least === null || tail[0]?.isUser !== false) return null;
  const start = older.findLastIndex((group) => group.isUser);
  const first = older[start];
  if (!first) return null;
  const messages = sum(older.slice(start), countRequestMessages);
  return messages >= least ? first.from : null;
}

/** A prefix is reused byte for byte, so that what it says cannot be redacted. */
const mayReadPrefix = ({ summary }: Policy): boolean => summary.mode === "cheaper" && summary.redact === "off";
