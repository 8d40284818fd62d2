/** The results of a run. Every call and compaction is entered once, and the figures are computed at the end. */
import type { Prices } from "../../../src/context/economy";
import type { CompactPlan } from "../../../src/context/plan";
import type { TokenCounts } from "../../../src/contract/evaluation";
import { FIRST_BRANCH } from "../../../src/domain/branch";
import type { CompactionTrigger } from "../../../src/domain/compaction-events";
import type { SessionState } from "../../../src/domain/state";
import { costOfReading, NO_TOKENS, PRICES, plus, relativeCost } from "../../../src/evaluate/costs";
import { findRepeatedIdentifiers, identifiersIn, type RepeatedIdentifiers } from "../../../src/evaluate/identifiers";
import { verbatimShare } from "../../../src/evaluate/measures";
import type { PlanResult } from "../../../src/evaluate/plan-result";
import { type Segment, type Segments, sumTokens } from "../../../src/evaluate/segments";
import { memoize } from "../../../src/lib/memoize";
import type { RecordedItem } from "./session";

/** The newest history that is looked at for verbatim words, in tokens (docs/policy-figures.md). */
const LAST_TOKENS = 8_000;
const WINDOW_SHARE = 4;

/** The part of a view that the figures use. */
export type ShownView = Pick<SessionState["view"], "epoch" | "items" | "reduced">;

export interface Called {
  readonly record: readonly RecordedItem[];
  readonly view: ShownView;
  readonly request: readonly Segment[];
  readonly reply: string;
  readonly malformed: string | null;
  /** True tokens of the request. */
  readonly input: number;
  /** Null when the provider refused the request as too long. */
  readonly usage: TokenCounts | null;
}

export interface Figures {
  readonly turns: number;
  readonly calls: number;
  /** Requests whose true tokens exceed the limit. Each ends its turn. */
  readonly overflows: number;
  /** Turns that the session refused to send, because nothing made room. */
  readonly refused: number;
  readonly malformed: readonly string[];
  /** Completed summaries. */
  readonly compactions: number;
  /** Summariser calls. Each part of a source that is read in parts is one call. */
  readonly summary_calls: number;
  /** Attempts at a summary that failed. */
  readonly summary_failures: number;
  /** Changes of the view that removed messages without a summary. */
  readonly drops_without_summary: number;
  /** All changes of the view, including those without a summary. */
  readonly epochs: number;
  /** Requests that do not begin with the complete previous request of the same epoch. */
  readonly breaks: number;
  readonly peak: number;
  readonly cost: number;
  /** The part of `cost` that summaries caused. */
  readonly summary_cost: number;
  readonly cached_share: number;
  readonly verbatim_8k: number;
  readonly verbatim_quarter: number;
  readonly identifiers: RepeatedIdentifiers;
  readonly triggers: Readonly<Partial<Record<CompactionTrigger, number>>>;
  /** True tokens of every request, in order. */
  readonly tokens: readonly number[];
  /** Cumulative cost up to each of these calls, in the unit of the prices. */
  readonly spent: readonly number[];
  /** Indexes of the requests that are the first after a change of the view. */
  readonly changes: readonly number[];
  /** Tokens of the messages in each of those requests. */
  readonly kept: readonly number[];
}

export class Ledger {
  turns = 0;
  refused = 0;
  readonly #window: number;
  readonly #segments: Segments;
  readonly #prices: Prices;
  readonly #tokens: number[] = [];
  readonly #spent: number[] = [];
  readonly #changes: number[] = [];
  readonly #kept: number[] = [];
  readonly #malformed: string[] = [];
  readonly #triggers: Partial<Record<CompactionTrigger, number>> = {};
  readonly #known = new Set<string>();
  readonly #identifiers = memoize(identifiersIn);
  #seen = 0;
  #overflows = 0;
  #compactions = 0;
  #epochs = 0;
  #breaks = 0;
  #summaryCalls = 0;
  #summaryFailures = 0;
  #drops = 0;
  #recall: RepeatedIdentifiers = { needed: 0, lost: 0 };
  #turnSpent: TokenCounts = NO_TOKENS;
  #summarySpent: TokenCounts = NO_TOKENS;
  #last8k = 0;
  #lastQuarter = 0;
  #previous: { readonly request: readonly Segment[]; readonly epoch: number } | null = null;

  constructor(by: { readonly window: number; readonly segments: Segments; readonly prices?: Prices }) {
    this.#window = by.window;
    this.#prices = by.prices ?? PRICES;
    this.#segments = by.segments;
  }

  called(call: Called): void {
    const { record, view, request, usage, input } = call;
    this.#tokens.push(input);
    if (call.malformed) this.#malformed.push(call.malformed);
    this.#last8k += verbatimShare(record, { view, branch: FIRST_BRANCH }, LAST_TOKENS);
    this.#lastQuarter += verbatimShare(record, { view, branch: FIRST_BRANCH }, Math.floor(this.#window / WINDOW_SHARE));
    this.#remember(call);
    const before = this.#previous;
    if (before?.epoch === view.epoch && this.#segments.commonPrefix(before.request, request) < sumTokens(before.request)) this.#breaks += 1;
    if (before && before.epoch !== view.epoch) this.#changed(call);
    this.#previous = { request, epoch: view.epoch };
    if (usage) this.#turnSpent = plus(this.#turnSpent, usage);
    else this.#overflows += 1;
    this.#spent.push(this.#cost());
  }

  /** The tokens of a user's new message and of the reply, which later requests contain. */
  #remember({ record, request, reply }: Called): void {
    const shown = request.map(({ text }) => text);
    const asked = record.at(-1);
    const isUser = asked?.meta.kind === "user";
    this.#learn(isUser ? record.slice(this.#seen, -1) : record.slice(this.#seen));
    if (isUser)
      this.#count(findRepeatedIdentifiers({ earlier: this.#known, shown: shown.slice(0, -1), said: asked.text }, this.#identifiers));
    this.#learn(isUser ? [asked] : []);
    this.#seen = record.length;
    this.#count(findRepeatedIdentifiers({ earlier: this.#known, shown, said: reply }, this.#identifiers));
  }

  #learn(items: readonly RecordedItem[]): void {
    for (const { text } of items) for (const word of this.#identifiers(text)) this.#known.add(word);
  }

  #count({ needed, lost }: RepeatedIdentifiers): void {
    this.#recall = { needed: this.#recall.needed + needed, lost: this.#recall.lost + lost };
  }

  #changed({ view, record }: Called): void {
    this.#changes.push(this.#tokens.length - 1);
    this.#kept.push(view.items.reduce((sum, { position }) => sum + (record[position - 1]?.tokens ?? 0), 0));
  }

  #cost(): number {
    return relativeCost(this.#turnSpent, this.#prices) + costOfReading(this.#summarySpent, this.#prices);
  }

  compacted({ trigger }: Pick<CompactPlan, "trigger">, { spent, calls, failures, change }: PlanResult): void {
    this.#summarySpent = plus(this.#summarySpent, spent);
    this.#summaryCalls += calls;
    this.#summaryFailures += failures;
    if (change === "none") return;
    this.#epochs += 1;
    if (change === "summary") this.#compactions += 1;
    if (change === "drop") this.#drops += 1;
    this.#triggers[trigger] = (this.#triggers[trigger] ?? 0) + 1;
  }

  figures(): Figures {
    const calls = this.#tokens.length;
    return {
      turns: this.turns,
      calls,
      overflows: this.#overflows,
      refused: this.refused,
      malformed: this.#malformed,
      compactions: this.#compactions,
      summary_calls: this.#summaryCalls,
      summary_failures: this.#summaryFailures,
      drops_without_summary: this.#drops,
      epochs: this.#epochs,
      breaks: this.#breaks,
      peak: Math.max(0, ...this.#tokens),
      cost: this.#cost(),
      summary_cost: costOfReading(this.#summarySpent, this.#prices),
      cached_share: this.#turnSpent.cached / Math.max(1, this.#turnSpent.input),
      verbatim_8k: this.#last8k / Math.max(1, calls),
      verbatim_quarter: this.#lastQuarter / Math.max(1, calls),
      identifiers: this.#recall,
      triggers: this.#triggers,
      tokens: this.#tokens,
      spent: this.#spent,
      changes: this.#changes,
      kept: this.#kept,
    };
  }
}
