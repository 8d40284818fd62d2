/**
 * The size of a session's next request to one model, and of its parts. A size depends on the model: by how many tokens
 * it counts for our estimate, and by what it is sent of images and files. Every figure states its source.
 *
 * Raw tokens are estimates that no ratio scales. All other tokens are the model's.
 */
import type { Reduced, Reduction } from "../domain/compaction-events";
import { isSameFixed, type LearnedRatio } from "../domain/learned-ratio";
import type { ItemMeta } from "../domain/message";
import type { Certainty } from "../domain/receipt";
import { fixedTokens, isRecallOffered, RECALL_TOOL_TOKENS, type SessionState, type UsageAnchor, weighFixed } from "../domain/state";
import { missingResults, NO_RESULT_TOKENS, reducedWeights, signedTokens } from "../domain/view";
import { inlineBytes, type MediaReader, type Saved, savedByWords } from "./media";
import type { Policy } from "./policy";
import { BYTES_PER_TOKEN, FRAME_BYTES } from "./request-bytes";
import { estimateTokens, MESSAGE_OVERHEAD_TOKENS } from "./tokens";

/**
 * Text that no provider has counted may weigh a quarter more or less than its estimate (docs/estimates.md), unless the session has
 * learned that its estimates are further off. Decisions use the upper bound.
 */
export const PADDING = 1.25;
/** Minimum error of an estimate in tokens, because the relative error of a short text is larger. */
const LEAST_ERROR_TOKENS = 8;
/** A count that is further off says more of the provider than of the text. */
const MAX_SPREAD = 3;
/** What one part taught holds for a text of up to so many times its size. */
const SPREAD_REACH = 8;

/** The facts about a model on which the size of a request depends. */
export interface SizedModel extends MediaReader {
  readonly id: string;
  /** Reported tokens divided by estimated tokens, until the session has learned its own ratio. Absent: 1. */
  readonly ratio?: number;
}

export interface Measure extends Certainty {
  readonly tokens: number;
}

interface Counted {
  /** Tokens by which the fixed part's estimate exceeds the most that it can weigh. */
  readonly tokens: number;
  /** Tokens by which the upper bound of that estimate exceeds it. */
  readonly padded: number;
}

interface PlannedOptions {
  /** Additional raw tokens. */
  readonly extra?: number;
  readonly estimator?: Policy["estimator"];
  /** Accepts only a count of the current epoch: usage of an earlier epoch never triggers a compaction. */
  readonly ofEpoch?: boolean;
}

export class Sizing {
  readonly state: SessionState;
  readonly model: SizedModel;
  /** Reported tokens divided by estimated tokens: as the session has learned for the model, else as the registry says. */
  readonly ratio: number;
  readonly #learned: LearnedRatio | undefined;
  readonly #saved: Saved;
  readonly #reduced: ReadonlyMap<number, Reduced>;

  constructor(state: SessionState, model: SizedModel) {
    this.state = state;
    this.model = model;
    this.#learned = state.ratios.find((known) => known.model === model.id);
    this.ratio = this.#learned?.value ?? model.ratio ?? 1;
    this.#saved = savedByWords(state.view, model);
    this.#reduced = byPosition(state.view.reduced);
  }

  /** Factor from raw tokens of a whole request to their upper bound. */
  get padded(): number {
    return this.ratio * PADDING;
  }

  /**
   * By how many tokens the estimate of a part of a request may be off: a quarter, or as far as counts of this session's parts were, which says
   * little of much larger ones. In a whole request such errors even out, and the ratio is learned from wholes.
   */
  errorIn(tokens: number): number {
    const { share = 0, tokens: taught = 0 } = this.#learned?.spread ?? {};
    const further = Math.max(0, Math.min(MAX_SPREAD, share) - (PADDING - 1));
    return tokens * (PADDING - 1) + Math.min(tokens, taught * SPREAD_REACH) * further;
  }

  /** Whether a provider's count has taught the ratio. */
  get isLearned(): boolean {
    return this.#learned !== undefined;
  }

  /** Raw tokens of the next request as the view is now. Reads running sums only. */
  get raw(): number {
    return fixedTokens(this.state) + this.shown;
  }

  /** Raw tokens of what the view shows: overlays, items, and placeholders for missing results. */
  get shown(): number {
    return this.state.view.tokens - this.#saved.total;
  }

  /** Raw tokens of the system messages that the view shows. */
  get system(): number {
    return this.state.view.system - this.#saved.system;
  }

  /**
   * Raw tokens that the first change of the view adds to the request, because it makes `memory_query` available. 0 when
   * it is offered already or never.
   */
  get offer(): number {
    const { state } = this;
    return state.settings.recall === false || isRecallOffered(state) ? 0 : RECALL_TOOL_TOKENS;
  }

  /** Raw tokens of an item in the view: less than recorded if it is cleared or shortened, and media as what the model is sent of them. */
  item(item: Pick<ItemMeta, "position" | "tokens" | "signed">): number {
    return (this.#reduced.get(item.position)?.tokens ?? item.tokens - this.#savedOn(item)) + signedTokens(this.state.view, item);
  }

  /** Raw tokens of neighbouring items, with placeholders for missing results. */
  group({ items }: { readonly items: readonly ItemMeta[] }): number {
    return items.reduce((sum, item) => sum + this.item(item), Math.max(0, missingResults(items)) * NO_RESULT_TOKENS);
  }

  /** Whether the view shows the item shortened or replaced. */
  isReduced({ position }: Pick<ItemMeta, "position">): boolean {
    return this.#reduced.has(position);
  }

  /** Raw tokens that the reductions free. */
  freed(reductions: readonly Reduction[]): number {
    if (reductions.length === 0) return 0;
    const then = reducedWeights(reductions);
    return this.state.view.items.reduce((sum, item) => {
      const tokens = then.get(item.position);
      return tokens === undefined ? sum : sum + Math.max(0, this.item(item) - tokens);
    }, 0);
  }

  /** Tokens for a raw estimate of what leaves the request. */
  gain(raw: number): number {
    return Math.floor(raw * this.ratio);
  }

  /** What the provider's counts take off an estimate of the fixed part: what was counted is not padded. */
  get counted(): Counted {
    const fixed = this.#learned?.fixed;
    if (!fixed || !isSameFixed(fixed, weighFixed(this.state))) return { tokens: 0, padded: 0 };
    const tokens = fixed.tokens * this.ratio;
    return { tokens: Math.max(0, tokens - fixed.most), padded: Math.max(0, tokens * PADDING - fixed.most) };
  }

  /**
   * The estimated size of the next request and its maximum error. It starts from the provider's count of the last request
   * whose items are still the beginning of this epoch's view. Only what came since, and what changed before those items,
   * is estimated.
   */
  next(extra = 0): Measure {
    return this.#from(this.#anchor(), extra);
  }

  /** The size that decisions use: the upper bound of the next request. With the `chars_4` estimator: that estimator's figure, unpadded. */
  planned({ extra = 0, estimator = "by_script", ofEpoch = false }: PlannedOptions = {}): number {
    const anchor = this.#anchor(ofEpoch);
    return estimator === "chars_4" ? this.#byCharacters(anchor, extra) : toUpperBound(this.#from(anchor, extra));
  }

  /**
   * The size of the next request after a change of the view: the measure from before, times the share of it that stays
   * by the estimate. So counted and estimated tokens are not compared with each other. The error is a quarter of what
   * stays or of what left, whichever is less.
   */
  after(changed: SessionState): Measure {
    const [before, after] = [this.next(), new Sizing(changed, this.model)];
    if (after.#anchor()) return after.next();
    const stays = estimated({ guessed: before.tokens * (after.raw / Math.max(1, this.raw)) });
    const byChange = measureWithout(before, before.tokens - stays.tokens);
    return byChange.error_bound < stays.error_bound ? byChange : { ...stays, source: byChange.source };
  }

  /**
   * An upper bound of the same request if it ended with position `to`. What comes after is subtracted: a counted reply as
   * it was counted, other counted items with the lower bound of their estimate, and estimated items with the least upper
   * bound that they were added with.
   */
  upTo(to: number): number {
    const anchor = this.#anchor();
    let behind = anchor && to <= anchor.up_to ? anchor.output : 0;
    const { items } = this.state.view;
    for (let index = items.length - 1; index >= 0; index--) {
      const item = items[index];
      if (!item || item.position <= to) break;
      if (!anchor || item.position > anchor.reply_to) behind += this.item(item) * this.padded;
      else if (item.position <= anchor.up_to) behind += (this.item(item) * this.padded) / PADDING ** 2;
    }
    return Math.max(0, Math.ceil(this.planned() - behind));
  }

  /** Bytes of content of the next request, or of one that ends with position `to`. */
  bytes(to: number = Number.POSITIVE_INFINITY): number {
    const { items, overlays } = this.state.view;
    const summaries = overlays.reduce((sum, { tokens }) => sum + tokens * BYTES_PER_TOKEN, 0);
    return items.reduce((sum, item) => sum + (item.position > to ? 0 : this.itemBytes(item)), weighFixed(this.state).bytes + summaries);
  }

  /** Bytes of an item as the view shows it. */
  itemBytes(item: ItemMeta): number {
    const less = this.#reduced.get(item.position);
    const inline = less === undefined || less.how === "shortened" ? inlineBytes(item, this.model) : 0;
    return (less ? reducedBytes(item, less) : wholeBytes(item)) + inline + FRAME_BYTES;
  }

  /** Bytes that a result weighs less when it is shortened. */
  freedBytes(result: ItemMeta, shortened: Reduction): number {
    return this.itemBytes(result) - reducedBytes(result, shortened) - FRAME_BYTES;
  }

  #from(anchor: UsageAnchor | null, extra: number): Measure {
    const { ratio } = this;
    if (!anchor) return withCounted(estimated({ guessed: (this.raw + extra) * ratio }), this.counted);
    const head = this.#addedInFront(anchor);
    const since = this.#addedSince(anchor);
    const added = extra + (since.added > 0 ? since.added + since.uncounted : 0);
    if (added === 0 && head === 0) return { tokens: anchor.input + anchor.output, source: "reported", error_bound: 0 };
    const error = this.errorIn((added + Math.abs(head)) * ratio);
    return { ...estimated({ counted: anchor.input + anchor.output, guessed: (added + head) * ratio, error }), source: "mixed" };
  }

  /** The `chars_4` estimate of the next request, for what no usage was reported for: without frames, unpadded, and off by up to a factor of 2. */
  #byCharacters(anchor: UsageAnchor | null, extra: number): number {
    const { state } = this;
    if (!anchor) return extra + fixedTokens(state) + state.view.rough - this.#saved.total;
    const weigh = (item: ItemMeta): number => (this.isReduced(item) ? this.item(item) : (item.rough ?? item.tokens) - this.#savedOn(item));
    const { added } = this.#addedSince(anchor, weigh);
    return anchor.input + anchor.output + extra + this.#addedInFront(anchor) + added;
  }

  #savedOn({ position }: Pick<ItemMeta, "position">): number {
    return this.#saved.byPosition.get(position) ?? 0;
  }

  /** The provider's count from which the next measure starts. Null: there is none of this model and view. */
  #anchor(ofEpoch = false): UsageAnchor | null {
    const { anchor, view } = this.state;
    const holds = anchor?.holds_in === view.epoch && anchor.model === this.model.id;
    return holds && !(ofEpoch && anchor.epoch !== view.epoch) ? anchor : null;
  }

  #addedInFront(anchor: UsageAnchor): number {
    return fixedTokens(this.state) - anchor.fixed;
  }

  /**
   * Raw tokens of what the view holds beyond the provider's count. `added`: newer items, and placeholders for missing results. `uncounted`:
   * what the reply's count left out, which is sent once something follows the reply.
   */
  #addedSince(anchor: UsageAnchor, weigh = (item: ItemMeta): number => this.item(item)): { added: number; uncounted: number } {
    const { items } = this.state.view;
    const answered = new Set<string | undefined>();
    let added = 0;
    let uncounted = 0;
    for (let index = items.length - 1; index >= 0; index--) {
      const item = items[index];
      if (!item || item.position <= anchor.up_to) break;
      if (item.position > anchor.reply_to) added += weigh(item);
      else uncounted += countUncounted(item);
      if (item.kind === "tool_result") answered.add(item.tool?.execution);
      else if (item.kind === "tool_call" && !answered.has(item.tool?.execution)) added += NO_RESULT_TOKENS;
    }
    return { added, uncounted };
  }
}

const reducedItems = new WeakMap<readonly Reduced[], ReadonlyMap<number, Reduced>>();

/** Caches the map, because lists of reduced items are immutable and most views of a session share one. */
function byPosition(reduced: readonly Reduced[]): ReadonlyMap<number, Reduced> {
  const known = reducedItems.get(reduced) ?? new Map(reduced.map((entry) => [entry.position, entry]));
  reducedItems.set(reduced, known);
  return known;
}

/** Arguments that are not JSON are quoted twice by wire formats that accept only objects. */
const wholeBytes = ({ kind, bytes }: ItemMeta): number => (kind === "tool_call" ? 2 * bytes : bytes);

/** Bytes of the text of which only some tokens are shown. */
const reducedBytes = (item: ItemMeta, { tokens }: Reduction): number => Math.min(wholeBytes(item), tokens * BYTES_PER_TOKEN);

/** Tokens that the provider's count of a reply leaves out and the next request sends: the frame of each item, and the ids of calls. */
const countUncounted = ({ tool }: ItemMeta): number => MESSAGE_OVERHEAD_TOKENS + (tool ? estimateTokens(tool.call_id) : 0);

function withCounted({ tokens, error_bound, source }: Measure, off: Counted): Measure {
  if (off.padded === 0) return { tokens, error_bound, source };
  const less = Math.floor(off.tokens);
  return { tokens: tokens - less, error_bound: Math.max(0, error_bound - Math.floor(off.padded) + less), source: "mixed" };
}

interface Guess {
  readonly guessed: number;
  readonly counted?: number;
  /** In tokens. */
  readonly error?: number;
}

/** `counted` tokens plus `guessed` ones, which may be negative. */
const estimated = ({ guessed, counted = 0, error = Math.abs(guessed) * (PADDING - 1) }: Guess): Measure => ({
  tokens: Math.max(0, Math.ceil(counted + guessed)),
  source: "estimated",
  error_bound: Math.ceil(error) + LEAST_ERROR_TOKENS,
});

/** The size of a text or a request that is only estimated, with the same bound as the estimated part of a request. */
export const toEstimate = (tokens: number): Measure => estimated({ guessed: tokens });

/** The upper bound of a measure. */
export const toUpperBound = ({ tokens, error_bound }: Measure): number => tokens + error_bound;

/** `measured` less `gain` estimated tokens. */
export const measureWithout = ({ tokens, source, error_bound }: Measure, gain: number): Measure => ({
  tokens: Math.max(0, Math.ceil(tokens - gain)),
  source: source === "reported" ? "mixed" : source,
  error_bound: error_bound + Math.ceil(Math.abs(gain) * (PADDING - 1)),
});
