/**
 * The cheapest schedule of summaries for a conversation whose future is known, by dynamic programming from the last call
 * to the first.
 *
 * Why its cost is a bound for every policy that changes its view by summaries alone and keeps as much at each of them:
 * - A policy's run is a sequence of cuts: before which call, and at which group. All of them that fit and keep `keep` are tried.
 * - State: the call, the cut, the tokens of the summary in front of it. What a call costs depends on nothing else.
 * - Every summary takes the place of the one before it (a fold). A chain of several is never cheaper here: a summary is as
 *   long as its share of what is new in both, the longer view is paid for at each call, and the reading of the old chain
 *   costs the same from the cache. (As a transcript a fold reads it as new; see below.)
 * - Where the policy has a choice, the cheaper is taken: the form of the summary call, by its true price, and from the
 *   cache whatever the cut; a transcript in one part; the question that is being answered may be cut off; all that opens a
 *   summary's message is in the cache; no rebuilding from the log. A fold as a transcript is charged without the chain,
 *   as an appended one would be.
 * - The cache holds a prefix to the token (providers: in steps), which only makes calls cheaper.
 * - Cuts are tried where the policy may make them: one that looks after each response cuts inside a turn only for a request
 *   that its estimate says will not fit, and that counts at most a quarter too much.
 * - `grain` rounds a summary's length down where it is carried: a shorter view is never dearer.
 */
import type { Prices } from "../../../src/context/economy";
import { Spans } from "./spans.ts";
import type { Tape } from "./tape.ts";

export interface Rules {
  readonly prices: Prices;
  /** Maximum tokens of a request. */
  readonly limit: number;
  /**
   * Cuts are made between turns. Inside a turn they are made only when the request would fill this share of the limit.
   * 0: before every call.
   */
  readonly insideAbove: number;
  /** Minimum tokens of messages, without frames, that stay verbatim after each summary. */
  readonly keep: number;
  /** The length of a summary as a share of the text it read, at most the cap. */
  readonly share: number;
  readonly cap: number;
  /** Tokens of a summary call's instruction, as a message. */
  readonly instruction: number;
  /** Tokens of the newest history whose verbatim share is counted, and the charge for a call without any of it. */
  readonly last: number;
  readonly penalty: number;
  readonly grain: number;
}

export interface Cut {
  /** The call before which the cut is made. */
  readonly call: number;
  /** The first group that stays. */
  readonly group: number;
  readonly summary: number;
  readonly mode: "same_prefix" | "transcript";
}

export interface Schedule {
  /** The cost, including the charges for missing verbatim text. */
  readonly value: number;
  readonly cuts: readonly Cut[];
}

/** The cost of changing to the best cut, by the mode of the summary call, without the part that depends on the replaced summary. */
interface Switch {
  readonly cost: Record<Cut["mode"], number>;
  readonly to: Record<Cut["mode"], number>;
}

/** The tokens and the cost of an epoch's first call, by its cut, and the cost of each token of its summary. */
interface Entry {
  readonly weight: Float64Array;
  readonly cost: Float64Array;
  readonly perToken: number;
}

interface Entering {
  readonly entry: Entry;
  readonly least: number;
  readonly most: number;
  /** The cheapest ends from before the next call. */
  readonly later: Float64Array;
}

export class Oracle {
  readonly #spans: Spans;
  readonly #tape: Tape;
  readonly #rules: Rules;
  readonly #buckets: number;
  /** The best changes, by call and cut. */
  readonly #switches: Switch[][] = [];

  constructor(tape: Tape, rules: Rules) {
    this.#tape = tape;
    this.#rules = rules;
    this.#spans = new Spans(tape);
    this.#buckets = Math.floor(rules.cap / rules.grain) + 1;
  }

  solve(): Schedule {
    const { calls, groups } = this.#tape;
    const width = this.#buckets;
    let later = new Float64Array((groups.length + 1) * width);
    let now = new Float64Array((groups.length + 1) * width);
    for (let call = calls.length - 1; call >= 0; call--) {
      now.fill(Number.POSITIVE_INFINITY);
      this.#before(call, now, later);
      [later, now] = [now, later];
    }
    return { value: later[0] ?? Number.POSITIVE_INFINITY, cuts: this.#follow() };
  }

  /** Fills `now` with the cheapest end from before this call, for every possible cut and summary. */
  #before(call: number, now: Float64Array, later: Float64Array): void {
    const { least, most } = this.#cuts(call);
    const entry = this.#entryCosts(call, { least, most });
    const found: Switch[] = [];
    this.#switches[call] = found;
    // A cut that fitted before may no longer fit. Then it can only be left.
    const first = call === 0 ? 0 : this.#cuts(call - 1).least;
    const open = first > 0 ? [0, ...range(first, most)] : range(0, most);
    for (const cut of open) {
      const change = call === 0 ? NO_SWITCH : this.#bestSwitch(cut, { entry, least, most, later });
      found[cut] = change;
      this.#atCut({ call, cut, change }, now, later);
    }
  }

  #atCut(
    { call, cut, change }: { readonly call: number; readonly cut: number; readonly change: Switch },
    now: Float64Array,
    later: Float64Array,
  ): void {
    const { grain, prices, limit } = this.#rules;
    const width = this.#buckets;
    const stay = this.#readCost(call, cut);
    const held = this.#holding(call, 1, cut);
    const weight = this.#weight(call, cut, 0);
    const prefix = this.#prefix(cut, 0);
    const { same_prefix, transcript } = change.cost;
    for (let bucket = 0; bucket < (cut === 0 ? 1 : width); bucket++) {
      const summary = bucket * grain;
      const at = cut * width + bucket;
      const asIs = weight + summary <= limit ? stay + held * summary + (later[at] ?? 0) : Number.POSITIVE_INFINITY;
      const changed = this.#mayChange(call, weight + summary)
        ? Math.min(same_prefix + prices.cached * (prefix + summary), transcript)
        : asIs;
      now[at] = Math.min(asIs, changed);
    }
  }

  #mayChange = (call: number, weight: number): boolean =>
    this.#tape.calls[call]?.isFirst === true || weight > this.#rules.insideAbove * this.#rules.limit;

  /** The possible cuts of this call's request: it fits with the shortest summary and keeps enough. */
  #cuts(call: number): { readonly least: number; readonly most: number } {
    const groups = this.#tape.calls[call]?.groups ?? 0;
    const { wire } = this.#spans;
    let least = 0;
    while (least < groups && this.#tape.head + this.#spans.between(wire, least, groups) > this.#rules.limit) least++;
    let most = groups;
    while (most > 0 && this.#spans.between(this.#spans.text, most, groups) < this.#rules.keep) most--;
    return { least, most: Math.max(most, 0) };
  }

  #summaryMessage = (cut: number, summary: number): number => (cut === 0 ? 0 : this.#tape.frame + summary);

  #prefix = (cut: number, summary: number): number => this.#tape.head + this.#summaryMessage(cut, summary);

  #weight(call: number, cut: number, summary: number): number {
    return this.#prefix(cut, summary) + this.#spans.between(this.#spans.wire, cut, this.#tape.calls[call]?.groups ?? 0);
  }

  #fits = (call: number, cut: number, summary: number): boolean => this.#weight(call, cut, summary) <= this.#rules.limit;

  /** The cost of the call in a continuing epoch, without its summary. */
  #readCost(call: number, cut: number): number {
    const at = this.#tape.calls[call];
    if (!at) return 0;
    const { cached, cache_write } = this.#rules.prices;
    const fresh =
      call === 0 ? Number.POSITIVE_INFINITY : this.#spans.between(this.#spans.wire, this.#tape.calls[call - 1]?.groups ?? 0, at.groups);
    const tokens = this.#weight(call, cut, 0);
    const known = at.cold ? 0 : Math.max(0, tokens - fresh);
    return cached * known + cache_write * (tokens - known) + this.#always(call, cut);
  }

  /** The additional cost of the summary in that call. */
  #holding(call: number, summary: number, cut: number): number {
    const { cached, cache_write } = this.#rules.prices;
    return cut === 0 ? 0 : summary * (this.#tape.calls[call]?.cold ? cache_write : cached);
  }

  #always(call: number, cut: number): number {
    const { prices, penalty, last } = this.#rules;
    const reply = prices.output * (this.#tape.calls[call]?.reply ?? 0);
    return penalty === 0 ? reply : reply + penalty * (1 - this.#spans.verbatim(call, cut, last));
  }

  #bestSwitch(cut: number, { entry, least, most, later }: Entering): Switch {
    const { cached, input, output } = this.#rules.prices;
    const { instruction, grain, limit, share, cap } = this.#rules;
    const { wire, transcript } = this.#spans;
    const width = this.#buckets;
    const [wireBefore, readBefore] = [wire[cut] ?? 0, transcript[cut] ?? 0];
    let [same, apart] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    let [toSame, toApart] = [cut, cut];
    for (let to = Math.max(cut + 1, least); to <= most; to++) {
      const read = (transcript[to] ?? 0) - readBefore;
      const summary = Math.max(1, Math.min(cap, Math.round(share * read)));
      if ((entry.weight[to] ?? 0) + summary > limit) continue;
      const after = (entry.cost[to] ?? 0) + entry.perToken * summary + (later[to * width + Math.floor(summary / grain)] ?? 0);
      const written = after + input * instruction + output * summary;
      const [inPrefix, asTranscript] = [written + cached * ((wire[to] ?? 0) - wireBefore), written + input * read];
      if (inPrefix < same) [same, toSame] = [inPrefix, to];
      if (asTranscript < apart) [apart, toApart] = [asTranscript, to];
    }
    return { cost: { same_prefix: same, transcript: apart }, to: { same_prefix: toSame, transcript: toApart } };
  }

  /** The first call of an epoch for each cut. Of its request, the cache holds the head and the opening of the summary's message. */
  #entryCosts(call: number, { least, most }: { readonly least: number; readonly most: number }): Entry {
    const { cached, cache_write } = this.#rules.prices;
    const known = this.#tape.calls[call]?.cold ? 0 : this.#tape.head + this.#tape.opening;
    const weight = new Float64Array(most + 1);
    const cost = new Float64Array(most + 1);
    for (let to = Math.max(1, least); to <= most; to++) {
      weight[to] = this.#weight(call, to, 0);
      cost[to] = cached * known + cache_write * ((weight[to] ?? 0) - known) + this.#always(call, to);
    }
    return { weight, cost, perToken: cache_write };
  }

  countSummary(from: number, to: number): number {
    const { share, cap } = this.#rules;
    return Math.max(1, Math.min(cap, Math.round(share * this.#spans.between(this.#spans.transcript, from, to))));
  }

  /** The cuts of the best run: for each epoch, the call before which it ends. */
  #follow(): Cut[] {
    const cuts: Cut[] = [];
    let here: { call: number; cut: number; summary: number } | null = { call: 0, cut: 0, summary: 0 };
    while (here) {
      const next: Cut | null = this.#epochEnd(here, cuts.length === 0);
      if (next) cuts.push(next);
      here = next ? { call: next.call, cut: next.group, summary: next.summary } : null;
    }
    return cuts;
  }

  #epochEnd(from: { readonly call: number; readonly cut: number; readonly summary: number }, isFirst: boolean): Cut | null {
    const { cut, summary } = from;
    let held = isFirst ? this.#readCost(0, 0) : 0;
    let best: { cost: number; end: Cut | null } = { cost: Number.POSITIVE_INFINITY, end: null };
    for (let call = from.call + 1; call < this.#tape.calls.length; call++) {
      const change = this.#switches[call]?.[cut];
      if (!change) return best.end;
      const { cost, mode } = switchCost(change, this.#prefix(cut, summary), this.#rules.prices);
      const group = change.to[mode];
      if (held + cost < best.cost && this.#mayChange(call, this.#weight(call, cut, summary)))
        best = { cost: held + cost, end: { call, group, summary: this.countSummary(cut, group), mode } };
      if (!this.#fits(call, cut, summary)) return best.end;
      held += this.#readCost(call, cut) + this.#holding(call, summary, cut);
    }
    return held < best.cost ? null : best.end;
  }
}

const NO_SWITCH: Switch = {
  cost: { same_prefix: Number.POSITIVE_INFINITY, transcript: Number.POSITIVE_INFINITY },
  to: { same_prefix: 0, transcript: 0 },
};

/** `prefix`: the part of the turn's own request before the text that is read. */
function switchCost({ cost }: Switch, prefix: number, prices: Prices): { readonly cost: number; readonly mode: Cut["mode"] } {
  const same = cost.same_prefix + prices.cached * prefix;
  return same < cost.transcript ? { cost: same, mode: "same_prefix" } : { cost: cost.transcript, mode: "transcript" };
}

const range = (from: number, to: number): number[] => Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at);
