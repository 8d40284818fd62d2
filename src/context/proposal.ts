/** What a compaction would do to the view if it were done now: the cut, what goes into the summary, and what all of it weighs. */
import type { Overlay } from "../domain/compaction-events";
import type { ItemMeta } from "../domain/message";
import type { SessionState } from "../domain/state";
import { assumeWindow, fixedTokens, limitOf, ratioOf } from "./budget";
import { cutIndex, keptTokens, viewGroups, weigh } from "./cut";
import { CACHE_TTL_MS, type PricedMode, priceOf, UNKNOWN_PRICES, type ViewSizes } from "./economy";
import type { Group } from "./groups";
import type { PlanInput, SummarizeRung } from "./plan";
import type { Policy } from "./policy";

/** A summary's expected share of its source, until the session has taught another (docs/policy.md). */
export const FIRST_SUMMARY_SHARE = 0.15;
/** One summary takes at most this share of the window. */
const WINDOW_SHARE_OF_SUMMARY = 4;

export interface Proposal {
  readonly groups: readonly Group[];
  /** Groups that leave the view, oldest first; all of them closed. */
  readonly older: readonly Group[];
  readonly tail: readonly Group[];
  /** The chain, oldest first. */
  readonly summaries: readonly SummaryOverlay[];
  readonly merge: boolean;
  readonly rebuild: boolean;
  readonly sizes: ViewSizes;
  readonly priced: PricedMode;
  readonly warm: boolean;
}

type SummaryOverlay = Extract<Overlay, { kind: "summary" }>;

/** Most tokens of one summary by this model. */
export function summaryCap(limits: { readonly window: number | null; readonly maxOutput: number }, policy: Policy): number {
  const cap = Math.min(policy.summary.max_tokens, limits.maxOutput);
  return limits.window === null ? cap : Math.min(cap, Math.floor(limits.window / WINDOW_SHARE_OF_SUMMARY));
}

/** `budget`: planned tokens to keep verbatim. Null: nothing can leave. */
export function propose(input: PlanInput, budget: number = keptTokens(input)): Proposal | null {
  const { state, policy } = input;
  const limits = assumeWindow(input.limits, policy);
  const groups = viewGroups(state);
  const cut = cutIndex({ ...input, limits }, groups, budget);
  const older = groups.slice(0, cut);
  if (older.length === 0) return null;
  const tail = groups.slice(cut);
  const ratio = ratioOf(state, limits.model);
  const summaries = state.view.overlays.filter((overlay) => overlay.kind === "summary");
  const source = sum(older, (group) => weigh(state, group));
  const chain = sum(summaries, (overlay) => overlay.tokens);
  const cap = summaryCap(limits, policy);
  const share = state.compaction.summary_share ?? FIRST_SUMMARY_SHARE;
  const fresh = Math.min(cap, source * share);
  const merge = summaries.length > 0 && isChainFull(input, (chain + fresh) * ratio);
  const rebuild = merge && policy.summary.rebuild_after !== null && generationOf(summaries) >= policy.summary.rebuild_after;
  const sizes: ViewSizes = {
    fixed: fixedTokens(state) * ratio,
    chain: chain * ratio,
    source: source * ratio,
    tail: sum(tail, (group) => weigh(state, group)) * ratio,
    summary: (merge ? Math.min(cap, (source + chain) * share) : fresh) * ratio,
    merge,
  };
  const warm = state.anchor !== null && input.now - state.anchor.at < CACHE_TTL_MS;
  const samePrefix = policy.summary.mode === "cheaper" && !rebuild && input.trigger !== "overflow" && !hasTrimmed(state, older);
  const priced = priceOf(sizes, { prices: limits.prices ?? UNKNOWN_PRICES, warm, samePrefix });
  return { groups, older, tail, summaries, merge, rebuild, sizes, priced, warm };
}

const sum = <T>(values: readonly T[], weight: (value: T) => number): number => values.reduce((total, value) => total + weight(value), 0);

/** Trimmed items that the next summary takes in are not in the turn's own request: a summariser that reads that would never see them. */
const hasTrimmed = ({ view }: SessionState, older: readonly Group[]): boolean =>
  view.overlays.some((overlay) => overlay.kind === "dropped" && overlay.from <= (older.at(-1)?.to ?? 0));

const generationOf = (summaries: readonly SummaryOverlay[]): number =>
  summaries.reduce((most, { generation }) => Math.max(most, generation), 0);

function isChainFull({ limits, policy }: PlanInput, chain: number): boolean {
  const { chain_ratio } = policy.summary;
  if (chain_ratio === null) return true;
  return chain > (limitOf(assumeWindow(limits, policy)) ?? Number.POSITIVE_INFINITY) * chain_ratio;
}

/** The summary that the proposal asks for. */
export function summarizeRung(input: PlanInput, proposal: Proposal, reason: string): SummarizeRung | null {
  const { state, policy } = input;
  const { older, tail, summaries, merge, rebuild, sizes } = proposal;
  const last = older.at(-1);
  if (!last) return null;
  const { overlays } = state.view;
  const covered = overlays.filter((overlay) => overlay.from <= last.to && (overlay.kind === "dropped" || merge));
  // A message that was left standing inside an earlier summary may be the last that goes: the range reaches to that summary's end.
  const to = Math.max(last.to, ...covered.map((overlay) => overlay.to));
  const staying = tail.flatMap((group) => group.items).filter((item) => item.position <= to);
  const keeps = [...keptPositions(input, proposal), ...staying.map((item) => item.position)];
  const start = Math.min(overlays[0]?.from ?? last.from, older[0]?.from ?? last.from);
  const newest = summaries.at(-1);
  // Neither trimmed items nor what an earlier summary left standing in its range has been read yet.
  const unread = [...older, ...covered.filter((overlay) => overlay.kind === "dropped")].map(({ from }) => from);
  const source = { from: newest && !rebuild ? Math.min(newest.to + 1, ...unread) : start, to };
  const items = older.flatMap((group) => group.items).filter((item) => !keeps.includes(item.position));
  if (items.length === 0 && !covered.some((overlay) => overlay.kind === "dropped")) return null;
  return {
    rung: "summarize",
    range: { from: merge || !newest ? start : source.from, to },
    source,
    replaces: covered.map((overlay) => overlay.id),
    keeps,
    merge: merge && !rebuild,
    generation: merge && !rebuild ? generationOf(summaries) + 1 : 0,
    split: splitAt(older, tail, policy.keep.split_turn_messages),
    items: sum(covered, (overlay) => overlay.items) + items.length,
    tokens: sum(older, (group) => weigh(state, group)),
    expected: Math.ceil(sizes.summary / ratioOf(state, input.limits.model)),
    boundary_timestamp: tail[0]?.items[0]?.at ?? last.items.at(-1)?.at ?? 0,
    mode: policy.summary.mode === "cheaper" ? proposal.priced.mode : "transcript",
    gain: Math.floor(Math.max(0, sizes.source + (merge ? sizes.chain : 0) - sizes.summary)),
    reason,
  };
}

/** The question that is being answered stays as it was asked, and, by policy, system messages do. */
export function keptPositions({ state, policy }: PlanInput, { older, tail }: Proposal): number[] {
  const items = older.flatMap((group) => group.items);
  const asked = state.turn && !tail.some((group) => group.isUser) ? items.findLast((item) => item.kind === "user") : undefined;
  const stays = (item: ItemMeta): boolean => item === asked || (policy.keep.system_messages && item.kind === "system");
  return items.filter(stays).map((item) => item.position);
}

/** Opal compaction, split turns: the cut goes through a turn whose beginning is long enough to be worth a summary of its own. */
function splitAt(older: readonly Group[], tail: readonly Group[], least: number | null): number | null {
  if (least === null || tail[0]?.isUser !== false) return null;
  const start = older.findLastIndex((group) => group.isUser);
  const first = older[start];
  if (!first) return null;
  const messages = older.slice(start).reduce((count, group) => count + group.items.length, 0);
  return messages >= least ? first.from : null;
}
