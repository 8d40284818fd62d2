/** Turns a plan's rungs, or an accepted summary, into the epoch change that is committed, with its receipt. */
import { isBreakerOpen } from "../domain/breaker";
import type { EpochChange } from "../domain/commands";
import type { CompactionTrigger, EpochOp, Reduction, SummaryPlan } from "../domain/compaction-events";
import type { CompactionSpend } from "../domain/compaction-spend";
import { evolve } from "../domain/evolve";
import type { OverlayId } from "../domain/ids";
import type { ItemMeta, Part } from "../domain/message";
import type { Certainty, Receipt, ReceiptEconomy, SummaryInstructions, SummaryMode } from "../domain/receipt";
import { toSummaryInstructions } from "../domain/standing-instructions";
import type { SessionState } from "../domain/state";
import { toSummarySources } from "../domain/summary-sources";
import { assertNever } from "../lib/assert-never";
import { type ModelLimits, toRequestLimit, toSizing } from "./budget";
import { isWarm, UNKNOWN_PRICES } from "./economy";
import { estimateParts } from "./item-tokens";
import { keptPrefix } from "./kept-prefix";
import type { PlanEconomy, Rung } from "./plan";
import { type Measure, Sizing } from "./sizing";
import { wayBack } from "./tool-results";
import { shortenParts } from "./view";

export interface EpochChangeInput {
  readonly state: SessionState;
  /** The model whose window the request must fit. */
  readonly limits: ModelLimits;
  readonly trigger: CompactionTrigger;
  readonly newOverlay: () => OverlayId;
  /** Reads an item's content as it was recorded. */
  readonly read: (item: ItemMeta) => readonly Part[];
  /** Sum of all the summariser's calls in this compaction. Null when no model ran. */
  readonly summarizer: (CompactionSpend & { readonly attempts: number }) | null;
  /** What the plan expected. Null when there was no plan, or the change differs from what the plan priced. */
  readonly economy: PlanEconomy | null;
  /** Epoch milliseconds. A provider's cache that was not read for a while is cold. */
  readonly now: number;
}

/** The text of a summary by a model, or of the note in its place. */
export interface SummaryText {
  readonly text: string;
  /** Raw estimate. */
  readonly tokens: number;
}

type RungWithoutModel = Exclude<Rung, { rung: "summarize" }>;

/** Rungs that need no model, as one change. */
export function buildChangeFromRungs(rungs: readonly Rung[], input: EpochChangeInput): EpochChange {
  const ops = rungs.flatMap((rung) => (rung.rung === "summarize" ? [] : [toOp(rung, input)]));
  return draftFromOps(ops, input, { rungs, mode: null });
}

function toOp(rung: RungWithoutModel, input: EpochChangeInput): EpochOp {
  switch (rung.rung) {
    case "clear_results":
      return { op: "clear_results", items: rung.items };
    case "evict_media":
      return { op: "evict_media", items: rung.items };
    case "shorten":
      return { op: "shorten", items: rung.items.map((item) => weighShortened(item, rung.chars, input)), chars: rung.chars };
    case "drop":
      return { op: "drop", overlay: input.newOverlay(), from: rung.from, to: rung.to, replaces: rung.replaces, items: rung.items };
    default:
      return assertNever(rung);
  }
}

/** Weighs the shortened item exactly. The plan used an upper bound; storing that would let the ratio learn from the difference. */
function weighShortened({ position, tokens }: Reduction, chars: number, { state, read }: EpochChangeInput): Reduction {
  const item = state.view.items.find((shown) => shown.position === position);
  const parts = item ? read(item) : [];
  if (!item || parts.length === 0) return { position, tokens };
  // What is shortened is out of the view, so `memory_query` is offered from then on, unless the policy never offers it.
  const way = state.settings.recall === false ? null : wayBack(item);
  return { position, tokens: estimateParts(shortenParts(parts, chars, way)) };
}

interface SummaryChangeInput {
  readonly summary: SummaryText;
  /** The leased plan, or the plan of a note. */
  readonly plan: Covering;
  /** The id of the summary's body. */
  readonly overlay: OverlayId;
  /** Other rungs of the same change. */
  readonly also: readonly Rung[];
  /** How many secrets the policy kept from the summariser. Null: it keeps none from it. */
  readonly redacted?: number | null;
}

/** `mode` is null for a note that no model wrote. */
type Covering = Omit<SummaryPlan, "mode" | "split"> & { readonly mode: SummaryMode | null };

interface Made {
  readonly rungs: readonly Taken[];
  readonly mode: SummaryMode | null;
  readonly instructions?: SummaryInstructions | null;
  readonly redacted?: number | null;
}

/** A rung as the receipt records it. */
type Taken = Receipt["rungs"][number];

/** The change that commits a summary over the leased range, with the rungs of the same plan. */
export function buildChangeFromSummary(
  { summary, plan, overlay, also, redacted = null }: SummaryChangeInput,
  input: EpochChangeInput,
): EpochChange {
  const { view } = input.state;
  const leaves = view.items.filter((item) => item.position <= plan.range.to && !plan.keeps.includes(item.position));
  const replaced = view.overlays.filter((known) => plan.replaces.includes(known.id));
  const kept = view.items.find((item) => item.position > plan.range.to);
  const op: EpochOp = {
    op: "summarize",
    overlay,
    from: plan.range.from,
    to: plan.range.to,
    replaces: plan.replaces,
    keeps: plan.keeps,
    tokens: summary.tokens,
    bytes: new TextEncoder().encode(summary.text).byteLength,
    items: leaves.length + replaced.reduce((sum, known) => sum + known.items, 0),
    boundary_timestamp: kept?.at ?? leaves.at(-1)?.at ?? 0,
    generation: plan.generation,
    mode: plan.mode,
    read: toSummarySources(plan, input.state),
  };
  const others = also.flatMap((rung) => (rung.rung === "summarize" ? [] : [toOp(rung, input)]));
  const sizing = toSizing(input);
  const source = leaves.reduce((sum, item) => sum + sizing.item(item), 0);
  const earlier = replaced.reduce((sum, known) => sum + known.tokens, 0);
  const done: Taken = {
    rung: plan.mode === null ? "note" : "summarize",
    gain: sizing.gain(Math.max(0, source + earlier - summary.tokens)),
    reason: input.trigger,
  };
  return draftFromOps([op, ...others], input, {
    rungs: [done, ...also],
    mode: plan.mode,
    instructions: toSummaryInstructions(plan),
    redacted,
  });
}

/** A change that was requested by hand and that no plan made: a revert or a reset. */
export const buildManualChange = (ops: readonly EpochOp[], input: EpochChangeInput): EpochChange =>
  draftFromOps(ops, input, { rungs: [], mode: null });

function draftFromOps(ops: readonly EpochOp[], input: EpochChangeInput, { rungs, mode, instructions, redacted }: Made): EpochChange {
  const receipt = {
    ...measureChange(ops, input),
    rungs: rungs.map(({ rung, gain, reason }) => ({ rung, gain, reason })),
    mode,
    ...(instructions && { summary_instructions: instructions }),
    ...(redacted !== null && redacted !== undefined && { redacted }),
  };
  return { base_epoch: input.state.view.epoch, ops, receipt };
}

/** Applies the change to a copy of the state and measures it. What leaves and what comes is measured relative to the request before. */
function measureChange(ops: readonly EpochOp[], input: EpochChangeInput): Receipt {
  const { state, trigger, summarizer } = input;
  const sizing = toSizing(input);
  const after = stateAfter(state, ops, trigger);
  const measured = sizing.next();
  const { tokens: before } = measured;
  const then = sizing.after(after);
  const { tokens: now } = then;
  return {
    tokens_before: before,
    tokens_after: now,
    measured: { before: toCertainty(measured), after: toCertainty(then) },
    items_before: state.view.items.length,
    items_after: after.view.items.length,
    model: summarizer?.model ?? null,
    usage: summarizer?.usage ?? null,
    ms: summarizer?.ms ?? 0,
    cost: summarizer ? summarizer.cost : 0,
    economy: toEconomy(input, { before, now, kept: keptPrefix(sizing, after) }),
    rungs: [],
    mode: null,
    attempts: summarizer?.attempts ?? 0,
    breaker_open: isBreakerOpen(state.compaction),
    dropped_items: ops.reduce((sum, op) => sum + (op.op === "drop" ? op.items : 0), 0),
  };
}

/** Without a plan the price is the cache's: everything after the unchanged prefix is written again. */
function toEconomy(
  { state, limits, economy, now: at }: EpochChangeInput,
  { before, now, kept }: { readonly before: number; readonly now: number; readonly kept: number },
): ReceiptEconomy {
  const { cached, cache_write } = limits.prices ?? UNKNOWN_PRICES;
  const cache_kept = Math.min(kept, now);
  const rewrite = isWarm(state, at) ? (cache_write - cached) * (now - cache_kept) : 0;
  return { read_cost_before: cached * before, read_cost_after: cached * now, price: economy?.price ?? rewrite, cache_kept };
}

const toCertainty = ({ source, error_bound }: Measure): Certainty => ({ source, error_bound });

/**
 * Whether the change makes the next request smaller, with the definition of `memory_query` where it is the first to offer it. A summary
 * must do so itself: the same change without it would leave the request larger.
 */
export function isSmallerAfter(sizing: Sizing, ops: readonly EpochOp[]): boolean {
  const weigh = (done: readonly EpochOp[]): number => new Sizing(stateAfter(sizing.state, done, "manual"), sizing.model).raw;
  const others = ops.filter((op) => op.op !== "summarize");
  return weigh(ops) < (others.length === 0 || others.length === ops.length ? sizing.raw : Math.min(sizing.raw, weigh(others)));
}

/** Whether the next request would fit after these operations. */
export function fitsAfter(
  state: SessionState,
  ops: readonly EpochOp[],
  limits: ModelLimits,
): { readonly fits: boolean; readonly tokens: number } {
  const tokens = new Sizing(stateAfter(state, ops, "manual"), limits.model).planned();
  return { fits: tokens <= (toRequestLimit(limits) ?? Number.POSITIVE_INFINITY), tokens };
}

const NO_TOKENS: Certainty = { source: "estimated", error_bound: 0 };
const UNMEASURED: Receipt = {
  tokens_before: 0,
  tokens_after: 0,
  measured: { before: NO_TOKENS, after: NO_TOKENS },
  items_before: 0,
  items_after: 0,
  model: null,
  usage: null,
  ms: 0,
  cost: 0,
  economy: { read_cost_before: 0, read_cost_after: 0, price: 0, cache_kept: 0 },
  rungs: [],
  mode: null,
  attempts: 0,
  breaker_open: false,
  dropped_items: 0,
};

/** Applies the operations to a copy of the state. */
export function stateAfter(state: SessionState, ops: readonly EpochOp[], trigger: CompactionTrigger): SessionState {
  const { epoch } = state.view;
  const change = {
    type: "EpochChanged",
    base_epoch: epoch,
    epoch: epoch + 1,
    trigger,
    compaction: null,
    ops,
    receipt: UNMEASURED,
  } as const;
  return evolve(state, { ...change, seq: state.seq + 1, at: state.updated_at });
}
