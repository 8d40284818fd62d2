/** Carries a plan out on a played session: real leases and commits, and a summary of which only the length is real. */
import type { ModelLimits } from "../context/budget";
import { limitOf } from "../context/budget";
import { INSTRUCTION_TOKENS } from "../context/economy";
import { draftFromRungs, draftFromSummary } from "../context/epoch-draft";
import { planChosenNote } from "../context/fallback-note";
import type { Plan, SummarizeRung } from "../context/plan";
import type { Policy } from "../context/policy";
import { FIRST_SUMMARY_SHARE, summaryCap } from "../context/proposal";
import type { SummaryPlan } from "../domain/compaction-events";
import type { ItemMeta } from "../domain/message";
import { NOTHING, plus, type Spent } from "./costs";
import type { Played } from "./played";

type Compaction = Extract<Plan, { kind: "compact" }>;

export interface Workshop {
  readonly session: Played;
  /** What it costs to read the request up to a position, with the instruction behind it. */
  readonly readPrefix: (to: number) => Pick<Spent, "input" | "cached">;
  readonly limits: ModelLimits;
  readonly policy: Policy;
  /** A folded summary is as long as its share of the chain and of what is new; else of what is new alone. */
  readonly countsChain: boolean;
}

const LEASE_MS = 60_000;
/** A note's counts, and a few files. */
const NOTE_TOKENS = 80;
/** What it cost. */
export function carryOut(plan: Compaction, shop: Workshop): Spent {
  const { session, limits } = shop;
  const summarize = plan.rungs.find((rung) => rung.rung === "summarize");
  const { trigger, economy } = plan;
  const input = {
    limits,
    trigger,
    economy,
    now: session.now,
    newOverlay: () => session.newId("ovl"),
    read: (item: ItemMeta) => session.read(item),
  };
  const compaction = session.newId("cmp");
  if (!summarize) {
    const change = draftFromRungs(plan.rungs, { ...input, state: session.state, summarizer: null });
    session.execute({ at: session.now, type: "ChangeEpoch", compaction, trigger, change });
    return NOTHING;
  }
  const also = plan.rungs.filter((rung) => rung !== summarize);
  if (shop.policy.summary.form === "note") {
    const overlay = session.newId("ovl");
    const note = planChosenNote(toSummaryPlan(summarize), session.state);
    const summary = session.keepSummary(overlay, { tokens: NOTE_TOKENS, range: summarize.range });
    const drafted = { summary, plan: { ...note.plan, mode: null }, overlay, also };
    const change = draftFromSummary(drafted, { ...input, state: session.state, summarizer: null });
    session.execute({ at: session.now, type: "ChangeEpoch", compaction, trigger, change });
    return NOTHING;
  }
  session.execute({ at: session.now, type: "RequestCompaction", compaction, trigger, options: null });
  const leased = { ...toSummaryPlan(summarize), base_epoch: session.state.view.epoch };
  const expiresAt = session.now + LEASE_MS;
  session.execute({ at: session.now, type: "LeaseCompaction", compaction, plan: leased, expiresAt, attemptLimit: 2, inline: null });
  const { lease } = session.state.compaction;
  if (!lease) throw new Error("a lease was not given");
  const { length, spent } = summarizeFor(summarize, shop);
  const overlay = session.newId("ovl");
  const summary = session.keepSummary(overlay, { tokens: length, range: summarize.range });
  const usage = { ...spent, reasoning: 0 };
  const change = draftFromSummary(
    { summary, plan: leased, overlay, also },
    { ...input, state: session.state, summarizer: { model: limits.model, usage, ms: 0, cost: null, attempts: 1 } },
  );
  const { turn } = session.state;
  const inside = turn ? { turn: turn.id, incarnation: turn.incarnation } : null;
  session.execute({ at: session.now, type: "RecordCompaction", compaction, token: lease.token, change, call: null, inside });
  return spent;
}

const toSummaryPlan = ({ range, source, replaces, keeps, merge, generation, split, mode }: SummarizeRung): SummaryPlan => ({
  range,
  source,
  replaces,
  keeps,
  merge,
  generation,
  split,
  mode,
});

/** As many tokens as a summary of what it read would have, by the share of docs/policy.md, and what the call costs. */
function summarizeFor(rung: SummarizeRung, shop: Workshop): { length: number; spent: Spent } {
  const { session, limits, policy } = shop;
  const cap = summaryCap(limits, policy);
  const source = [...reread(rung, shop), ...session.transcript(rung.source)];
  const read = source.reduce((sum, tokens) => sum + tokens, 0);
  const chain = rung.merge ? session.chainTokens() : 0;
  const guessed = Math.max(
    1,
    Math.min(cap, Math.round((session.summaryShare ?? FIRST_SUMMARY_SHARE) * (read + (shop.countsChain ? chain : 0)))),
  );
  const length = session.recordedLength(rung.range) ?? guessed;
  if (rung.mode === "transcript") return { length, spent: transcriptCost(source, { chain, length, room: roomOf(limits, cap) }) };
  return { length, spent: { ...shop.readPrefix(rung.range.to), output: length } };
}

/** What is read of the record again, as production does (`lease-compaction`): back from the newest summary, a page at a time. */
function reread({ range, reread: most }: SummarizeRung, { session }: Workshop): number[] {
  const read: number[] = [];
  let left = most;
  let to = session.state.view.overlays.findLast(({ kind }) => kind === "summary")?.to ?? 0;
  while (left > 0 && to >= range.from) {
    const from = Math.max(range.from, to - REREAD_PAGE + 1);
    for (const tokens of session.transcript({ from, to }).toReversed()) {
      left -= tokens;
      if (left < 0) break;
      read.unshift(tokens);
    }
    to = from - 1;
  }
  return read;
}

const REREAD_PAGE = 64;

const roomOf = (limits: ModelLimits, cap: number): number => (limitOf(limits) ?? Number.POSITIVE_INFINITY) - INSTRUCTION_TOKENS - 2 * cap;

/** A source beyond the summariser's window is folded: each part is read with the summary so far. */
export function transcriptCost(
  source: readonly number[],
  by: { readonly chain: number; readonly length: number; readonly room: number },
): Spent {
  let spent = NOTHING;
  let before = by.chain;
  let part = 0;
  const call = () => plus(spent, { input: INSTRUCTION_TOKENS + before + part, cached: 0, output: by.length });
  for (const tokens of source) {
    if (part > 0 && part + tokens > by.room) {
      spent = call();
      before = by.length;
      part = 0;
    }
    part += tokens;
  }
  return call();
}
